import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { hasBrowser, openPage, PROJECT, recordCalls } from '../browser.ts'

/** The values of a property of all elements that a selector matches. */
const styleOf = (page: Page, selector: string, name: string) =>
  page.evaluate<string[]>(
    `[...document.querySelectorAll(${JSON.stringify(selector)})].map((one) => getComputedStyle(one)['${name}'])`,
  )

describe.skipIf(!hasBrowser)('the page in colours of the system', () => {
  it('keeps lines apart, shows bars, and tells what is chosen', async () => {
    const test = await openPage()
    const { page, url, key } = test
    await page.emulateMedia({ forcedColors: 'active' })
    await recordCalls(test, [{ id: 'a' }, { id: 'b', parent_id: 'a', exception: 'no' }])
    await page.goto(`${url}/${PROJECT}/weave#key=${key}`)
    const latency = '.card:has([aria-label^="Latency"]) .u-series:not(:first-child) .u-marker'
    await page.locator(latency).first().waitFor()
    expect(new Set(await styleOf(page, latency, 'border-top-color')).size).toBe(3)
    // The time, and what the list of the top ones has.
    expect(await styleOf(page, 'button[aria-pressed=true]:not(.quiet)', 'outline-style')).toEqual([
      'solid',
      'solid',
    ])
    await page.goto(`${url}/${PROJECT}/weave/calls/a`)
    await page.locator('.span').nth(1).waitFor()
    expect(new Set(await styleOf(page, '.span, body', 'background-color')).size).toBe(3)
    expect(await styleOf(page, '.trace-row', 'outline-style')).toEqual(['solid', 'none'])
  })
})
