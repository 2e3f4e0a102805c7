import { describe, expect, it } from 'vitest'
import { findBarriers, hasBrowser, MARKUP, openPage, PROJECT, recordCalls } from '../browser.ts'

describe.skipIf(!hasBrowser)('rules and agreement of a queue on the page', () => {
  it('are set by a form, and kept where the form does not show them', async () => {
    const { page, url, key, complaints, get, put, post } = await openPage()
    await page.goto(`${url}/${PROJECT}/weave/queues#key=${key}`)
    await page.getByRole('form', { name: 'New queue' }).getByLabel('Name').fill(MARKUP)
    await page.getByText('Add queue').click()
    await page.getByRole('link', { name: MARKUP }).click()
    await page.getByText('Nothing is in this queue yet.').waitFor()
    await page.getByText('Rules: none').click()
    const form = page.getByRole('form', { name: 'Rules' })
    await form.getByLabel('Thumbs down').check()
    await form.getByLabel('Scores').fill('rating 3')
    await form.getByText('Save the rules').click()
    await form.getByText('Scores are lines such as').waitFor()
    await form.getByLabel('Scores').fill('wandb.runnable.helpful < 0.4\nrating > 8')
    await form.getByLabel('Evaluators disagree').check()
    await form.getByLabel('Random share').fill('0.01')
    await form.getByText('Save the rules').dblclick()
    await page.getByText('Rules', { exact: true }).waitFor()
    expect(await findBarriers(page)).toEqual([])
    const { text } = await post('/annotation_queues/query', { project_id: PROJECT })
    const { id, rules } = JSON.parse(text)
    expect(rules).toMatchObject({
      filter: { trace_roots_only: true },
      thumbs_down: true,
      random: 0.01,
      scores: [
        { feedback_type: 'wandb.runnable.helpful', below: 0.4 },
        { feedback_type: 'rating', above: 8 },
      ],
      disagreement: { difference: 0.5 },
      max_per_day: 100,
    })
    const filter = { op_names: ['answer'], trace_roots_only: true }
    await put(`/annotation_queues/${id}`, { project_id: PROJECT, rules: { ...rules, filter } })
    await page.reload()
    await page.getByText('Rules', { exact: true }).click()
    await form.getByLabel('Thumbs down').uncheck()
    await form.getByLabel('Root calls only').uncheck()
    await form.getByText('Save the rules').click()
    const read = async () =>
      (await get(`/annotation_queues/${id}?project_id=${encodeURIComponent(PROJECT)}`)).body.queue
    await expect.poll(async () => (await read()).rules.thumbs_down).toBe(false)
    expect((await read()).rules).toMatchObject({ filter: { op_names: ['answer'] }, random: 0.01 })
    expect((await read()).rules.filter.trace_roots_only).toBeUndefined()
    expect(await page.evaluate('window.wasRun')).toBeUndefined()
    expect(complaints).toEqual([])
  })

  it('agreement shows kappa, the table, and the calls that were rated differently', async () => {
    const test = await openPage()
    const { page, url, key, complaints, post } = test
    const ids = ['a', 'b', 'c', 'd']
    await recordCalls(
      test,
      ids.map((id) => ({ id })),
    )
    const named = { project_id: PROJECT, name: 'q', scorer_refs: [] }
    const { body: queue } = await post('/annotation_queues', named)
    const items = `/annotation_queues/${queue.id}/items`
    await post(items, { project_id: PROJECT, call_ids: ids, display_fields: [] })
    const { body: listed } = await post(`${items}/query`, { project_id: PROJECT })
    for (const [at, { id, call_id }] of listed.items.entries()) {
      const about = { project_id: PROJECT, weave_ref: `weave:///${PROJECT}/call/${call_id}` }
      const emoji = at === 0 ? '👎' : '👍'
      await post('/traces/feedback/create', {
        ...about,
        feedback_type: 'wandb.reaction.1',
        payload: { emoji },
        queue_id: queue.id,
      })
      await post('/traces/feedback/create', {
        ...about,
        feedback_type: 'wandb.runnable.helpful',
        runnable_ref: `weave:///${PROJECT}/object/helpful:v1`,
        payload: { output: { score: at < 2 ? 0.1 : 0.9 } },
      })
      const done = { project_id: PROJECT, annotation_state: 'completed' }
      if (at < 3) await post(`${items}/${id}/progress`, done)
      else await post(`${items}/${id}/progress`, { ...done, annotation_state: 'in_progress' })
    }
    await page.goto(`${url}/${PROJECT}/weave/queues/${queue.id}#key=${key}`)
    await page.getByText('Agreement', { exact: true }).click()
    const row = page.locator('[aria-label=Agreement] tbody tr')
    await expect.poll(() => row.count()).toBe(1)
    expect(await row.textContent()).toMatch(/people and helpful, thumbs\s*4\s*75 %\s*0.50/)
    await page.getByText('table and differences').click()
    const table = page.locator('.confusion tbody tr')
    expect(await table.allTextContents()).toEqual(['fail10', 'pass12'])
    const differing = page.locator('[aria-label="Rated differently"] a')
    expect(await differing.allTextContents()).toEqual([listed.items[1].call_id])
    expect(await findBarriers(page)).toEqual([])
    expect(complaints).toEqual([])
  })
})
