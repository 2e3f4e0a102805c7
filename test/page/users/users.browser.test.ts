import { describe, expect, it } from 'vitest'
import { findBarriers, hasBrowser, openPage, PROJECT, recordCalls } from '../browser.ts'

const MINUTE_MS = 60_000
const LONG = 'x'.repeat(256)

const usage = (tokens: number) => ({
  usage: { 'gpt-4o': { prompt_tokens: tokens, completion_tokens: 0 } },
})

/** Two calls of hana, the newer a turn that failed and was rated, one of ben, one of a long name, and one of nobody. */
async function openUsers(query = '') {
  const test = await openPage()
  const { page, url, key, post } = test
  const now = Date.now()
  const of = (user: string, minutes: number) => ({
    attributes: { user },
    started_at_ms: now - minutes * MINUTE_MS,
  })
  await recordCalls(test, [
    { id: 'h1', ...of('hana', 50), summary: usage(1000) },
    {
      id: 'h2',
      ...of('hana', 2),
      thread_id: 'talk',
      turn_id: 'h2',
      inputs: { question: 'Where is it?' },
      exception: 'KeyError: 7',
    },
    { id: 'b1', ...of('ben', 10), summary: usage(3000) },
    { id: 'l1', ...of(LONG, 5) },
    { id: 'n1', started_at_ms: now - MINUTE_MS },
  ])
  const rating = {
    project_id: PROJECT,
    weave_ref: `weave:///${PROJECT}/call/h2`,
    feedback_type: 'rating',
    payload: { value: 2 },
  }
  expect((await post('/traces/feedback/create', rating)).status).toBe(200)
  await page.goto(`${url}/${PROJECT}/weave/users?range=1h${query}#key=${key}`)
  const table = page.getByRole('table', { name: 'Users' })
  await table.locator('tbody tr').first().waitFor()
  const names = () => table.getByRole('rowheader').allTextContents()
  return { ...test, table, names }
}

describe.skipIf(!hasBrowser)('the users of a project', () => {
  it('are listed with their calls, errors, tokens, cost, first and last call', async () => {
    const { page, table, complaints } = await openUsers()
    const row = table.locator('tbody tr', { hasText: 'hana' })
    expect(await row.locator('td').allTextContents()).toEqual([
      ...['2', '1', '1K', '$0.0025', '50 min ago', '2 min ago'],
    ])
    expect(await table.locator('tbody tr', { hasText: 'without a user' }).count()).toBe(1)
    expect(await findBarriers(page)).toEqual([])
    expect(complaints).toEqual([])
  })

  it('are sorted by any column, as the address says', async () => {
    const { page, table, names } = await openUsers()
    await table.getByRole('button', { name: 'Cost' }).click()
    await expect.poll(names).toEqual(['ben', 'hana', LONG, 'calls without a user'])
    expect(await table.getByRole('columnheader', { name: 'Cost' }).getAttribute('aria-sort')).toBe(
      'descending',
    )
    await table.getByRole('button', { name: 'First call' }).click()
    await table.getByRole('button', { name: 'First call' }).click()
    await expect.poll(names).toEqual(['hana', 'ben', LONG, 'calls without a user'])
    const { searchParams } = new URL(page.url())
    expect([searchParams.get('by'), searchParams.get('order')]).toEqual(['first', 'asc'])
  })

  it('are found by a part of their name', async () => {
    const { page, names } = await openUsers()
    const search = page.getByRole('searchbox', { name: 'Search users' })
    await search.fill('AN')
    await expect.poll(names).toEqual(['hana'])
    await search.fill('nobody')
    await page.getByText('No user of this time has “nobody” in the name.').waitFor()
    expect(new URL(page.url()).searchParams.get('user')).toBe('nobody')
  })

  it('have a page each, with sums, charts, conversations, calls and feedback of the same time', async () => {
    const { page, table, complaints } = await openUsers()
    await table.getByRole('link', { name: 'hana' }).click()
    await page.getByRole('heading', { name: 'hana', level: 1 }).waitFor()
    expect(new URL(page.url()).searchParams.get('range')).toBe('1h')
    const calls = page.getByRole('table', { name: 'Calls' }).locator('tbody tr')
    await expect
      .poll(() => calls.locator('td').allTextContents())
      .toEqual([
        ...['error', '2 min ago', '1.00 s', '', 'rating 2'],
        ...['ok', '50 min ago', '1.00 s', '$0.0025', ''],
      ])
    await page.getByRole('table', { name: 'Threads' }).getByText('Where is it?').waitFor()
    expect(await page.locator('.figure dd').allTextContents()).toEqual([
      ...['2', '1', '1K', '$0.0025', '50 min ago', '2 min ago'],
    ])
    await page.locator('.chart canvas').first().waitFor()
    expect(await findBarriers(page)).toEqual([])
    await page.getByRole('link', { name: 'See all calls of this time' }).click()
    await expect.poll(() => page.locator('.row.call').count()).toBe(2)
    expect(complaints).toEqual([])
  })

  it('have sums that are marked as those of another time until the chosen one is read', async () => {
    const { page, url } = await openUsers()
    await page.goto(`${url}/${PROJECT}/weave/users/hana?range=1h`)
    await page.locator('dl.figures').waitFor()
    expect(await page.locator('.stale').count()).toBe(0)
    const released = Promise.withResolvers<void>()
    await page.route('**/calls/stats', async (route) => {
      await released.promise
      await route.continue()
    })
    await page.getByRole('button', { name: '7d', exact: true }).click()
    await page.locator('.stale[aria-busy=true] dl').waitFor({ timeout: 10_000 })
    released.resolve()
    await expect.poll(() => page.locator('.stale').count()).toBe(0)
  })

  it('have none in a time without calls, and the page says so', async () => {
    const { page, url } = await openUsers()
    await page.goto(`${url}/${PROJECT}/weave/users/nobody`)
    await page.getByText('This user has no calls in this time. Choose a longer one.').waitFor()
    await page.goto(
      `${url}/${PROJECT}/weave/users?from=2020-01-01T00:00:00.000Z&to=2020-01-02T00:00:00.000Z`,
    )
    await page.getByRole('heading', { name: 'No users in this time' }).waitFor()
    expect(await findBarriers(page)).toEqual([])
  })
})
