import { describe, expect, it } from 'vitest'
import { findBarriers, hasBrowser, MARKUP, openPage, PROJECT, recordCalls } from '../browser.ts'

describe.skipIf(!hasBrowser)('queues and feedback in a browser', () => {
  it('puts the calls of a filter into a queue and rates them by keyboard', async () => {
    const test = await openPage()
    const { page, url, key, post, complaints } = test
    await recordCalls(test, [
      ...['a', 'b', 'c'].map((id) => ({ id, op_name: 'wanted', inputs: { question: MARKUP } })),
      { id: 'd', op_name: 'other' },
    ])
    await page.goto(`${url}/acme/demo/weave/calls?op=wanted#key=${key}`)
    await page.getByText('Add to a queue').click()
    await page.getByLabel('Its name').fill(MARKUP)
    await page.getByText('Add', { exact: true }).click()
    await page.getByText('3 calls added').waitFor()
    await page.getByText('rate them').click()
    await page.getByText('0 of 3 done').waitFor()
    await page.locator('.rate').waitFor()
    expect(await findBarriers(page)).toEqual([])
    await page.keyboard.press('Enter')
    await page.getByText('Nothing is given yet.').waitFor()
    await page.keyboard.press('-')
    await page.keyboard.press('+')
    await page.keyboard.press('4')
    await expect.poll(() => page.getByText('Nothing is given yet.').count()).toBe(0)
    const name = page.getByLabel('Name of the number')
    await name.fill('quality')
    await name.press('Escape')
    await page.keyboard.press('n')
    await page.keyboard.type('Right, s and n too.')
    await page.keyboard.press('Escape')
    await page.keyboard.down('Enter')
    await page.getByText('1 of 3 done').waitFor()
    await page.locator('.rate').waitFor()
    // A held key repeats.
    await page.keyboard.down('Enter')
    await page.keyboard.up('Enter')
    await page.keyboard.press('s')
    await page.getByText('2 of 3 done, 1 of them skipped').waitFor()
    await page.locator('.rate').waitFor()
    await expect.poll(() => name.inputValue()).toBe('quality')
    await page.keyboard.press('+')
    await page.keyboard.press('Enter')
    await page.getByText('Nothing is left to rate').waitFor()
    const { body } = await post('/feedback/query', {
      project_id: PROJECT,
      fields: ['feedback_type', 'payload', 'queue_id'],
      sort_by: [{ field: 'created_at', direction: 'asc' }],
    })
    const queues = await post('/annotation_queues/query', { project_id: PROJECT })
    const { id: queue_id } = JSON.parse(queues.text)
    const items = await post(`/annotation_queues/${queue_id}/items/query`, {
      project_id: PROJECT,
      filter: { annotation_states: ['skipped'] },
    })
    expect(items.body.items).toHaveLength(1)
    const reaction = { feedback_type: 'wandb.reaction.1', payload: { emoji: '👍' }, queue_id }
    expect(body.result).toMatchObject([
      reaction,
      { feedback_type: 'quality', payload: { value: 4 }, queue_id },
      { feedback_type: 'wandb.note.1', payload: { note: 'Right, s and n too.' }, queue_id },
      reaction,
    ])
    await page.goto(`${url}/acme/demo/weave/queues`)
    await page.locator('progress').waitFor()
    expect(await findBarriers(page)).toEqual([])
    page.on('dialog', (dialog) => dialog.accept())
    await page.getByRole('button', { name: 'delete' }).click()
    await page.getByText('No queues yet.').waitFor()
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Traces')
    expect(await page.evaluate('window.wasRun')).toBeUndefined()
    expect(complaints).toEqual([])
  })

  it('leaves to others what they have claimed, and tells a key that may not rate', async () => {
    const test = await openPage()
    const { page, url, key, post, deps } = test
    await recordCalls(test, [{ id: 'a' }, { id: 'b' }])
    const { body: queue } = await post('/annotation_queues', {
      project_id: PROJECT,
      name: 'q',
      scorer_refs: [],
    })
    const path = `/annotation_queues/${queue.id}/items`
    await post(path, { project_id: PROJECT, call_ids: ['a', 'b'], display_fields: ['inputs.x'] })
    const { body: listed } = await post(`${path}/query`, { project_id: PROJECT })
    const rights = { scopes: ['traces:write'] as const, projects: ['*'] }
    const other = await deps.keys.createKey({ svc_user_id: 'u-2', svc_username: 'Two', ...rights })
    const claim = { project_id: PROJECT, annotation_state: 'in_progress' }
    await post(`${path}/${listed.items[0].id}/progress`, claim, { key: other.secret })
    await page.goto(`${url}/acme/demo/weave/queues/${queue.id}#key=${key}`)
    await page.locator(`.rate a[href$="/${listed.items[1].call_id}"]`).waitFor()
    await page.getByText('inputs.x').waitFor()
    await page.route('**/items/query', (route) => route.abort())
    await page.keyboard.press('s')
    await page.getByText('The server does not answer.').waitFor()
    // What was rated is not offered a second time.
    await expect.poll(() => page.locator('.rate').count()).toBe(0)
    await page.unroute('**/items/query')
    await page.getByText('Nothing is left to rate').waitFor()
    const reader = await test.createKey({ scopes: ['traces:read'] })
    await page.goto(`${url}/acme/demo/weave/queues/${queue.id}#key=${reader}`)
    await page.reload()
    await page.getByText('lacks traces:write').waitFor()
  })

  it('saves what is left when a part was sent already', async () => {
    const test = await openPage()
    const { page, url, key, post } = test
    await recordCalls(test, [{ id: 'a' }])
    const { body: queue } = await post('/annotation_queues', {
      project_id: PROJECT,
      name: 'q',
      scorer_refs: [],
    })
    const items = { project_id: PROJECT, call_ids: ['a'], display_fields: [] }
    await post(`/annotation_queues/${queue.id}/items`, items)
    await page.goto(`${url}/acme/demo/weave/queues/${queue.id}#key=${key}`)
    await page.locator('.rate').waitFor()
    await page.route('**/progress', (route) => route.abort())
    await page.keyboard.press('4')
    await page.keyboard.press('Enter')
    await page.getByText('The server does not answer.').waitFor()
    await page.unroute('**/progress')
    await page.keyboard.press('Enter')
    await page.getByText('Nothing is left to rate').waitFor()
    const { body } = await post('/feedback/query', { project_id: PROJECT, fields: ['payload'] })
    expect(body.result).toEqual([{ payload: { value: 4 } }])
  })

  it('lists the paths in payloads, and draws a number of them over time', async () => {
    const test = await openPage()
    const { page, url, key, post, complaints } = test
    await recordCalls(test, [{ id: 'a' }])
    const weave_ref = `weave:///${PROJECT}/call/a`
    for (const payload of [
      { value: 4, [MARKUP]: MARKUP },
      { value: 2, deep: { score: 0.5 } },
    ]) {
      const given = { project_id: PROJECT, weave_ref, feedback_type: MARKUP, payload }
      expect((await post('/traces/feedback/create', { ...given, creator: MARKUP })).status).toBe(
        200,
      )
    }
    await page.goto(`${url}/acme/demo/weave/feedback?range=1h#key=${key}`)
    const row = page.locator('tr', { has: page.getByText('deep.score', { exact: true }) })
    await row.getByText('numeric').waitFor()
    await page
      .locator('tr', { has: page.getByText('value', { exact: true }) })
      .getByText('show')
      .click()
    await page.getByText('How often it was given: 2').waitFor()
    await expect.poll(() => page.url()).toContain('path=value')
    const chart = page.getByRole('slider', { name: 'value: average up to 3' })
    await expect.poll(() => chart.count()).toBe(1)
    await page.getByRole('link', { name: 'answer', exact: true }).first().waitFor()
    expect(await findBarriers(page)).toEqual([])
    expect(await page.evaluate('window.wasRun')).toBeUndefined()
    expect(complaints).toEqual([])
  })

  it('lists the paths of older payloads of a type, too', async () => {
    const test = await openPage()
    const { page, url, key, post } = test
    await recordCalls(test, [{ id: 'a' }])
    const weave_ref = `weave:///${PROJECT}/call/a`
    for (const payload of [{ stars: 5, polite: true }, { value: 4 }]) {
      const given = { project_id: PROJECT, weave_ref, feedback_type: 'rating', payload }
      await post('/traces/feedback/create', given)
    }
    await page.goto(`${url}/acme/demo/weave/feedback?range=1h#key=${key}`)
    const fields = page.locator('table', { has: page.getByText('Path', { exact: true }) })
    await expect
      .poll(() => fields.locator('tbody tr').allInnerTexts())
      .toEqual(['polite\tboolean\tshow', 'stars\tnumeric\tshow', 'value\tnumeric\tshow'])
  })

  it('names the user of the key where feedback on a trace has no other name', async () => {
    const test = await openPage()
    const { page, url, key, post } = test
    await recordCalls(test, [{ id: 'a' }])
    const weave_ref = `weave:///${PROJECT}/call/a`
    const given = { project_id: PROJECT, weave_ref, feedback_type: 'rating', payload: { value: 4 } }
    const { body } = await post('/traces/feedback/create', given)
    await page.goto(`${url}/acme/demo/weave/calls/a#key=${key}`)
    const item = page.locator('.feedback li')
    await expect.poll(() => item.innerText()).toContain(`rating · ${body.wb_user_id} ·`)
  })
})
