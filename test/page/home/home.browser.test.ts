import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { hasBrowser, openPage, recordCalls } from '../browser.ts'

const HOUR_MS = 3_600_000

/** Three calls of an hour ago and two of five hours ago, on the chart of calls. */
async function openHome() {
  const test = await openPage()
  const now = Date.now()
  await recordCalls(
    test,
    [1, 1, 1, 5, 5].map((hours, at) => ({ id: `c${at}`, started_at_ms: now - hours * HOUR_MS })),
  )
  await test.page.goto(`${test.url}/acme/demo/weave?range=6h#key=${test.key}`)
  const plot = test.page.locator('.chart .u-over').first()
  await plot.waitFor()
  return { ...test, plot }
}

/** The middle of the highest bar between two parts of the width, as the plot has drawn it. */
async function findBar(page: Page, from: number, to: number): Promise<number> {
  return page.evaluate<number>(`(() => {
    const canvas = document.querySelector('.chart canvas')
    const over = document.querySelector('.chart .u-over')
    const { width } = over.getBoundingClientRect()
    const left = over.offsetLeft
    const ratio = canvas.width / canvas.getBoundingClientRect().width
    const context = canvas.getContext('2d')
    const y = Math.round((over.offsetTop + over.clientHeight - 4) * ratio)
    const filled = []
    for (let x = ${from} * width; x < ${to} * width; x += 1) {
      const [r, g, b, a] = context.getImageData(Math.round((left + x) * ratio), y, 1, 1).data
      if (a === 255 && b > r + 60) filled.push(x)
    }
    return filled[Math.floor(filled.length / 2)] ?? -1
  })()`)
}

