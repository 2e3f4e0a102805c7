import type { Locator, Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { hasBrowser, type OpenPage, openPage, PROJECT, recordCalls } from '../browser.ts'
import {
  publishDataset,
  publishEvaluation,
  publishModel,
  recordRun,
} from '../evaluations/evaluation-fixtures.ts'

const HOUR_MS = 3_600_000

/** How many pixels of an element's content are clipped. */
function cutOf(element: Locator): Promise<number> {
  return element.evaluate((node) => node.scrollWidth - node.clientWidth)
}

function usageOf(total_tokens: number) {
  return { usage: { 'gpt-4o-mini': { prompt_tokens: total_tokens, total_tokens } } }
}

describe.skipIf(!hasBrowser)('the room on the page', () => {
  it.each([1440, 390])('suffices for long latencies of a trace at %i pixels', async (width) => {
    const test = await openPage()
    const { page, url, key } = test
    await page.setViewportSize({ width, height: 800 })
    const started_at_ms = Date.now() - 200 * HOUR_MS
    await recordCalls(test, [
      { id: 'a', started_at_ms, lasted_ms: 138 * HOUR_MS + 53 * 60_000 },
      { id: 'b', parent_id: 'a', started_at_ms, lasted_ms: 754_000 },
    ])
    await page.goto(`${url}/${PROJECT}/weave/calls/a#key=${key}`)
    for (const words of ['138 h 53 min', '12 min 34 s'])
      expect(await cutOf(page.locator('.trace-row').getByText(words))).toBe(0)
  })

  it('suffices for numbers of any size in the table of calls, whole in their tooltips', async () => {
    const test = await openPage()
    const { page, url, key } = test
    await recordCalls(test, [
      { id: 'small', op_name: 'small', summary: usageOf(1) },
      { id: 'large', op_name: 'large', summary: usageOf(1_234_567_890) },
    ])
    await page.goto(`${url}/${PROJECT}/weave/calls#key=${key}`)
    const small = page.locator('.row.call', { hasText: 'small' })
    const large = page.locator('.row.call', { hasText: 'large' })
    for (const [cell, words] of [
      [small.getByTitle('$0.00000015'), '$1.5e-7'],
      [large.getByTitle('1,234,567,890'), '1.2B'],
    ] as const) {
      await expect.poll(() => cell.textContent()).toBe(words)
      expect(await cutOf(cell)).toBe(0)
    }
  })

  it('suffices for the tools of a list and of a failed trace in a line each at 1280 pixels', async () => {
    const test = await openPage()
    const { page, url, key } = test
    await recordCalls(test, [
      { id: 'a', exception: 'E', summary: usageOf(12_345) },
      { id: 'b', parent_id: 'a', exception: 'E' },
    ])
    const topsOf = async (selector: string) => {
      const boxes = await page
        .locator(selector)
        .evaluateAll((nodes) =>
          (nodes as unknown as { getBoundingClientRect(): { top: number; height: number } }[]).map(
            (node) => node.getBoundingClientRect(),
          ),
        )
      return new Set(
        boxes
          .filter(({ height }) => height > 0)
          .map(({ top, height }) => Math.round((top + height / 2) / 10)),
      )
    }
    await page.goto(`${url}/${PROJECT}/weave/calls?all=1#key=${key}`)
    await page.getByText('2 calls', { exact: true }).waitFor()
    expect((await topsOf('.list-bar > *')).size).toBe(1)
    expect((await topsOf('.search-line > *')).size).toBe(1)
    await page.goto(`${url}/${PROJECT}/weave/calls/a`)
    await page.getByText('First error').waitFor()
    await page.getByText('Slowest').waitFor()
    expect((await topsOf('.tree > .bar:nth-child(1) > *')).size).toBe(1)
    expect((await topsOf('.tree > .bar:nth-child(2) > *')).size).toBe(1)
  })

  it('suffices for a table of runs with three scores', async () => {
    const test = await openPage()
    // 1440 pixels beside the rail.
    await test.page.setViewportSize({ width: 1656, height: 900 })
    expect(await cutOf(await openRuns(test))).toBe(0)
  })

  it('suffices for the mark of a sorted column, however long its name is', async () => {
    const table = await openRuns(await openPage())
    const head = table.getByRole('columnheader', { name: /^helpfulness/ })
    await head.getByRole('button').click()
    const mark = head.getByText(/^ ?[↑↓]$/)
    await mark.waitFor()
    const [inside, outside] = await Promise.all([mark.boundingBox(), head.boundingBox()])
    expect(inside!.x + inside!.width).toBeLessThanOrEqual(outside!.x + outside!.width)
  })

  it('is kept for the values of legends, so that nothing moves below the mouse', async () => {
    const test = await openPage()
    const { page, url, key } = test
    await page.setViewportSize({ width: 1440, height: 900 })
    const summary = usageOf(1000)
    await recordCalls(test, [
      { id: 'a', summary },
      { id: 'b', summary, lasted_ms: 754_000 },
    ])
    await page.goto(`${url}/${PROJECT}/weave?range=1h#key=${key}`)
    const plot = page.locator('.chart .u-over').first()
    await plot.waitFor()
    const last = page.locator('main > *').last()
    const before = await last.boundingBox()
    await plot.hover()
    const legend = page.getByRole('group', { name: 'Lines of Latency', exact: true })
    await expect.poll(() => legend.textContent()).toMatch(/p50[\d–]/)
    expect(await last.boundingBox()).toEqual(before)
  })

  it.each([
    ['/acme/demo/weave', 1024, 800],
    ['/models', 1280, 800],
    ['/models', 1280, 921],
  ])(
    'suffices for all links of an administrator on %s at %i by %i pixels',
    async (path, width, height) => {
      const test = await openPage()
      const { page, url, key } = test
      await recordCalls(test, [{ id: 'a' }])
      await page.setViewportSize({ width, height })
      await page.goto(`${url}${path}#key=${key}`)
      await page.locator('.rail').getByRole('link', { name: 'Keys', exact: true }).waitFor()
      expect(await heightOf(page)).toBeLessThanOrEqual(48)
      expect(await cutOf(page.locator('header.top'))).toBe(0)
      for (const kind of ['scrollWidth - node.clientWidth', 'scrollHeight - node.clientHeight'])
        expect(
          await page.evaluate(
            `(() => { const node = document.querySelector('.rail-links'); return node.${kind} })()`,
          ),
        ).toBe(0)
    },
  )

  it('suffices for the line above a view on a phone, whose links are in a drawer', async () => {
    const test = await openPage()
    const { page, url, key } = test
    await recordCalls(test, [{ id: 'a' }])
    await page.setViewportSize({ width: 390, height: 800 })
    await page.goto(`${url}/models#key=${key}`)
    await page.getByRole('button', { name: 'Menu' }).click()
    const drawer = page.getByRole('dialog', { name: 'Menu' })
    expect(await heightOf(page)).toBeLessThanOrEqual(48)
    expect(await cutOf(page.locator('header.top'))).toBe(0)
    await drawer.getByRole('link', { name: 'Keys', exact: true }).click()
    await page.getByRole('heading', { name: 'Keys', exact: true }).waitFor()
    await expect.poll(() => drawer.count()).toBe(0)
  })
})

/** The table of one run that has three scores. */
async function openRuns(test: OpenPage): Promise<Locator> {
  const { page, url, key } = test
  const dataset = await publishDataset(test, 'questions', [{ question: 'one' }])
  await recordRun(test, {
    id: 'run',
    name: 'Run',
    startedMs: Date.now() - 60_000,
    evaluation: await publishEvaluation(test, 'exam', dataset.ref),
    model: await publishModel(test, 'bot', {}),
    examples: dataset.rowRefs,
    outputs: [{ output: 'a', scores: {} }],
    summary: { helpfulness_of_answers: { mean: 1 }, exact: { mean: 1 }, style: { mean: 1 } },
  })
  await page.goto(`${url}/${PROJECT}/weave/evaluations#key=${key}`)
  const table = page.getByRole('table', { name: 'Runs of evaluations' })
  await table.getByRole('link', { name: 'Run', exact: true }).waitFor()
  return table
}

async function heightOf(page: Page): Promise<number> {
  return (await page.locator('header.top').boundingBox())!.height
}
