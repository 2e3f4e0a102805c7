import { describe, expect, it } from 'vitest'
import { hasBrowser, openPage, recordCalls } from './browser.ts'

describe.skipIf(!hasBrowser)('the page by keyboard', () => {
  it('closes what opens over the rest with Escape, and leads back to its button', async () => {
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
      // Whoever goes on finds nothing lying over the rest.
      await page.getByRole('button', { name: 'Refresh' }).focus()
      await expect.poll(() => page.locator('.menu-body').count()).toBe(0)
    }
    await page.goto(`${url}/keys#key=${key}`)
    await page.getByRole('button', { name: /^Revoke the key/ }).press('Enter')
    await page.getByText('Revoke and sign out').press('Escape')
    await page.locator('button:focus', { hasText: /^Revoke$/ }).waitFor()
  })
})
