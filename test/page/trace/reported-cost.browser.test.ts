import { describe, expect, it } from 'vitest'
import { hasBrowser, openPage, PROJECT } from '../browser.ts'

describe.skipIf(!hasBrowser)('the cost of a call, on the page', () => {
  it('has what the client reports beside what is computed, and what was not counted', async () => {
    const { page, url, key, post, complaints } = await openPage()
    const at = new Date(Date.now() - 60_000).toISOString()
    const names = { project_id: PROJECT, id: 'a' }
    const start = { ...names, op_name: 'o', started_at: at, attributes: {}, inputs: {} }
    expect((await post('/call/start', { start })).status).toBe(200)
    const usage = {
      'gpt-4o': { prompt_tokens: 1_000_000, cost: 3 },
      told: { prompt_tokens: 3, cost: 0.25 },
      odd: { prompt_tokens: 3, cost: 'much' },
    }
    await post('/call/end', { end: { ...names, ended_at: at, summary: { usage } } })
    await page.goto(`${url}/${PROJECT}/weave/calls/a#key=${key}`)
    const fact = (name: string) =>
      page.locator('.facts div', { has: page.getByText(name, { exact: true }) }).locator('dd')
    await expect.poll(() => fact('Cost, including descendants').textContent()).toContain('2.75')
    expect(await fact('Cost as the client reports it').textContent()).toContain('3.25')
    expect(await fact('Usage not counted').textContent()).toContain('odd: cost is no amount')
    expect(complaints).toEqual([])
  })
})
