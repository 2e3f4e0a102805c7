import { describe, expect, it } from 'vitest'
import { findBarriers, hasBrowser, openPage, recordCalls } from '../browser.ts'

const HOUR_MS = 3_600_000

describe.skipIf(!hasBrowser)('the page by keyboard', () => {
  it('closes menus with Escape and returns the focus to their button', async () => {
    const test = await openPage()
    const { page, url, key } = test
    await recordCalls(test, [{ id: 'a' }])
    await page.goto(`${url}/acme/demo/weave/calls#key=${key}`)
    for (const [words, field] of [
      ['Columns', 'Status'],
      ['Add to a queue', 'Its name'],
    ] as const) {
      const button = page.locator('summary', { hasText: words })
      const menu = page.locator('.menu', { hasText: words })
      await button.press('Enter')
      await menu.getByLabel(field, { exact: true }).focus()
      await page.keyboard.press('Escape')
      await expect.poll(() => page.locator('.menu-body').count()).toBe(0)
      await page.locator('summary:focus', { hasText: words }).waitFor()
      await button.press('Enter')
      await menu.getByLabel(field, { exact: true }).focus()
      // Nothing covers the content when the focus moves on.
      await page.getByRole('button', { name: 'Refresh' }).focus()
      await expect.poll(() => page.locator('.menu-body').count()).toBe(0)
    }
    await page.goto(`${url}/keys#key=${key}`)
    await page.getByRole('button', { name: /^Revoke the key/ }).press('Enter')
    await page.getByText('Revoke and sign out').press('Escape')
    await page.locator('button:focus', { hasText: /^Revoke$/ }).waitFor()
  })

  it('focuses the first control of a menu, also of one that is loaded later', async () => {
    const test = await openPage()
    const { page, url, key } = test
    await recordCalls(test, [
      { id: 'a', inputs: { messages: [{ role: 'user', content: 'Why?' }] } },
    ])
    await page.route('**/v1/models', async (route) => {
      await page.getByText('loading').first().waitFor()
      await route.continue()
    })
    await page.goto(`${url}/acme/demo/weave/calls/a#key=${key}`)
    await page.locator('summary', { hasText: 'Replay with' }).press('Enter')
    await page.locator('.menu-body button:focus', { hasText: 'tiny' }).waitFor()
    await page.keyboard.press('Escape')
    await page.locator('summary:focus', { hasText: 'Replay with' }).waitFor()
    await page.locator('summary', { hasText: 'Copy as' }).press('Enter')
    await page.locator('.menu-body button:focus').waitFor()
  })

  it('keeps the focus where something is done, and leads it to the next view', async () => {
    const test = await openPage()
    const { page, url, key } = test
    await recordCalls(test, [{ id: 'a' }])
    await page.goto(`${url}/acme/demo/weave/calls#key=${key}`)
    const row = page.locator('.row.call a')
    await row.press('Enter')
    await page.getByText('Good').waitFor()
    await page.locator('dialog :focus').waitFor()
    // The row has the focus at once, and the dialog no longer counts.
    await Promise.all([page.keyboard.press('Escape'), page.keyboard.press('Enter')])
    await page.getByRole('link', { name: 'Open', exact: true }).press('Enter')
    await page.locator('main .detail').getByText('Good').waitFor()
    await page.locator('main:focus').waitFor()
    await page.getByText('Good').press('Enter')
    await page.locator('.feedback li').waitFor()
    await page.locator('button:focus', { hasText: 'Good' }).waitFor()
    await page.reload()
    await page.getByText('Good').waitFor()
    await page.keyboard.press('Tab')
    await page.locator('.skip:focus').press('Enter')
    await page.keyboard.press('Tab')
    await page.locator('main :focus').waitFor()
    await page.setViewportSize({ width: 390, height: 844 })
    await page.goto(`${url}/acme/demo/weave/playground`)
    await page.locator('.settings select').first().waitFor()
    await page.locator('main').focus()
    await page.keyboard.press('Tab')
    // What is first on a phone is reached first.
    await page.locator('.pane select:focus').waitFor()
    const top = async (part: string) => (await page.locator(part).boundingBox())!.y
    expect(await top('.chat')).toBeLessThan(await top('.settings'))
  })

  it('reads, zooms and opens the buckets of a chart by keys', async () => {
    const test = await openPage()
    const { page, url, key, complaints } = test
    const noonMs = Date.parse('2026-01-05T12:00:00Z')
    const hours = [0, 0, 1, 2, 5]
    await recordCalls(
      test,
      hours.map((hour, at) => ({ id: `c${at}`, started_at_ms: noonMs + hour * HOUR_MS + 1000 })),
    )
    const [from, to] = [0, 120 * HOUR_MS].map((ms) => new Date(noonMs + ms).toISOString())
    await page.addInitScript("localStorage.setItem('weft.time', 'UTC')")
    await page.goto(`${url}/acme/demo/weave?from=${from}&to=${to}#key=${key}`)
    const chart = page.getByRole('slider', { name: /^Calls/ })
    await chart.waitFor()
    await page.getByText('copy as curl').first().focus()
    await page.keyboard.press('Tab')
    const words = () => chart.getAttribute('aria-valuetext')
    await expect.poll(words).toBe('2026-01-10 11:00:00: calls 0')
    await page.keyboard.press('Home')
    await expect.poll(words).toBe('2026-01-05 12:00:00: calls 2')
    const legend = page.getByRole('group', { name: 'Lines of Calls', exact: true })
    await expect.poll(() => legend.textContent()).toContain('calls2')
    for (const press of ['ArrowRight', 'Shift+ArrowRight']) await page.keyboard.press(press)
    const chosen = 'from 2026-01-05 13:00:00 to 2026-01-05 15:00:00 is chosen'
    await expect.poll(words).toBe(`2026-01-05 14:00:00: calls 1; ${chosen}`)
    expect(await findBarriers(page)).toEqual([])
    await page.keyboard.press('Escape')
    await expect.poll(words).toBe('2026-01-05 14:00:00: calls 1')
    await page.keyboard.press('Shift+ArrowLeft')
    await page.keyboard.press('Enter')
    const figure = page.locator('.figure', { hasText: 'calls' }).locator('.value')
    await expect.poll(() => figure.textContent()).toBe('2')
    expect(new URL(page.url()).searchParams.get('from')).toBe('2026-01-05T13:00:00.000Z')
    expect(new URL(page.url()).searchParams.get('to')).toBe('2026-01-05T15:00:00.000Z')
    // The chart has kept the focus but no selection, so a second Enter opens nothing.
    await page.keyboard.press('Enter')
    await page.keyboard.press('Home')
    await expect.poll(words).toBe('2026-01-05 13:00:00: calls 1')
    await page.keyboard.press('Enter')
    await page.getByText('1 call', { exact: true }).waitFor()
    expect(complaints).toEqual([])
  })

  it('hides and shows the lines of a chart by keys', async () => {
    const test = await openPage()
    const { page, url, key } = test
    const noonMs = Date.parse('2026-01-05T12:00:00Z')
    await recordCalls(test, [{ id: 'a', started_at_ms: noonMs + 1000 }])
    const [from, to] = [0, HOUR_MS].map((ms) => new Date(noonMs + ms).toISOString())
    await page.goto(`${url}/acme/demo/weave?from=${from}&to=${to}#key=${key}`)
    const legend = page.getByRole('group', { name: 'Lines of Calls', exact: true })
    const label = legend.getByRole('button', { name: 'calls' })
    await label.press('Enter')
    await expect.poll(() => label.getAttribute('aria-pressed')).toBe('false')
    await legend.locator('.u-off', { hasText: 'calls' }).waitFor()
    expect(await findBarriers(page)).toEqual([])
    await label.press('Space')
    await expect.poll(() => label.getAttribute('aria-pressed')).toBe('true')
    expect(await legend.locator('.u-off').count()).toBe(0)
  })
})
