import type { Locator } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { findBarriers, hasBrowser, MARKUP, type OpenPage, openPage, PROJECT } from '../browser.ts'
import {
  publish,
  publishDataset,
  publishEvaluation,
  publishModel,
  recordRun,
} from './evaluation-fixtures.ts'

const QUESTIONS = ['one', 'two', 'three', 'four'].map((question) => ({ question }))

interface Given {
  readonly answer: string
  readonly exact: boolean
  readonly stars: number
}

function outputOf({ answer, exact, stars }: Given) {
  return { output: answer, scores: { exact, judge: { stars } }, model_latency: 0.25 }
}

function summaryOf(share: number, stars: number) {
  const exact = { true_count: 4 * share, true_fraction: share }
  return { exact, judge: { stars: { mean: stars } }, model_latency: { mean: 0.25 } }
}

/** Two runs of one evaluation over the same rows: the second is worse in `three` and better in `four`. */
async function recordTwoRuns(test: OpenPage) {
  const dataset = await publishDataset(test, 'questions', QUESTIONS)
  const evaluation = await publishEvaluation(test, 'exam', dataset.ref)
  const models = [
    await publishModel(test, 'bot', { temperature: 0 }),
    await publishModel(test, 'bot', { temperature: 1 }),
  ]
  const good = { exact: true, stars: 5 }
  const outputs = [
    [{ ...good }, { ...good }, { ...good }, { exact: false, stars: 1 }],
    [{ ...good }, { ...good, stars: 4 }, { exact: false, stars: 2 }, { ...good, stars: 4 }],
  ]
  const summaries = [summaryOf(0.75, 4), summaryOf(0.7, 3.75)]
  for (const [at, own] of outputs.entries()) {
    await recordRun(test, {
      id: `run-${at}`,
      name: `Run ${at}`,
      evaluation,
      model: models[at]!,
      examples: dataset.rowRefs,
      outputs: own.map((given, place) => outputOf({ ...given, answer: `answer ${at} ${place}` })),
      summary: summaries[at]!,
      startedMs: Date.now() - 60_000 + at * 1000,
    })
  }
  return { dataset, evaluation, models }
}

async function ranksIn(board: Locator): Promise<(string | undefined)[]> {
  const rows = await board.locator('.window-list [role=row]').allInnerTexts()
  return rows.map((row) => row.split('\n')[0])
}

