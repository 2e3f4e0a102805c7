import { expect, it } from 'vitest'
import { findBarriers, hasBrowser, openPage, PROJECT, recordCalls } from '../browser.ts'

it.skipIf(!hasBrowser)(
  'compares two selected calls, with signed differences, at an address of its own',
  async () => {
    const test = await openPage()
    const { page, url, key, complaints } = test
    const began = Date.now() - 60_000
    const spent = (tokens: number) => ({ usage: { owl: { prompt_tokens: tokens } } })
    await recordCalls(test, [
      {
        id: 'a',
        op_name: 'first',
        started_at_ms: began,
        lasted_ms: 1000,
        inputs: { q: 'Why?', n: 1 },
        output: 'one\ntwo',
        summary: spent(100),
      },
      {
        id: 'b',
        op_name: 'second',
        started_at_ms: began + 10,
        lasted_ms: 2500,
        inputs: { q: 'Why?', n: 2 },
        output: 'one\nthree',
        summary: spent(70),
      },
      { id: 'c' },
    ])
    await page.goto(`${url}/${PROJECT}/weave/calls#key=${key}`)
    for (const op of ['second', 'first'])
      await page.locator('.row.call', { hasText: op }).getByRole('checkbox').click()
    await page.getByRole('button', { name: 'Compare' }).click()
    const rows = page.getByRole('dialog').locator('.compared-calls tbody tr')
    const textOf = (name: string) => rows.filter({ hasText: name }).locator('td').allTextContents()
    await expect.poll(() => textOf('Operation')).toEqual(['first', 'second', ''])
    expect(await textOf('Latency')).toEqual(['1.00 s', '2.50 s', '+1.50 s'])
    expect(await textOf('Tokens')).toEqual(['100', '70', '−30'])
    const changes = page.getByRole('dialog').locator('.changes tbody > tr')
    expect(await changes.locator('th code').allTextContents()).toEqual(['inputs.n', 'output'])
    expect(await findBarriers(page)).toEqual([])
    await page.reload()
    await expect.poll(() => textOf('Operation')).toEqual(['first', 'second', ''])
    await page.keyboard.press('Escape')
    await expect.poll(() => page.getByRole('dialog').count()).toBe(0)
    expect(new URL(page.url()).searchParams.has('compare')).toBe(false)
    await page.goto(`${url}/${PROJECT}/weave/calls?compare=a,none`)
    await page.getByText('one of these is not there').waitFor()
    expect(complaints).toEqual([])
  },
)
