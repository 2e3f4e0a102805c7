import { describe, expect, it } from 'vitest'
import { findBarriers, hasBrowser, openPage, PROJECT } from '../browser.ts'
import { publish, publishDataset, publishEvaluation } from './evaluation-fixtures.ts'

const classed = (name: string, bases: readonly string[], fields: object) => ({
  _type: name,
  _class_name: name,
  _bases: [...bases, 'Object', 'BaseModel'],
  name,
  ...fields,
})

async function openForm(rows: readonly object[]) {
  const test = await openPage()
  const { page, url, key } = test
  await publishDataset(test, 'sums', rows)
  const user = (content: string) =>
    classed('MessagesPrompt', ['Prompt'], { messages: [{ role: 'user', content }] })
  await publish(test, 'sum', user('What is {left} plus {right}?'))
  await publish(test, 'sum', user('{question} {unknown}'))
  await publish(test, 'coded', classed('Scorer', [], { score: 'code' }))
  const contains = { kind: 'rule', rule: { type: 'contains', texts: ['7'] } }
  await publish(test, 'seven', classed('Scorer', [], contains))
  const open = () => page.goto(`${url}/${PROJECT}/weave/evaluations/new#key=${key}`)
  return { ...test, open }
}

const SUMS = [
  { question: 'What is 3 plus 4?', left: 3, right: 4, expected: '3 plus 4 is 7.' },
  { question: 'What is 2 plus 2?', left: 2, right: 2, expected: '2 plus 2 is 4.' },
]

describe.skipIf(!hasBrowser)('an evaluation that is run from the page', () => {
  it('asks versions of a prompt for each row, scores by old and new scorers, and leads to the comparison', async () => {
    const test = await openForm(SUMS)
    const { page, open, complaints } = test
    await open()
    await page.getByText('The rows of sums have no {unknown} for').waitFor()
    await page.getByText('1 scorer holds code, which only the SDKs run.').waitFor()
    for (let times = 0; times < 2; times++)
      await page.getByRole('button', { name: 'Add another prompt' }).click()
    await page.getByRole('button', { name: 'Remove prompt 2' }).press('Enter')
    // The third has moved up.
    await page.locator('select[aria-label="Prompt 2"]:focus').waitFor()
    await page.getByLabel('Version of prompt 2').fill('v0')
    await page.getByLabel('Version of prompt 2').press('Tab')
    await page.getByRole('button', { name: 'Run 2 evaluations' }).click()
    await page.getByText('Choose a scorer.').waitFor()
    await page.getByLabel('seven').check()
    await page.getByText('New scorer').click()
    const form = page.getByRole('form', { name: 'New scorer' })
    await form.getByLabel('Name').fill('sums')
    await form.getByRole('button', { name: 'Add scorer' }).click()
    await page.getByText('sums is the name of another object, not of a Scorer.').waitFor()
    await form.getByLabel('Name').fill('exact')
    await form.getByRole('button', { name: 'Add scorer' }).click()
    await expect.poll(() => page.getByLabel('exact').isChecked()).toBe(true)
    expect(await findBarriers(page)).toEqual([])
    await page.getByLabel('temperature').fill('0')
    await page.getByLabel('max_tokens').fill('16')
    await page.getByRole('button', { name: 'Run 2 evaluations' }).click()
    const runs = page.getByLabel('Runs that have begun')
    await expect.poll(() => runs.getByText('complete').count(), { timeout: 30_000 }).toBe(2)
    expect(await findBarriers(page)).toEqual([])
    await runs.getByRole('link', { name: 'Compare them' }).click()
    const compared = page.locator('.compared')
    await compared.getByRole('row', { name: /^exact\.passed/ }).waitFor()
    await compared.getByRole('row', { name: /^seven\.passed/ }).waitFor()
    // Of the completions below the predictions, each once.
    await compared.getByRole('row', { name: /^tokens \d+ \d+/i }).waitFor()
    const examples = page.getByRole('table', { name: 'Examples' })
    await examples.getByText('3 plus 4 is 7.').first().waitFor()
    // The version of the prompt names what was made from it.
    await page.goto(`${test.url}/${PROJECT}/weave/objects/sum/versions/v0`)
    const used = page.getByRole('region', { name: 'Calls that used it' })
    await used.getByText('2 in all').waitFor()
    await used.getByText('p95 latency').waitFor()
    const runsOfIt = page.getByRole('table', { name: 'Evaluations of it' })
    await expect.poll(() => runsOfIt.locator('.window-list [role=row]').count()).toBe(1)
    await runsOfIt.getByRole('button', { name: 'seven.passed' }).waitFor()
    expect(await findBarriers(page)).toEqual([])
    expect(complaints).toEqual([])
  })

  it('shows its progress, is cancelled, and is scored again', async () => {
    const rows = Array.from({ length: 400 }, (_, n) => ({ ...SUMS[0], n }))
    const test = await openForm(rows)
    const { page, open } = test
    await open()
    await page.getByLabel('seven').check()
    await page.getByLabel('Trials of each row').fill('20')
    await page.getByRole('button', { name: 'Run 1 evaluation' }).click()
    await page.getByRole('link', { name: 'sum v1 · tiny' }).click()
    await page.getByText(/of 8,000 rows/).waitFor()
    await page.getByRole('progressbar', { name: 'Rows that are done' }).waitFor()
    expect(await findBarriers(page)).toEqual([])
    await page.getByRole('button', { name: 'Cancel' }).press('Enter')
    await page.locator('.facts').getByText('error').waitFor()
    expect(await page.getByRole('button', { name: 'Cancel' }).count()).toBe(0)
    await page.getByText('Score again').click()
    await page.getByLabel('seven').check()
    await page.getByRole('button', { name: 'Score again as a new run' }).click()
    await page.locator('.figure', { hasText: 'seven.passed' }).waitFor({ timeout: 30_000 })
  })

  it('says in the list that predictions of a run have failed, though the run has not', async () => {
    const test = await openPage()
    const { page, url, key, post } = test
    const { ref } = await publishDataset(test, 'questions', SUMS)
    const evaluation_ref = await publishEvaluation(test, 'sums', ref)
    const messages_template = [{ role: 'user', content: '{question}' }]
    const model_ref = await publish(test, 'refused', {
      _type: 'LLMStructuredCompletionModel',
      llm_model_id: 'tiny',
      default_params: { messages_template, max_tokens: 0 },
    })
    const asked = { project_id: PROJECT, evaluation_ref, model_ref }
    const { body, text } = await post('/evaluations/evaluate_model', asked)
    const status = { project_id: PROJECT, call_id: body.call_id }
    await expect
      .poll(async () => (await post('/evaluations/status', status)).body.status.code, {
        timeout: 20_000,
        message: text,
      })
      .toBe('complete')
    await page.goto(`${url}/${PROJECT}/weave/evaluations#key=${key}`)
    await page.getByText('error below').waitFor()
  })

  it('says which rights are missing, and what has to be made before', async () => {
    const test = await openPage()
    const { page, url, key, createKey } = test
    await page.goto(`${url}/${PROJECT}/weave/evaluations#key=${key}`)
    await page.getByRole('link', { name: 'Run an evaluation' }).click()
    await page.getByText('There is no dataset yet').waitFor()
    await page.getByText('There is no prompt yet').waitFor()
    const reader = await createKey({ scopes: ['traces:read'] })
    await page.goto('about:blank')
    await page.goto(`${url}/${PROJECT}/weave/evaluations/new#key=${reader}`)
    await page
      .getByText('The key may not run evaluations (it lacks traces:write and inference).')
      .waitFor()
  })
})