describe.skipIf(!hasBrowser)('evaluations on the page', () => {
  it('are listed, chosen and compared, the largest regression first', async () => {
    const test = await openPage()
    const { page, url, key, complaints } = test
    await recordTwoRuns(test)
    await page.goto(`${url}/${PROJECT}/weave/evaluations#key=${key}`)
    const runs = page.getByRole('table', { name: 'Runs of evaluations' })
    const names = () => runs.locator('[role=cell] a[href*="/evaluations/"]').allTextContents()
    await expect.poll(names).toEqual(['Run 1', 'Run 0'])
    await runs.getByRole('button', { name: 'exact' }).click()
    await expect.poll(names).toEqual(['Run 0', 'Run 1'])
    expect(await findBarriers(page)).toEqual([])
    await page.getByLabel('Compare Run 0').check()
    await page.getByLabel('Compare Run 1').check()
    await page.getByText('Compare 2 runs').click()
    const table = page.locator('.compared')
    await table.getByText('baseline').waitFor()
    await expect
      .poll(() => table.getByRole('row', { name: /^exact/ }).innerText())
      .toMatch(/0\.75\s+0\.7 −0\.05/)
    const examples = page.getByRole('table', { name: 'Examples' })
    const rows = () => examples.locator('.window-list [role=row]').allInnerTexts()
    await expect
      .poll(async () => (await rows()).map((row) => row.split('\n')[0]))
      .toEqual(['three', 'one', 'two', 'four'])
    await page.getByText('1 better').waitFor()
    await page.getByLabel('Score').selectOption('judge.stars')
    await expect
      .poll(async () => (await rows()).map((row) => row.split('\n')[0]))
      .toEqual(['three', 'two', 'one', 'four'])
    await examples.getByRole('button', { name: 'three' }).click()
    const example = page.getByLabel('Example', { exact: true })
    await example.getByText('answer 0 2').waitFor()
    await example.getByText('answer 1 2').waitFor()
    const differences = page.getByLabel('Differences of Run 1')
    await differences
      .getByRole('row', { name: /^output changed/ })
      .locator('ins')
      .waitFor()
    await expect.poll(() => differences.locator('del, ins').allTextContents()).toEqual(['0', '1'])
    await differences.getByRole('row', { name: /^scores\.exact/ }).waitFor()
    await expect.poll(() => page.url()).toMatch(/runs=.*example=/)
    await page.getByLabel('Show', { exact: true }).selectOption('worse')
    await page.getByText('2 of 4 examples').waitFor()
    await expect
      .poll(async () => (await rows()).map((row) => row.split('\n')[0]))
      .toEqual(['three', 'two'])
    await page.getByLabel('Show', { exact: true }).selectOption('missing')
    await page.getByText('No example is so.').waitFor()
    await page.getByLabel('Show', { exact: true }).selectOption('')
    expect(await findBarriers(page)).toEqual([])
    await table.getByText('differences').click()
    await page.getByRole('row', { name: /temperature/ }).waitFor()
    expect(complaints).toEqual([])
  })

  it('show one run with its scores and examples', async () => {
    const test = await openPage()
    const { page, url, key, complaints } = test
    await recordTwoRuns(test)
    await page.goto(`${url}/${PROJECT}/weave/evaluations/run-1#key=${key}`)
    const figure = page.locator('.figure', { hasText: 'judge.stars' })
    await expect.poll(() => figure.innerText()).toContain('3.75')
    await page
      .locator('.facts')
      .getByRole('link', { name: /^questions:/ })
      .waitFor()
    const examples = page.getByRole('table', { name: 'Examples' })
    await examples.getByRole('button', { name: 'judge.stars' }).click()
    const first = examples.locator('.window-list [role=row]').first()
    await expect.poll(() => first.innerText()).toContain('three')
    await page.getByLabel('Text in the example or the output').fill('FOUR')
    await page.getByText('1 example', { exact: true }).waitFor()
    await examples.getByText('answer 1 3').click()
    await page.getByLabel('Example', { exact: true }).getByText('four').waitFor()
    expect(await findBarriers(page)).toEqual([])
    // The first Escape is the field's, which it clears.
    const find = page.getByLabel('Text in the example or the output')
    await find.press('Escape')
    await expect.poll(() => find.inputValue()).toBe('')
    await page.getByLabel('Example', { exact: true }).getByText('four').waitFor()
    await find.press('Escape')
    await expect.poll(() => page.locator('.row-panel').count()).toBe(0)
    for (const close of [
      () => page.keyboard.press('Escape'),
      () => page.getByText('close', { exact: true }).click(),
    ]) {
      await examples.getByText('answer 1 3').click()
      await page.getByLabel('Example', { exact: true }).getByText('four').waitFor()
      await close()
      await expect.poll(() => page.locator('.row-panel').count()).toBe(0)
    }
    await find.fill('FOUR')
    await page.getByText('1 example', { exact: true }).waitFor()
    await examples.getByTitle('Show it whole').press('Enter')
    await page.locator('.row-panel:focus').press('Escape')
    await examples.locator('button:focus').and(examples.getByTitle('Show it whole')).waitFor()
    await expect.poll(() => page.locator('.row-panel').count()).toBe(0)
    await examples.getByRole('link', { name: 'ok' }).click()
    await expect.poll(() => page.locator('.detail .facts').innerText()).toContain('run-1-3')
    expect(complaints).toEqual([])
  })

  it('show runs of the routes for runs, with means while they run', async () => {
    const test = await openPage()
    const { page, url, key, post } = test
    const ref = (name: string) => `weave:///${PROJECT}/object/${name}:abc`
    const base = `/v2/${PROJECT}`
    const run = { evaluation: ref('exam'), model: ref('bot') }
    const { evaluation_run_id } = (await post(`${base}/evaluation_runs`, run)).body
    for (const n of [1, 2]) {
      const prediction = {
        model: ref('bot'),
        inputs: { n },
        output: `answer ${n}`,
        evaluation_run_id,
      }
      const { prediction_id } = (await post(`${base}/predictions`, prediction)).body
      const score = { prediction_id, scorer: ref('stars'), value: n, evaluation_run_id }
      await post(`${base}/scores`, score)
      await post(`${base}/predictions/${prediction_id}/finish`, {})
    }
    await page.goto(`${url}/${PROJECT}/weave/evaluations#key=${key}`)
    await page.getByRole('link', { name: evaluation_run_id }).click()
    await page.getByText('means over the examples so far').waitFor()
    await expect
      .poll(() => page.locator('.figure', { hasText: 'stars' }).innerText())
      .toContain('1.5')
    await page.getByRole('table', { name: 'Examples' }).getByText('answer 2').waitFor()
  })

  it('stand in the order of a leaderboard, published or not', async () => {
    const test = await openPage()
    const { page, url, key, complaints } = test
    const { evaluation } = await recordTwoRuns(test)
    const column = { evaluation_object_ref: evaluation, scorer_name: 'exact' }
    await publish(test, 'best', {
      _type: 'Leaderboard',
      name: 'The best',
      description: MARKUP,
      columns: [
        { ...column, summary_metric_path: 'true_fraction' },
        {
          ...column,
          scorer_name: 'judge',
          summary_metric_path: 'stars.mean',
          should_minimize: true,
        },
      ],
    })
    await page.goto(`${url}/${PROJECT}/weave/leaderboards/best#key=${key}`)
    const board = page.getByRole('table', { name: 'Leaderboard' })
    const scores = async () => {
      const cells = await board.locator('[role=cell] a[href*="/evaluations/"]').allTextContents()
      return cells.filter((text) => /^[\d.]+$/.test(text))
    }
    await expect.poll(scores).toEqual(['0.75', '4', '0.7', '3.75'])
    await board.getByRole('button', { name: 'judge.stars' }).click()
    await expect.poll(scores).toEqual(['0.7', '3.75', '0.75', '4'])
    await board.getByRole('button', { name: 'judge.stars' }).click()
    await expect.poll(scores).toEqual(['0.75', '4', '0.7', '3.75'])
    // Less is better there, and it stays so with the worst first.
    await expect.poll(() => ranksIn(board)).toEqual(['2', '1'])
    expect(await findBarriers(page)).toEqual([])
    const model = await publishModel(test, 'bot', { temperature: 2 })
    await recordRun(test, {
      id: 'run-2',
      name: 'Run 2',
      evaluation,
      model,
      examples: [],
      outputs: [],
      summary: summaryOf(0.75, 1),
      startedMs: Date.now() - 30_000,
    })
    const other = await publishModel(test, 'bot', { temperature: 3 })
    await recordRun(test, {
      id: 'run-3',
      name: 'Run 3',
      evaluation,
      model: other,
      examples: [],
      outputs: [],
      summary: {},
      startedMs: Date.now() - 20_000,
    })
    await page.goto(`${url}/${PROJECT}/weave/evaluations?board=1`)
    const runs = page.getByRole('table', { name: 'Runs of evaluations' })
    await expect.poll(() => ranksIn(runs)).toEqual(['1', '1', '3', '–'])
    await runs.getByRole('button', { name: 'exact' }).click()
    await expect.poll(() => ranksIn(runs)).toEqual(['3', '1', '1', '–'])
    expect(complaints).toEqual([])
  })

  it('show texts as texts, whatever is in them', async () => {
    const test = await openPage()
    const { page, url, key, complaints } = test
    for (const id of ['x', 'y']) {
      await recordRun(test, {
        id,
        name: MARKUP,
        evaluation: MARKUP,
        model: MARKUP,
        examples: [{ [MARKUP]: MARKUP }],
        outputs: [{ output: MARKUP, scores: { [MARKUP]: 1, label: '<b>bold</b>' } }],
        summary: { [MARKUP]: { mean: 1 } },
      })
    }
    for (const [path, sign] of [
      ['evaluations', 'Runs of evaluations'],
      ['evaluations/x', 'Examples'],
      ['evaluations/compare?runs=x,y', 'Examples'],
    ] as const) {
      await page.goto(`${url}/${PROJECT}/weave/${path}#key=${key}`)
      await page.getByRole('table', { name: sign }).getByText('onerror').first().waitFor()
      const open = page.getByRole('table', { name: sign }).locator('.window-list button').first()
      if (sign === 'Examples') {
        await open.click()
        await page.getByLabel('Example', { exact: true }).getByText('onerror').first().waitFor()
      }
    }
    expect(await page.evaluate('window.wasRun')).toBeUndefined()
    expect(complaints).toEqual([])
  })

  it('say what to do where there are none, and what is missing', async () => {
    const { page, url, key } = await openPage()
    await page.goto(`${url}/${PROJECT}/weave/evaluations#key=${key}`)
    await page.getByText('No evaluations yet').waitFor()
    await page.goto(`${url}/${PROJECT}/weave/evaluations/none`)
    await page.getByText('There is no run none').waitFor()
    await page.goto(`${url}/${PROJECT}/weave/evaluations/compare?runs=one`)
    await page.getByText('must name two to five runs').waitFor()
  })
})
