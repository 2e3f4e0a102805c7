import { describe, expect, it } from 'vitest'
import { findBarriers, hasBrowser, MARKUP, openPage, PROJECT, recordCalls } from '../browser.ts'

describe.skipIf(!hasBrowser)('evaluators on the page', () => {
  it('are made, listed, paused, edited as a next version, score old calls after an estimate, and are deleted', async () => {
    const test = await openPage()
    const { page, url, key, complaints, post } = test
    await recordCalls(test, [{ id: 'a', output: MARKUP }])
    await page.goto(`${url}/${PROJECT}/weave#key=${key}`)
    await page.getByRole('link', { name: 'Evaluators' }).click()
    await page.getByText('No evaluators yet.').waitFor()
    const form = page.getByRole('form', { name: 'New evaluator' })
    expect(await findBarriers(page)).toEqual([])
    await form.getByLabel('Name', { exact: true }).fill('has-markup')
    await form.getByLabel('Operations').fill('answer')
    await form.getByLabel('Share').fill('0.5')
    await form.getByLabel('Scorer').selectOption('rule: contains')
    await form.getByLabel('Texts').fill(MARKUP)
    await form.getByText('Add evaluator').dblclick()
    const row = page.locator('[aria-label=Evaluators] tbody tr')
    await expect.poll(() => row.count()).toBe(1)
    await expect.poll(() => row.textContent()).toMatch(/running.*50 % of calls.*rule contains/)
    const list = async () =>
      (await post('/evaluators/query', { project_id: PROJECT })).body.evaluators
    expect(await list()).toMatchObject([
      {
        name: 'has-markup',
        sampling: 0.5,
        filter: { op_names: [`weave:///${PROJECT}/op/answer:*`, 'answer'] },
        scorer: { kind: 'rule', rule: { type: 'contains', texts: [MARKUP] } },
      },
    ])
    await row.getByText('pause', { exact: true }).click()
    await expect.poll(() => row.textContent()).toContain('new calls are not scored')
    expect(await list()).toMatchObject([{ state: 'paused' }])
    expect(await findBarriers(page)).toEqual([])
    await row.getByText('resume', { exact: true }).click()
    await expect.poll(() => row.textContent()).toContain('running')

    await row.getByText('has-markup').click()
    const definition = page.getByRole('form', { name: 'Definition' })
    await definition.getByLabel('Share').fill('1')
    await definition.getByText('Save as the next version').click()
    const versions = page.locator('[aria-label=Versions] tbody tr')
    await expect.poll(() => versions.count()).toBe(2)
    expect(await list()).toMatchObject([{ version: 2, sampling: 1, scorer: { kind: 'rule' } }])
    await page.getByText('Estimate', { exact: true }).click()
    await page.getByText('1 found, 1 of them by the share, for about $0.').waitFor()
    expect(await findBarriers(page)).toEqual([])
    await page.getByText('Score them').click()
    await page.getByText(/of some 1 are queued/).waitFor()

    await page.getByText('its results').click()
    await page.getByText('wandb.runnable.has-markup').first().waitFor()
    await page.goBack()
    await page.getByText('All evaluators').click()
    page.on('dialog', (dialog) => void dialog.accept())
    await row.getByText('delete').click()
    await page.getByText('No evaluators yet.').waitFor()
    expect(await list()).toEqual([])
    expect(await page.evaluate('window.wasRun')).toBeUndefined()
    expect(complaints).toEqual([])
  })

  it('score by a judge or a webhook, as the form of each says', async () => {
    const test = await openPage()
    const { page, url, key, complaints, post } = test
    await page.goto(`${url}/${PROJECT}/weave/evaluators#key=${key}`)
    const form = page.getByRole('form', { name: 'New evaluator' })
    const rows = page.locator('[aria-label=Evaluators] tbody tr')
    await form.getByLabel('Name', { exact: true }).fill('polite')
    await form.getByLabel('Scores each').selectOption('conversation')
    await form.getByLabel('Model').fill('tiny')
    await form.getByLabel('Prompt').fill('Is {answer} polite?')
    await form.getByLabel('Variables,').fill('answer')
    await form.getByText('Add evaluator').click()
    await form.getByText('Variables are lines such as').waitFor()
    await form.getByLabel('Variables,').fill('answer = $.output')
    await form.getByLabel('Dollars a day').fill('0.5')
    expect(await findBarriers(page)).toEqual([])
    await form.getByText('Add evaluator').click()
    await expect.poll(() => rows.textContent()).toContain('judge tiny')
    await form.getByLabel('Name', { exact: true }).fill('checked')
    await form.getByLabel('Scorer').selectOption('webhook')
    await form.getByLabel('Address').fill('https://scores.example.com/weft')
    expect(await findBarriers(page)).toEqual([])
    await form.getByText('Add evaluator').click()
    await expect.poll(() => rows.count()).toBe(2)
    const { evaluators } = (await post('/evaluators/query', { project_id: PROJECT })).body
    const named = (name: string) => evaluators.find((one: { name: string }) => one.name === name)
    expect(named('polite')).toMatchObject({
      target: 'conversation',
      max_usd_per_day: 0.5,
      scorer: {
        kind: 'judge',
        model: 'tiny',
        messages: [{ role: 'user', content: 'Is {answer} polite?' }],
        variables: { answer: '$.output' },
      },
    })
    expect(named('checked')).toMatchObject({
      scorer: { kind: 'webhook', url: 'https://scores.example.com/weft' },
    })
    await rows.getByText('polite').click()
    const definition = page.getByRole('form', { name: 'Definition' })
    expect(await definition.getByLabel('Prompt').inputValue()).toBe('Is {answer} polite?')
    expect(await definition.getByLabel('Variables,').inputValue()).toBe('answer = $.output')
    expect(await definition.getByLabel('Variables,').getAttribute('spellcheck')).toBe('false')
    expect(complaints).toEqual([])
  })

  it('check each kind of rule, whose form shows what was saved', async () => {
    const test = await openPage()
    const { page, url, key, complaints, post } = test
    await page.goto(`${url}/${PROJECT}/weave/evaluators#key=${key}`)
    const form = page.getByRole('form', { name: 'New evaluator' })
    const rows = page.locator('[aria-label=Evaluators] tbody tr')
    const rules = [
      ['similarity', { 'Expected is': 'value', 'Expected value': '"Blue"', 'Score, at': '0.8' }],
      ['JSON Schema', { 'JSON Schema': '{"type": "array"}' }],
      ['cost', { 'Dollars a call': '0.25' }],
    ] as const
    for (const [at, [label, fields]] of rules.entries()) {
      await form.getByLabel('Name', { exact: true }).fill(`rule-${at}`)
      await form.getByLabel('Scorer').selectOption(`rule: ${label}`)
      for (const [name, value] of Object.entries(fields)) {
        if (name === 'Expected is') await form.getByLabel(name).selectOption(value)
        // The label of a choice has all of its options.
        else await form.locator('input, textarea').and(form.getByLabel(name)).fill(value)
      }
      expect(await findBarriers(page)).toEqual([])
      await form.getByText('Add evaluator').click()
      await expect.poll(() => rows.count()).toBe(at + 1)
    }
    const { evaluators } = (await post('/evaluators/query', { project_id: PROJECT })).body
    const ruleOf = (name: string) =>
      evaluators.find((one: { name: string }) => one.name === name).scorer.rule
    const similar = { type: 'similarity', path: '$.output', min: 0.8, value: 'Blue' }
    expect(ruleOf('rule-0')).toEqual({ ...similar, ignore_case: false })
    expect(ruleOf('rule-1')).toMatchObject({ schema: { type: 'array' } })
    expect(ruleOf('rule-2')).toEqual({ type: 'cost', max_usd: 0.25 })
    await rows.getByText('rule-0').click()
    const definition = page.getByRole('form', { name: 'Definition' })
    expect(await definition.getByLabel('Expected value').inputValue()).toBe('"Blue"')
    expect(await definition.getByLabel('Score, at').inputValue()).toBe('0.8')
    expect(complaints).toEqual([])
  })

  it('pause, continue and cancel the scoring of old calls', async () => {
    const test = await openPage()
    const { page, url, key, complaints, post } = test
    await recordCalls(test, [{ id: 'a' }])
    const project_id = PROJECT
    const scorer = { kind: 'rule', rule: { type: 'latency', max_ms: 1 } }
    const { id } = (await post('/evaluators', { project_id, name: 'fast', scorer })).body
    // While an evaluator is paused, nothing of a backfill is queued.
    await post(`/evaluators/${id}/pause`, { project_id })
    await page.goto(`${url}/${PROJECT}/weave/evaluators/${id}#key=${key}`)
    await page.getByText('Estimate', { exact: true }).click()
    await page.getByText('Score them').click()
    const steps = [
      ['Pause', 'paused'],
      ['Continue', 'running'],
      ['Cancel', 'done'],
    ] as const
    await page.getByText('0 of some 1 are queued: running').waitFor()
    for (const [button, state] of steps) {
      await page.getByRole('button', { name: button, exact: true }).click()
      await page.getByText(`0 of some 1 are queued: ${state}`).waitFor()
      const { evaluators } = (await post('/evaluators/query', { project_id })).body
      expect(evaluators).toMatchObject([{ backfill: { state, queued: 0 } }])
    }
    expect(await page.getByRole('button', { name: 'Cancel' }).count()).toBe(0)
    await page.getByText('Estimate', { exact: true }).waitFor()
    expect(complaints).toEqual([])
  })

  it('are shown without changes to a key that may only read', async () => {
    const { page, url, post, createKey, complaints } = await openPage()
    const scorer = { kind: 'rule', rule: { type: 'latency', max_ms: 1 } }
    await post('/evaluators', { project_id: PROJECT, name: 'fast', scorer })
    const reader = await createKey({ scopes: ['traces:read'] })
    await page.goto(`${url}/${PROJECT}/weave/evaluators#key=${reader}`)
    await page.getByText('it lacks traces:write').waitFor()
    const row = page.locator('[aria-label=Evaluators] tbody tr')
    await expect.poll(() => row.textContent()).toContain('fast')
    expect(await row.locator('button').count()).toBe(0)
    expect(complaints).toEqual([])
  })
})
