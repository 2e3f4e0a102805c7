import { describe, expect, it } from 'vitest'
import { findBarriers, hasBrowser, openPage, PROJECT, recordCalls } from '../browser.ts'
import { publishDataset } from '../evaluations/evaluation-fixtures.ts'

const MODEL = { usage: { 'gpt-4o-mini': { prompt_tokens: 1000, completion_tokens: 234 } } }

describe.skipIf(!hasBrowser)('the rows of the list of calls', () => {
  it('show on a phone the status, operation, time, latency, tokens, cost and what was said, and are sorted and opened', async () => {
    const test = await openPage()
    const { page, url, key, complaints } = test
    await page.setViewportSize({ width: 390, height: 844 })
    const begun = Date.now() - 60_000
    await recordCalls(test, [
      {
        id: 'a',
        op_name: 'reply',
        started_at_ms: begun,
        inputs: { question: 'Why?' },
        output: 'Because.',
        summary: MODEL,
      },
      { id: 'b', op_name: 'sort', started_at_ms: begun - 1, lasted_ms: 3000, exception: 'no' },
    ])
    await page.goto(`${url}/${PROJECT}/weave/calls?zone=UTC#key=${key}`)
    const rows = page.locator('.row.call')
    await rows.nth(1).waitFor()
    const time = new Date(begun).toISOString().slice(5, 19).replace('T', ' ')
    const cells = ['ok', 'reply', time, '1.00 s', '1,234 tokens', '$0.00029', 'Why?', 'Because.']
    expect(await rows.first().getByRole('cell').allTextContents()).toEqual(['', ...cells])
    for (const cell of cells) {
      const box = await rows.first().getByText(cell, { exact: true }).boundingBox()
      expect([cell, box !== null && box.x >= 0 && box.x + box.width <= 390]).toEqual([cell, true])
    }
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390)
    expect(await findBarriers(page)).toEqual([])
    await page.getByRole('columnheader', { name: 'Latency' }).getByRole('button').click()
    await expect.poll(() => rows.first().textContent()).toMatch(/^error.*sort.*3\.00 s/)
    await rows.nth(1).getByRole('link').click({ force: true })
    await page.locator('dialog').getByRole('heading', { name: 'reply', level: 1 }).waitFor()
    expect(complaints).toEqual([])
  })

  it('are as high on a phone while they are loading', async () => {
    const test = await openPage()
    const { page, url, key } = test
    await page.setViewportSize({ width: 390, height: 844 })
    await recordCalls(test, [{ id: 'a' }])
    const isSeen = Promise.withResolvers<void>()
    await page.route('**/calls/stream_query', async (route) => {
      await isSeen.promise
      await route.continue()
    })
    await page.goto(`${url}/${PROJECT}/weave/calls#key=${key}`)
    const row = page.locator('.calls .window-list .row')
    const loading = await row.boundingBox()
    isSeen.resolve()
    await page.locator('.row.call').waitFor()
    expect(loading?.height).toBe((await row.boundingBox())?.height)
    expect(loading?.height).toBe(78)
  })

  it('show bodies of any length from few bytes', async () => {
    const test = await openPage()
    const { page, url, key, complaints } = test
    const text = 'word '.repeat(300_000)
    const begun = Date.now() - 60_000
    const calls = Array.from({ length: 3 }, (_, at) => ({
      id: `c${at}`,
      started_at_ms: begun - at,
      inputs: { n: at, messages: [{ role: 'user', content: text.slice(0, 900_000) }] },
      output: { text },
    }))
    for (const call of calls) await recordCalls(test, [call])
    const read = page.waitForResponse((response) => response.url().endsWith('/calls/stream_query'))
    await page.goto(`${url}/${PROJECT}/weave/calls?cols=op,inputs,inputs.n,output#key=${key}`)
    expect((await (await read).body()).length).toBeLessThan(10_000)
    const cells = page.locator('.row.call').first().getByRole('cell')
    await expect.poll(() => cells.allTextContents()).toHaveLength(5)
    const [, op, inputs, n, output] = await cells.allTextContents()
    expect([op, n, output]).toEqual(['answer', '0', 'over 1 MiB: open the call to read it'])
    expect(inputs).toMatch(/^word word .*…$/)
    expect(complaints).toEqual([])
  })

  it('show the attributes that were read beside a span that was not', async () => {
    const test = await openPage()
    const { page, url, key } = test
    await recordCalls(test, [{ id: 'a', attributes: { ok: true } }])
    await page.route('**/calls/stream_query', async (route) => {
      const call = await (await route.fetch()).json()
      Object.assign(call.summary.weave, { unread_bodies: ['attributes'] })
      await route.fulfill({ json: call })
    })
    await page.goto(`${url}/${PROJECT}/weave/calls?cols=attributes.ok,attributes.no#key=${key}`)
    const cells = page.locator('.row.call').getByRole('cell')
    const unread = 'over 1 MiB: open the call to read it'
    await expect.poll(() => cells.allTextContents()).toEqual(['', 'true', unread])
  })
})

describe.skipIf(!hasBrowser)('tables on a phone', () => {
  it('keep the column that names their rows while the others are scrolled', async () => {
    const test = await openPage()
    const { page, url, key } = test
    await page.setViewportSize({ width: 390, height: 844 })
    await publishDataset(test, 'questions', [{ question: 'Why?' }])
    await page.goto(`${url}/#key=${key}`)
    for (const [path, table, name] of [
      ['/keys', '.scroll:has([aria-label=Keys])', 'tbody tr > :first-child'],
      [`/${PROJECT}/weave/objects`, '.grid[aria-label=Objects]', '[role=cell]:has(a)'],
    ] as const) {
      await page.goto(url + path)
      const scrolled = page.locator(table)
      const first = scrolled.locator(name).first()
      await first.waitFor()
      const before = await first.boundingBox()
      const left = await scrolled.evaluate((element) => {
        element.scrollLeft = 200
        return element.scrollLeft
      })
      expect([path, left]).toEqual([path, 200])
      // The name moves with the event of the scroll.
      await expect.poll(async () => (await first.boundingBox())?.x).toBe(before?.x)
    }
  })
})
