import { describe, expect, it } from 'vitest'
import { createModel } from '../training/preview-fixtures.ts'
import { hasBrowser, openPage, PROJECT, recordCalls } from './browser.ts'
import { publishDataset, publishEvaluation, recordRun } from './evaluations/evaluation-fixtures.ts'

const LONG = 'supercalifragilistic_'.repeat(48).slice(0, 1000)
const LINES_MAX = 3

describe.skipIf(!hasBrowser)('names of a thousand characters', () => {
  it('leave room for what is behind them, and are whole in the tooltip', async () => {
    const test = await openPage()
    const { page, url, key, complaints } = test
    const summary = { usage: { [LONG.slice(0, 250)]: { prompt_tokens: 7 } } }
    await recordCalls(test, [{ id: 'long', op_name: LONG, exception: LONG, summary }])
    await createModel(test, { name: 'm'.repeat(100) })
    const dataset = await publishDataset(test, 'questions', [{ question: LONG }])
    const evaluation = await publishEvaluation(test, 'exam', dataset.ref)
    for (const [at, mean] of [1e300, 2].entries()) {
      await recordRun(test, {
        id: `run-${at}`,
        name: LONG,
        evaluation,
        model: LONG,
        examples: dataset.rowRefs,
        outputs: [{ output: LONG, scores: { [LONG.slice(0, 200)]: mean } }],
        summary: { [LONG.slice(0, 200)]: { mean } },
      })
    }
    for (const [view, title] of [
      ['calls/long', '.detail h1'],
      ['evaluations/run-0', 'h1'],
      ['evaluations/compare?runs=run-0,run-1', '.compared thead a'],
      ['training', 'h1'],
      ['settings', 'h1'],
    ] as const) {
      await page.goto(`${url}/${PROJECT}/weave/${view}#key=${key}`)
      const heading = page.locator(title).first()
      await heading.waitFor()
      await page.locator('table, .facts').first().waitFor()
      if (!title.endsWith('a') && view !== 'training' && view !== 'settings')
        expect(await heading.getAttribute('title')).toBe(LONG)
      for (const width of [1440, 390]) {
        await page.setViewportSize({ width, height: 844 })
        const over = await page.evaluate('document.documentElement.scrollWidth - innerWidth')
        expect([view, width, over]).toEqual([view, width, 0])
        // The price of a model is set beside its name.
        if (view === 'settings' && width === 1440)
          expect((await page.getByPlaceholder('input').boundingBox())!.x).toBeLessThan(width)
        const lines = await heading.evaluate((element) => {
          const { lineHeight, fontSize } =
            element.ownerDocument.defaultView!.getComputedStyle(element)
          const pixels = Number.parseFloat(lineHeight) || 1.5 * Number.parseFloat(fontSize)
          return element.getBoundingClientRect().height / pixels
        })
        expect(lines).toBeLessThan(LINES_MAX + 0.5)
      }
      if (view.startsWith('evaluations')) await page.getByText('1.00e+300').first().waitFor()
    }
    expect(complaints).toEqual([])
  })
})
