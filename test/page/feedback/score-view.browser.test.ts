import { describe, expect, it } from 'vitest'
import { findBarriers, hasBrowser, openPage, PROJECT, recordCalls } from '../browser.ts'

/** Four calls with a number, a boolean and a label each. */
async function openScores(path: string) {
  const test = await openPage()
  const ids = ['a', 'b', 'c', 'd']
  await recordCalls(
    test,
    ids.map((id) => ({ id, op_name: `op-${id}` })),
  )
  for (const [at, id] of ids.entries()) {
    const payload = { output: { score: 4 - at, ok: at !== 2, kind: at === 0 ? 'rude' : 'kind' } }
    const weave_ref = `weave:///${PROJECT}/call/${id}`
    const given = { project_id: PROJECT, weave_ref, feedback_type: 'judge', payload }
    expect((await test.post('/traces/feedback/create', given)).status).toBe(200)
  }
  await test.page.goto(`${test.url}/${PROJECT}/weave/feedback?range=1h#key=${test.key}`)
  const row = test.page.locator('tr', { has: test.page.getByText(path, { exact: true }) })
  await row.getByRole('button', { name: 'show' }).click()
  const bins = test.page.getByRole('table', { name: `Distribution of ${path}` })
  const rows = test.page.getByRole('table', { name: `Feedback by ${path}` }).locator('tbody tr')
  return { ...test, bins: bins.locator('tbody tr'), rows }
}

describe.skipIf(!hasBrowser)('a score in a browser', () => {
  it('of numbers has a histogram, a trend, and its lowest first with a way to the calls', async () => {
    const { page, bins, rows, complaints } = await openScores('output.score')
    await expect
      .poll(() => bins.allInnerTexts())
      .toEqual(
        [1, 2, 3, 4].map((value) => expect.stringMatching(new RegExp(`^${value}\\s+1\\s+25.0 %$`))),
      )
    await page.getByRole('slider', { name: 'output.score: average up to 2.5' }).waitFor()
    const values = () => rows.locator('td:first-child').allTextContents()
    await expect.poll(values).toEqual(['1', '2', '3', '4'])
    expect(await findBarriers(page)).toEqual([])
    await page.getByRole('button', { name: 'highest first' }).click()
    await expect.poll(values).toEqual(['4', '3', '2', '1'])
    await rows.last().getByRole('link', { name: 'd' }).click()
    await page.getByRole('heading', { name: 'op-d' }).waitFor()
    expect(complaints).toEqual([])
  })

  it('of booleans has its share over time, and the false ones first', async () => {
    const { page, bins, rows } = await openScores('output.ok')
    await page.getByRole('slider', { name: 'output.ok: share of true up to 75 %' }).waitFor()
    await page.getByRole('heading', { name: 'How often it was given: 4' }).waitFor()
    await expect.poll(() => bins.locator('th').allTextContents()).toEqual(['true', 'false'])
    await expect.poll(() => rows.first().locator('td').first().textContent()).toBe('false')
    const link = rows.first().getByRole('link')
    await expect.poll(() => link.textContent()).toBe('op-c')
    expect(await link.getAttribute('title')).toBe('c')
    await page.route('**/calls/stream_query', (route) => route.fulfill({ status: 503 }))
    await page.reload()
    await expect.poll(() => link.textContent()).toBe('c')
  })

  it('of labels has their counts', async () => {
    const { page, bins, complaints } = await openScores('output.kind')
    await expect
      .poll(() => bins.allInnerTexts())
      .toEqual([expect.stringMatching(/^kind\s+3\s+75.0 %$/), expect.stringMatching(/^rude\s+1/)])
    await page.getByRole('slider', { name: 'How often it was given: times up to 4' }).waitFor()
    expect(await page.getByRole('slider').count()).toBe(1)
    expect(complaints).toEqual([])
  })
})
