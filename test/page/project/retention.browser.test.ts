import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { findBarriers, hasBrowser, openPage, PROJECT } from '../browser.ts'

const DAY_MS = 86_400_000

const focused = (page: Page) => page.evaluate('document.activeElement.textContent')

describe.skipIf(!hasBrowser)('how long calls are kept, on the page', () => {
  it('needs a second click when calls would be removed', async () => {
    const { page, url, key, post, deps, complaints } = await openPage()
    for (const days of [0, 40, 50]) {
      const started_at = new Date(Date.now() - days * DAY_MS).toISOString()
      const start = { project_id: PROJECT, id: `c-${days}`, op_name: 'o', started_at }
      const sent = { start: { ...start, attributes: {}, inputs: {} } }
      expect((await post('/call/start', sent)).status).toBe(200)
    }
    const { promise: isHeld, resolve: letGo } = Promise.withResolvers<void>()
    await page.route('**/calls/query_stats', (route) => isHeld.then(() => route.continue()))
    const told = async () => (await deps.retention.findRetention(PROJECT))?.retention_days
    const view = page.locator('.retention')
    const words = () => view.locator('p').first().textContent()
    await page.goto(`${url}/${PROJECT}/weave/settings#key=${key}`)
    await view.getByText('Change').click()
    expect(await words()).toContain('until they are deleted')
    await view.getByLabel('Keep calls for').fill('45')
    await view.getByText('Save', { exact: true }).click()
    await view.getByLabel('Keep calls for').fill('30')
    // What was counted for another number is not told of this one.
    const answered = page.waitForResponse('**/calls/query_stats')
    letGo()
    await (await answered).finished()
    await view.getByText('Save', { exact: true }).click()
    await view.getByText(/^2 calls that began before/).waitFor()
    expect(await told()).toBeUndefined()
    expect(await focused(page)).toBe('Cancel')
    expect(await findBarriers(page)).toEqual([])
    await view.getByText('Remove calls').click()
    await expect.poll(words).toContain('for 30 days')
    expect(await told()).toBe(30)
    await view.getByText('Change').click()
    await view.getByLabel('Keep calls for').fill('')
    await view.getByText('Save', { exact: true }).click()
    await expect.poll(words).toContain('until they are deleted')
    expect(await told()).toBeNull()
    expect(complaints).toEqual([])
  })

  it('is shown to all readers, and an edit can be cancelled', async () => {
    const { page, url, key, deps, createKey, complaints } = await openPage()
    await deps.retention.setRetention({ project_id: PROJECT, retention_days: 1 })
    const view = page.locator('.retention')
    await page.goto(`${url}/${PROJECT}/weave/settings#key=${key}`)
    await view.getByText('Change').click()
    await view.getByLabel('Keep calls for').press('Escape')
    await expect.poll(() => view.locator('form').count()).toBe(0)
    await expect.poll(() => focused(page)).toBe('Change')
    const reader = await createKey({ scopes: ['traces:read'] })
    await page.goto(`${url}/${PROJECT}/weave/settings#key=${reader}`)
    await page.reload()
    await view.getByText('Calls are kept for a day').waitFor()
    expect(await view.getByText('Change').count()).toBe(0)
    expect(complaints).toEqual([])
  })
})
