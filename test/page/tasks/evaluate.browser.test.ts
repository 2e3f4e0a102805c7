import { describe, expect, it } from 'vitest'
import { hasBrowser, openPage, PROJECT, recordCalls } from '../browser.ts'
import { useDemoProject } from '../demo-project.ts'
import {
  publish,
  publishDataset,
  publishEvaluation,
  publishModel,
  recordRun,
} from '../evaluations/evaluation-fixtures.ts'
import { createKeys, createMouse, expectCounts, openFirstView } from './hands.ts'

const TEN = 10

describe.skipIf(!hasBrowser)('tasks of those who judge', () => {
  const demo = useDemoProject()

  it('a comparison of two evaluations', async () => {
    const { openTab } = demo()
    const mouse = createMouse(await openTab())
    await mouse.click(mouse.page.getByRole('link', { name: 'Evaluations', exact: true }))
    const boxes = mouse.page.getByRole('checkbox', { name: /^Compare / })
    await mouse.click(boxes.nth(0))
    await mouse.click(boxes.nth(1))
    await mouse.click(mouse.page.getByRole('link', { name: 'Compare 2 runs' }))
    const keys = createKeys(await openTab())
    await keys.press('g', 'e')
    await keys.page
      .getByRole('checkbox', { name: /^Compare / })
      .first()
      .waitFor()
    await keys.press('j', 'x', 'j', 'x')
    await keys.tabTo(keys.page.getByRole('link', { name: 'Compare 2 runs' }), 'Shift+Tab')
    await keys.press('Enter')
    for (const { page } of [mouse, keys]) {
      await page.getByText('The largest regressions come first.').waitFor()
      await page.getByRole('table', { name: 'Examples' }).waitFor()
    }
    expectCounts('Compare two evaluations', mouse, keys)
  })

  it('ten ratings', async () => {
    const test = await openPage()
    const call_ids = Array.from({ length: TEN }, (_, at) => `call-${at}`)
    await recordCalls(
      test,
      call_ids.map((id) => ({ id })),
    )
    for (const name of ['by mouse', 'by keys']) {
      const queue = { project_id: PROJECT, name, scorer_refs: [] }
      const { id } = (await test.post('/annotation_queues', queue)).body
      const items = { project_id: PROJECT, call_ids, display_fields: [] }
      expect((await test.post(`/annotation_queues/${id}/items`, items)).status).toBe(200)
    }
    const mouse = createMouse(await openFirstView(test))
    await mouse.click(mouse.page.getByRole('link', { name: 'Queues', exact: true }))
    await mouse.click(mouse.page.getByRole('link', { name: 'by mouse' }))
    const keys = createKeys(await openFirstView(test))
    await keys.press('g', 'q')
    await keys.tabTo(keys.page.getByRole('link', { name: 'by keys' }), 'j')
    await keys.press('Enter')
    for (let done = 0; done < TEN; done++) {
      await mouse.page.getByText(`${done} of ${TEN} done`).waitFor()
      await mouse.click(mouse.page.getByRole('button', { name: /Good/ }))
      await mouse.click(mouse.page.getByRole('button', { name: /Save and next/ }))
      await keys.page.getByText(`${done} of ${TEN} done`).waitFor()
      await keys.page.getByRole('button', { name: /Good/ }).waitFor()
      await keys.press('+', 'Enter')
    }
    for (const { page } of [mouse, keys])
      await page.getByText('Nothing is left to rate in this queue.').waitFor()
    expectCounts('Rate ten calls', mouse, keys)
  })

  it('a dataset of ten calls', async () => {
    const { openTab } = demo()
    const mouse = createMouse(await openTab())
    await mouse.click(mouse.page.getByRole('link', { name: 'Traces', exact: true }))
    const boxes = mouse.page.locator('.row.call').getByRole('checkbox')
    await mouse.click(boxes.first())
    await mouse.click(boxes.nth(TEN - 1), { modifiers: ['Shift'] })
    await mouse.click(mouse.page.getByText('Add to a dataset'))
    await mouse.type('of-the-mouse')
    const keys = createKeys(await openTab())
    await keys.press('g', 't')
    await keys.page.locator('.row.call').first().waitFor()
    await keys.press('j', 'x', ...Array(TEN - 1).fill('j'), 'X')
    await keys.tabTo(keys.page.locator('summary', { hasText: 'Add to a dataset' }), 'Shift+Tab')
    await keys.press('Enter')
    await keys.type('of-the-keys')
    await keys.press('Enter')
    for (const { page } of [mouse, keys]) await page.getByText(`${TEN} rows added to`).waitFor()
    expectCounts('Make a dataset of ten calls', mouse, keys)
  })

  it('whether a change of a prompt helped', async () => {
    const test = await openPage()
    const dataset = await publishDataset(test, 'questions', [{ question: 'Why?' }])
    const evaluation = await publishEvaluation(test, 'exam', dataset.ref)
    const versions = ['Answer.', 'Answer in one word.', 'Answer kindly.']
    for (const [at, content] of versions.entries()) {
      const prompt = await publish(test, 'answer', {
        _type: 'MessagesPrompt',
        _class_name: 'MessagesPrompt',
        _bases: ['Prompt', 'Object', 'BaseModel'],
        messages: [{ role: 'user', content }],
      })
      // The version in the middle was evaluated with another model alone.
      const llm_model_id = at === 1 ? 'other' : 'tiny'
      const model = await publishModel(test, `answer-${at}`, {
        llm_model_id,
        default_params: { prompt },
      })
      await recordRun(test, {
        id: `run-${at}`,
        name: `Run ${at}`,
        evaluation,
        model,
        examples: dataset.rowRefs,
        outputs: [{ output: content, scores: { exact: at > 0 } }],
        summary: { exact: { true_count: at, true_fraction: at / 2 } },
        startedMs: Date.now() - 60_000 + at * 1000,
      })
    }
    const mouse = createMouse(await openFirstView(test))
    await mouse.click(mouse.page.getByRole('link', { name: 'Prompts', exact: true }))
    await mouse.click(mouse.page.getByRole('link', { name: 'answer', exact: true }))
    await mouse.click(mouse.page.getByRole('link', { name: 'Compare with v0' }))
    const keys = createKeys(await openFirstView(test))
    await keys.press('g', 'p')
    await keys.tabTo(keys.page.getByRole('link', { name: 'answer', exact: true }), 'j')
    await keys.press('Enter')
    await keys.tabTo(keys.page.getByRole('link', { name: 'Compare with v0' }))
    await keys.press('Enter')
    for (const { page } of [mouse, keys]) {
      // The older version is the baseline.
      await expect.poll(() => new URL(page.url()).searchParams.get('runs')).toBe('run-0,run-2')
      await page.locator('.compared').getByText('+1').first().waitFor()
    }
    expectCounts('See whether a change of a prompt helped', mouse, keys)
  })
})