describe.skipIf(!hasBrowser)('the home of a project in a browser', () => {
  it('zooms into the stretch that is drawn, and goes back', async () => {
    const { page, plot, complaints } = await openHome()
    const { x, y, width, height } = (await plot.boundingBox())!
    await page.mouse.move(x + width / 2, y + height / 2)
    await page.mouse.down()
    await page.mouse.move(x + width - 2, y + height / 2, { steps: 5 })
    const answered = Promise.withResolvers<void>()
    await page.route('**/calls/stats', async (route) => {
      await answered.promise
      await route.continue()
    })
    await page.mouse.up()
    // What was there before is not shown as if it were of the new time.
    const figure = page.locator('.figure', { hasText: 'calls' }).locator('.value')
    await expect.poll(() => page.locator('[aria-busy=true] .figure').count()).toBeGreaterThan(0)
    answered.resolve()
    await expect.poll(() => figure.textContent()).toBe('3')
    await expect.poll(() => page.locator('.stale, [aria-busy=true]').count()).toBe(0)
    const { searchParams } = new URL(page.url())
    const ms = Date.parse(searchParams.get('to')!) - Date.parse(searchParams.get('from')!)
    expect(ms / HOUR_MS).toBeGreaterThan(2)
    expect(ms / HOUR_MS).toBeLessThan(4)
    await page.goBack()
    await expect.poll(() => figure.textContent()).toBe('5')
    expect(complaints).toEqual([])
  })

  it('leads from a point to the calls of that time', async () => {
    const { page, plot } = await openHome()
    await expect.poll(() => findBar(page, 0.5, 1)).toBeGreaterThan(0)
    await plot.click({ position: { x: await findBar(page, 0.5, 1), y: 20 } })
    await page.getByText('3 calls').waitFor()
    await expect.poll(() => page.locator('.row.call').count()).toBe(3)
  })

  it('leads from the first point to no calls before the time that is shown', async () => {
    const test = await openPage()
    const { page, url, key } = test
    const minuteMs = Date.parse('2026-01-05T12:00:00Z')
    await recordCalls(
      test,
      [10_000, 40_000].map((ms) => ({ id: `c${ms}`, started_at_ms: minuteMs + ms })),
    )
    const [from, to] = [30_000, 30_000 + HOUR_MS / 2].map((ms) =>
      new Date(minuteMs + ms).toISOString(),
    )
    await page.goto(`${url}/acme/demo/weave?from=${from}&to=${to}#key=${key}`)
    await page
      .locator('.chart .u-over')
      .first()
      .click({ position: { x: 6, y: 20 } })
    await page.getByText('1 call', { exact: true }).waitFor()
  })

  it('shows the newest bucket whole, up to the edge, by the mouse and by keys', async () => {
    const test = await openPage()
    const { page, url, key } = test
    const noonMs = Date.parse('2026-01-05T12:00:00Z')
    const lastMs = noonMs + 6 * HOUR_MS - 60_000
    await recordCalls(
      test,
      ['a', 'b'].map((id) => ({ id, started_at_ms: lastMs })),
    )
    const [from, to] = [0, 6 * HOUR_MS].map((ms) => new Date(noonMs + ms).toISOString())
    const home = `${url}/acme/demo/weave?from=${from}&to=${to}`
    await page.goto(`${home}#key=${key}`)
    const plot = page.locator('.chart .u-over').first()
    await plot.waitFor()
    // A bucket is 5 minutes, 72 of them side by side.
    const { x, y, width } = (await plot.boundingBox())!
    for (const left of [width - width / 72 + 1, width - 1]) {
      await plot.click({ position: { x: left, y: 20 } })
      await page.getByText('2 calls').waitFor()
      expect(new URL(page.url()).searchParams.get('from')).toBe('2026-01-05T17:55:00.000Z')
      await page.goBack()
      await plot.waitFor()
    }
    const stretch = () => {
      const { searchParams } = new URL(page.url())
      return ['from', 'to'].map((name) => searchParams.get(name))
    }
    await page.mouse.move(x + width / 2, y + 20)
    await page.mouse.down()
    await page.mouse.move(x + width + 30, y + 20, { steps: 5 })
    await page.mouse.up()
    await expect.poll(() => stretch().at(1)).toBe('2026-01-05T18:00:00.000Z')
    await page.goto(home)
    await plot.waitFor()
    await page.getByText('copy as curl').first().focus()
    for (const press of ['Tab', 'Shift+ArrowLeft', 'Enter']) await page.keyboard.press(press)
    await expect.poll(stretch).toEqual(['2026-01-05T17:50:00.000Z', '2026-01-05T18:00:00.000Z'])
  })

  it('copies the request behind a chart, which a shell runs', async () => {
    const { page, key } = await openHome()
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
    await page.getByText('copy as curl').first().click()
    await page.getByText('copied').waitFor()
    const command = await page.evaluate<string>('navigator.clipboard.readText()')
    expect(command).not.toContain(key)
    const { stdout } = await promisify(execFile)('sh', ['-c', `${command} -s`], {
      env: { ...process.env, KEY: key },
    })
    const { call_buckets } = JSON.parse(stdout)
    const counts = call_buckets.map((one: { sum_call_count: number }) => one.sum_call_count)
    expect(counts.reduce((sum: number, count: number) => sum + count)).toBe(5)
  })

  it('offers the time of the newest calls when its own has none', async () => {
    const test = await openPage()
    const { page, url, key } = test
    await recordCalls(test, [{ id: 'old', started_at_ms: Date.UTC(2026, 0, 31) }])
    await page.goto(`${url}/acme/demo/weave#key=${key}`)
    await page.getByText('Show the day before it').click()
    const figure = page.locator('.figure', { hasText: 'calls' }).locator('.value')
    await expect.poll(() => figure.textContent()).toBe('1')
  })

  it('shows all times in one zone or the other', async () => {
    const test = await openPage()
    const { page, url, key } = test
    const started_at_ms = Date.parse('2026-01-05T12:30:00Z')
    await recordCalls(test, [{ id: 'a', started_at_ms }])
    await page.addInitScript(`{
      const { resolvedOptions } = Intl.DateTimeFormat.prototype
      Intl.DateTimeFormat.prototype.resolvedOptions = function () {
        return { ...resolvedOptions.call(this), timeZone: 'Asia/Kolkata' }
      }
    }`)
    await page.goto(`${url}/acme/demo/weave/calls#key=${key}`)
    const row = page.locator('.row.call').first()
    await row.waitFor()
    const zone = page.getByTitle('Zone of all times')
    if ((await zone.textContent()) !== 'UTC') await zone.click()
    await expect.poll(() => row.textContent()).toContain('2026-01-05 12:30:00')
    await zone.click()
    await expect.poll(() => row.textContent()).toContain('2026-01-05 18:00:00')
  })
})
