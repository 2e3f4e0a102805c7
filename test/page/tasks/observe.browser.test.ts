import type { Locator } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { hasBrowser } from '../browser.ts'
import { useDemoProject } from '../demo-project.ts'
import { createKeys, createMouse, expectCounts } from './hands.ts'

const COSTLIEST = 'claude-sonnet-4-5'

/** Waits for the rows of the new order, which are read after the header shows it. */
async function waitForFirst(table: Locator, name: string): Promise<void> {
  await expect.poll(() => table.getByRole('link').first().textContent()).toBe(name)
}

describe.skipIf(!hasBrowser)('tasks of those who look for a cause', () => {
  const demo = useDemoProject()

  it('the slow calls of yesterday', async () => {
    const { openTab } = demo()
    const mouse = createMouse(await openTab())
    await mouse.click(mouse.page.getByRole('link', { name: 'Traces', exact: true }))
    await mouse.click(mouse.page.getByRole('button', { name: 'Own range' }))
    await mouse.click(mouse.page.getByRole('button', { name: 'Yesterday' }))
    await mouse.click(mouse.page.getByRole('button', { name: 'Latency' }))
    const keys = createKeys(await openTab())
    await keys.press('g', 't')
    await keys.tabTo(keys.page.getByRole('button', { name: 'Own range' }))
    await keys.press('Enter')
    await keys.tabTo(keys.page.getByRole('button', { name: 'Yesterday' }))
    await keys.press('Enter')
    await keys.tabTo(keys.page.getByRole('button', { name: 'Latency' }))
    await keys.press('Enter')
    const midnight = new Date(new Date().setHours(0, 0, 0, 0))
    for (const { page } of [mouse, keys]) {
      await page.locator('[aria-sort=descending]', { hasText: 'Latency' }).waitFor()
      const address = new URL(page.url()).searchParams
      expect(address.get('to')).toBe(midnight.toISOString())
      expect(address.get('sort')).toBe('-latency')
      await page.locator('.row.call').first().waitFor()
    }
    expectCounts('Find the slow calls of yesterday', mouse, keys)
  })

  it('which model costs most, and why', async () => {
    const { openTab } = demo()
    const mouse = createMouse(await openTab())
    const top = mouse.page.getByRole('table', { name: 'Top models' })
    await mouse.click(top.getByRole('button', { name: 'Cost' }))
    await waitForFirst(top, COSTLIEST)
    await mouse.click(top.getByRole('link').first())
    const keys = createKeys(await openTab())
    const topByKeys = keys.page.getByRole('table', { name: 'Top models' })
    await keys.tabTo(topByKeys.getByRole('button', { name: 'Cost' }), 'Shift+Tab')
    await keys.press('Enter')
    await waitForFirst(topByKeys, COSTLIEST)
    await keys.tabTo(topByKeys.getByRole('link').first())
    await keys.press('Enter')
    for (const { page } of [mouse, keys]) {
      await page.getByRole('list', { name: 'Conditions' }).getByText(`model:${COSTLIEST}`).waitFor()
      // The most expensive calls are first, with their tokens.
      await page.locator('[aria-sort=descending]', { hasText: 'Cost' }).waitFor()
      await page.getByRole('columnheader', { name: 'Tokens' }).waitFor()
    }
    expectCounts('See which model costs most, and why', mouse, keys)
  })

  it('the error of a failing trace', async () => {
    const { openTab } = demo()
    const mouse = createMouse(await openTab())
    await mouse.click(mouse.page.getByRole('button', { name: 'Errors', exact: true }).first())
    await mouse.click(
      mouse.page.getByRole('table', { name: 'Top errors' }).getByRole('link').first(),
    )
    await mouse.click(mouse.page.locator('.row.call a').first())
    const keys = createKeys(await openTab())
    await keys.tabTo(
      keys.page.getByRole('button', { name: 'Errors', exact: true }).first(),
      'Shift+Tab',
    )
    await keys.press('Enter')
    await keys.tabTo(keys.page.getByRole('table', { name: 'Top errors' }).getByRole('link').first())
    await keys.press('Enter')
    await keys.page.locator('.row.call a').first().waitFor()
    await keys.press('j', 'Enter')
    for (const { page } of [mouse, keys])
      await page.getByRole('dialog', { name: 'Trace' }).getByText('Exception').waitFor()
    expectCounts('Find the error of a failing trace', mouse, keys)
  })

  it('a replay with another model', async () => {
    const { openTab } = demo()
    const mouse = createMouse(await openTab())
    const keys = createKeys(await openTab())
    const model = ({ page }: Pick<typeof mouse, 'page'>) =>
      page.getByRole('table', { name: 'Top models' }).getByRole('link', { name: 'gpt-4o-mini' })
    await mouse.click(model(mouse))
    await mouse.click(mouse.page.locator('.row.call a').first())
    await mouse.click(mouse.page.getByText('Replay with'))
    await mouse.click(mouse.page.getByRole('button', { name: 'tiny', exact: true }))
    await keys.tabTo(model(keys), 'Shift+Tab')
    await keys.press('Enter')
    await keys.page.locator('.row.call a').first().waitFor()
    await keys.press('j', 'Enter')
    await keys.tabTo(keys.page.locator('summary', { hasText: 'Replay with' }))
    await keys.press('Enter')
    await keys.tabTo(keys.page.getByRole('button', { name: 'tiny', exact: true }))
    await keys.press('Enter')
    for (const { page } of [mouse, keys]) {
      await page.getByText(/complete after/).waitFor()
      expect(await page.getByRole('combobox', { name: 'Model' }).inputValue()).toBe('tiny')
    }
    // The address alone asks no model: a link would cost money.
    const asked: string[] = []
    mouse.page.on('request', (request) => asked.push(request.url()))
    await mouse.page.reload()
    await mouse.page.getByRole('button', { name: 'Regenerate' }).waitFor()
    expect(asked.filter((url) => url.includes('completions'))).toEqual([])
    expectCounts('Replay a call with another model', mouse, keys)
  })
})
