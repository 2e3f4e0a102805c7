import { describe, expect, it } from 'vitest'
import { findBarriers, hasBrowser, MARKUP, openPage, PROJECT, recordCalls } from '../browser.ts'

describe.skipIf(!hasBrowser)('a trial of a judge on the page', () => {
  it('estimates, compares a draft with the current version, and saves it as the next version', async () => {
    const test = await openPage()
    const { page, url, key, complaints, post } = test
    await recordCalls(test, [{ id: 'a' }, { id: 'b' }])
    for (const [call, emoji] of [
      ['a', '👍'],
      ['b', '👎'],
    ]) {
      await post('/traces/feedback/create', {
        project_id: PROJECT,
        weave_ref: `weave:///${PROJECT}/call/${call}`,
        feedback_type: 'wandb.reaction.1',
        payload: { emoji },
      })
    }
    const output_schema = {
      type: 'object',
      properties: { score: { enum: [1] } },
      required: ['score'],
    }
    const { body: evaluator } = await post('/evaluators', {
      project_id: PROJECT,
      name: 'polite',
      state: 'paused',
      scorer: {
        kind: 'judge',
        model: 'tiny',
        messages: [{ role: 'user', content: 'Is it polite? {output}' }],
        output_schema: { ...output_schema, additionalProperties: false },
      },
    })
    await page.goto(`${url}/${PROJECT}/weave/evaluators/${evaluator.id}#key=${key}`)
    await page.getByText('Agreement with people').click()
    await page.getByText('there is nothing to compare').waitFor()
    await page.getByText('Try a prompt on rated calls').click()
    const draft = page.getByRole('form', { name: 'Draft' })
    expect(await draft.getByLabel('Prompt of the draft').inputValue()).toBe(
      'Is it polite? {output}',
    )
    await draft.getByLabel('Prompt of the draft').fill(`${MARKUP} {output}`)
    await draft.getByText('Estimate the trial').click()
    await page.getByText('2 rated calls for at most about $0').waitFor()
    // A trial that runs is dropped with the fields that it was for.
    await page.route(`**/${evaluator.id}/trial`, () => undefined)
    const begun = page.waitForRequest(/trial$/)
    await page.getByText('Try it').click()
    await begun
    const dropped = page.waitForEvent('requestfailed')
    await draft.getByLabel('Prompt of the draft').fill('{output}?')
    expect((await dropped).url()).toMatch(/trial$/)
    await page.unrouteAll()
    await draft.getByLabel('Prompt of the draft').fill(`${MARKUP} {output}`)
    await draft.getByText('Estimate the trial').click()
    await page.getByText('2 rated calls for at most about $0').waitFor()
    await page.getByText('Try it').dblclick()
    await page.getByText('2 calls scored for $0').waitFor()
    const rows = page.locator('[aria-label=Agreement] tbody tr')
    expect(await rows.allTextContents()).toEqual([
      expect.stringMatching(/^\s*People and the draft\s*2\s*50 %/),
      expect.stringMatching(/^\s*People and the current version\s*2\s*50 %/),
    ])
    expect(await page.locator('.confusion').count()).toBe(2)
    expect(await findBarriers(page)).toEqual([])
    await page.getByText('Save the draft as the next version').click()
    await expect.poll(() => page.locator('[aria-label=Versions] tbody tr').count()).toBe(2)
    const { body } = await post('/evaluators/query', { project_id: PROJECT })
    expect(body.evaluators).toMatchObject([
      { version: 2, state: 'paused', scorer: { messages: [{ content: `${MARKUP} {output}` }] } },
    ])
    expect(await page.evaluate('window.wasRun')).toBeUndefined()
    expect(complaints).toEqual([])
  })
})
