import { describe, expect, it } from 'vitest'
import { findBarriers, hasBrowser, openPage, PROJECT, recordCalls } from '../browser.ts'

const HOUR_MS = 3_600_000

/** Four calls of the last hour, two of them failed, and two of the hour before it. */
async function openOverview(query: string) {
  const test = await openPage()
  const { page, url, key } = test
  const now = Date.now()
  const usage = (model: string, tokens: number) => ({
    usage: { [model]: { prompt_tokens: tokens, completion_tokens: 0 } },
  })
  await recordCalls(test, [
    { id: 'a', op_name: 'answer', summary: usage('small', 10) },
    { id: 'b', op_name: 'answer', attributes: { user: 'hana' }, summary: usage('large', 500) },
    {
      id: 'c',
      op_name: 'lookup',
      attributes: { user: 'hana' },
      exception: 'Traceback (most recent call last):\nKeyError: no "x"',
    },
    { id: 'd', op_name: 'lookup', exception: 'TimeoutError: late\n  at a.js' },
    { id: 'e', started_at_ms: now - 1.5 * HOUR_MS },
    { id: 'f', started_at_ms: now - 1.6 * HOUR_MS },
  ])
  await page.goto(`${url}/${PROJECT}/weave?range=1h${query}#key=${key}`)
  await page.locator('.figure').first().waitFor()
  return test
}

describe.skipIf(!hasBrowser)('the overview of a project', () => {
  it('compares each figure with the period before', async () => {
    const { page, complaints } = await openOverview('')
    const changeOf = (label: string) =>
      page.locator('.figure', { hasText: label }).locator('.change')
    await expect.poll(() => changeOf('calls').textContent()).toContain('+100 %')
    expect(await changeOf('calls').getAttribute('title')).toBe('2 in the period before')
    expect(await changeOf('errors').textContent()).toBe('new')
    expect(await changeOf('latency').textContent()).toBe('as before')
    expect(await page.locator('.spark-line').count()).toBeGreaterThan(2)
    expect(complaints).toEqual([])
  })

  it('asks for no statistic twice: the charts, the sums of the range and of the period before, and the top models', async () => {
    const [from, to] = [-HOUR_MS, 60_000].map((ms) => new Date(Date.now() + ms).toISOString())
    // A range that ends at a time is not polled.
    const { page } = await openOverview(`&from=${from}&to=${to}`)
    const asked: string[] = []
    page.on('request', (request) => {
      if (!request.url().endsWith('/calls/stats')) return
      const { start, end, granularity, group_by } = request.postDataJSON()
      asked.push(`${start} ${end} ${granularity} ${group_by?.field}`)
    })
    await page.reload()
    const table = page.getByRole('table', { name: 'Top models' })
    await table.getByRole('link', { name: 'large' }).waitFor()
    await page.locator('.figure .change', { hasText: '%' }).first().waitFor()
    expect(asked.length).toBe(4)
    expect(new Set(asked).size).toBe(4)
  })

  it.each([
    ['models', 'tokens', ['large', 'small'], { model: 'large' }, 1],
    ['operations', 'calls', ['answer', 'lookup'], { op: 'answer' }, 2],
    ['errors', 'calls', ['KeyError', 'TimeoutError'], { q: 'error:"KeyError"' }, 1],
  ] as const)(
    'lists the top %s by %s, each with a way to its calls',
    async (top, by, names, link, calls) => {
      const { page, complaints } = await openOverview(`&top=${top}&by=${by}`)
      const table = page.getByRole('table', { name: `Top ${top}` })
      const links = table.getByRole('rowheader').getByRole('link')
      await expect.poll(() => links.allTextContents()).toEqual(names)
      expect(await findBarriers(page)).toEqual([])
      await links.first().click()
      await expect.poll(() => page.locator('.row.call').count()).toBe(calls)
      expect(Object.fromEntries(new URL(page.url()).searchParams)).toMatchObject({
        ...link,
        all: '1',
      })
      expect(complaints).toEqual([])
    },
  )

  it('counts the calls of each end user and of the others, and sorts by another measure', async () => {
    const { page } = await openOverview('')
    await page.getByRole('group', { name: 'Top by' }).getByText('Users').click()
    const table = page.getByRole('table', { name: 'Top users' })
    await expect
      .poll(() => table.locator('tbody tr').allTextContents())
      .toEqual(['hana21500–', 'no user2110–'])
    await table.getByRole('button', { name: 'Errors' }).click()
    await expect.poll(() => new URL(page.url()).searchParams.get('by')).toBe('errors')
    expect(
      await table.getByRole('columnheader', { name: 'Errors' }).getAttribute('aria-sort'),
    ).toBe('descending')
  })

  it('takes a range of its own in the zone that is chosen, both kept in the address', async () => {
    const { page, complaints } = await openOverview('&zone=UTC')
    await page.getByRole('button', { name: 'Own range' }).click()
    const panel = page.getByRole('dialog', { name: 'Own range' })
    expect(await findBarriers(page)).toEqual([])
    await panel.getByLabel('From').fill('2026-01-05T12:00:00')
    await panel.getByLabel('To', { exact: true }).fill('2026-01-05T11:00:00')
    await panel.getByText('The end must be later than the begin.').waitFor()
    await panel.getByLabel('To', { exact: true }).fill('2026-01-05T13:00:00')
    await panel.getByRole('button', { name: 'Show this range' }).click()
    await page.getByText('No calls in this time.').waitFor()
    const { searchParams } = new URL(page.url())
    expect(Object.fromEntries(searchParams)).toEqual({
      from: '2026-01-05T12:00:00.000Z',
      to: '2026-01-05T13:00:00.000Z',
      zone: 'UTC',
    })
    expect(await page.evaluate("localStorage.getItem('weft.time')")).toBeNull()
    await page.getByRole('button', { name: /^Own range: 2026-01-05 12:00:00/ }).waitFor()
    expect(complaints).toEqual([])
  })
})
