import { describe, expect, it } from 'vitest'
import { findBarriers, hasBrowser, openPage, PROJECT } from '../browser.ts'

describe.skipIf(!hasBrowser)('models without a price, on the page', () => {
  it('are shown with what clients report, and get a price that holds for past calls', async () => {
    const { page, url, key, post, createKey, complaints } = await openPage()
    const at = new Date(Date.now() - 60_000).toISOString()
    const names = { project_id: PROJECT, id: 'a' }
    const start = { ...names, op_name: 'o', started_at: at, attributes: {}, inputs: {} }
    expect((await post('/call/start', { start })).status).toBe(200)
    const usage = {
      '<b>odd</b>': { prompt_tokens: 1_000_000, completion_tokens: 0 },
      told: { prompt_tokens: 3, cost: 0.25 },
    }
    await post('/call/end', { end: { ...names, ended_at: at, summary: { usage } } })
    const view = page.locator('.unpriced')
    await page.goto(`${url}/${PROJECT}/weave/settings#key=${key}`)
    const costOf = (model: string) => view.locator('tr', { hasText: model }).locator('td').nth(3)
    await expect.poll(() => costOf('<b>odd</b>').textContent()).toBe('unknown')
    expect(await costOf('told').textContent()).toContain('reported')
    expect(await findBarriers(page)).toEqual([])
    await view.getByLabel('US dollars for a million input tokens of <b>odd</b>').fill('2.5')
    await view.getByLabel('US dollars for a million output tokens of <b>odd</b>').fill('10')
    await view.getByLabel('Set the price of <b>odd</b>').click()
    await expect.poll(() => view.locator('tbody tr').count()).toBe(1)
    const read = await post('/call/read', { ...names, include_costs: true })
    expect(read.body.call.summary.weave.total_cost).toBe(2.75)
    const reader = await createKey({ scopes: ['traces:read'] })
    await page.goto(`${url}/${PROJECT}/weave/settings#key=${reader}`)
    await page.reload()
    await expect.poll(() => view.locator('tbody tr').count()).toBe(1)
    expect(await view.locator('form').count()).toBe(0)
    expect(complaints).toEqual([])
  })
})
