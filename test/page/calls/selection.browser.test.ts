import { readFile } from 'node:fs/promises'
import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { findBarriers, hasBrowser, type OpenPage, PROJECT, recordCalls } from '../browser.ts'
import { openCalls, opsOf, rowOf } from './call-list.ts'

const boxOf = (page: Page, op: string) => rowOf(page, op).getByRole('checkbox')
const readIds = async ({ post }: OpenPage) => {
  const { text } = await post('/calls/stream_query', { project_id: PROJECT, columns: ['id'] })
  return text
    .trim()
    .split('\n')
    .map((line: string) => JSON.parse(line).id)
}

describe.skipIf(!hasBrowser)('the list of calls in a browser', () => {
  it('is sorted by its headers, as the address says', async () => {
    const { page, complaints } = await openCalls(3)
    const head = (name: string) => page.getByRole('columnheader', { name })
    expect(await opsOf(page)).toEqual(['op2', 'op1', 'op0'])
    expect(await head('Started').getAttribute('aria-sort')).toBe('descending')
    const steps = [
      ['Latency', ['op0', 'op1', 'op2'], 'descending', '-latency'],
      ['Latency', ['op2', 'op1', 'op0'], 'ascending', 'latency'],
      ['Latency', ['op2', 'op1', 'op0'], 'none', null],
      ['Operation', ['op0', 'op1', 'op2'], 'ascending', 'op'],
    ] as const
    for (const [name, ops, order, text] of steps) {
      await page.getByRole('button', { name, exact: true }).click()
      await expect.poll(() => opsOf(page)).toEqual(ops)
      expect(await head(name).getAttribute('aria-sort')).toBe(order)
      expect(new URL(page.url()).searchParams.get('sort')).toBe(text)
    }
    await page.reload()
    await expect.poll(() => opsOf(page)).toEqual(['op0', 'op1', 'op2'])
    // Roots are sorted by their trees; among nested calls only costs have a field of their own.
    const sorters = (name: string) => page.getByRole('button', { name, exact: true })
    const [asked] = await Promise.all([
      page.waitForRequest((sent) => (sent.postData() ?? '').includes('weave.tree_total_tokens')),
      sorters('Tokens').click(),
    ])
    expect(asked.postDataJSON().sort_by).toEqual([
      { field: 'summary.weave.tree_total_tokens', direction: 'desc' },
    ])
    await page.getByLabel('include nested calls').check()
    await sorters('Cost').waitFor()
    expect(await sorters('Tokens').count()).toBe(0)
    expect(complaints).toEqual([])
  })

  it('selects calls one by one, in ranges with Shift, and all of a search, and exports them', async () => {
    const { page } = await openCalls(250)
    const count = page.locator('.picked b')
    await boxOf(page, 'op249').click()
    await boxOf(page, 'op245').click({ modifiers: ['Shift'] })
    expect(await count.textContent()).toBe('5 selected')
    await boxOf(page, 'op247').click()
    expect(await count.textContent()).toBe('4 selected')
    expect(await findBarriers(page)).toEqual([])
    const download = async () => {
      await page.click('summary:text-is("Export")')
      const [file] = await Promise.all([
        page.waitForEvent('download'),
        page.click('.menu-body >> text=JSON lines'),
      ])
      const lines = (await readFile(await file.path(), 'utf8')).trim().split('\n')
      return lines.map((line) => JSON.parse(line).id).sort()
    }
    expect(await download()).toEqual(['c245', 'c246', 'c248', 'c249'])
    // A range beyond the rows that were loaded.
    const list = page.locator('.window-list')
    await list.evaluate((element) => element.scrollTo(0, element.scrollHeight))
    await boxOf(page, 'op0').click({ modifiers: ['Shift'] })
    await expect.poll(() => count.textContent()).toBe('250 selected')
    await page.getByRole('button', { name: 'select none' }).click()
    await page.getByText('250 calls', { exact: true }).waitFor()
    await page.getByLabel('Select all calls of the search').click()
    expect(await count.textContent()).toBe('250 selected')
    await boxOf(page, 'op0').click()
    await expect.poll(() => count.textContent()).toBe('249 selected')
    expect(await download()).toHaveLength(249)
    // Another search has its own selection.
    await page.getByLabel('Search calls').fill('op:op24')
    await page.getByText('11 calls', { exact: true }).waitFor()
    expect(await count.count()).toBe(0)
  })

  it('selects the row that has the focus by x, and nothing in the row of the headers', async () => {
    const { page } = await openCalls(2)
    const all = page.getByLabel('Select all calls of the search')
    await all.focus()
    await page.keyboard.press('x')
    expect(await all.isChecked()).toBe(false)
    await page.keyboard.press('j')
    await page.keyboard.press('x')
    expect(await page.locator('.picked b').textContent()).toBe('1 selected')
    expect(await boxOf(page, 'op1').isChecked()).toBe(true)
  })

  it('deletes the selected calls after a confirmation with their number', async () => {
    const test = await openCalls(4)
    const { page } = test
    await boxOf(page, 'op3').click()
    await boxOf(page, 'op1').click()
    await page.getByRole('button', { name: 'Delete', exact: true }).click()
    await page.getByRole('heading', { name: 'Delete 2 calls?' }).waitFor()
    expect(await findBarriers(page)).toEqual([])
    await page.keyboard.press('Escape')
    expect(await page.locator('.picked b').textContent()).toBe('2 selected')
    expect(await readIds(test)).toHaveLength(4)
    await page.route('**/calls/delete', (route) => route.abort())
    await page.getByRole('button', { name: 'Delete', exact: true }).click()
    await page.getByRole('button', { name: 'Delete 2 calls' }).click()
    await page.getByRole('dialog').getByText('The server does not answer.').waitFor()
    await page.unroute('**/calls/delete')
    await page.getByRole('button', { name: 'Delete 2 calls' }).click()
    await page.getByText('2 calls', { exact: true }).waitFor()
    await expect.poll(() => opsOf(page)).toEqual(['op2', 'op0'])
    expect(await readIds(test)).toEqual(['c0', 'c2'])
    await page.getByLabel('Search calls').fill('op:op2')
    await page.getByText('1 call', { exact: true }).waitFor()
    await page.getByLabel('Select all calls of the search').click()
    await page.getByRole('button', { name: 'Delete', exact: true }).click()
    await page.getByRole('button', { name: 'Delete 1 call' }).click()
    await page.getByText('No calls match the filter.').waitFor()
    expect(await readIds(test)).toEqual(['c0'])
  })

  it('adds the selected calls to a dataset, a queue and a training job', async () => {
    const test = await openCalls(3)
    const { page, post } = test
    await boxOf(page, 'op2').click()
    await boxOf(page, 'op0').click()
    await page.getByText('Add to a dataset').click()
    await page.getByLabel('Dataset; a name').fill('picked')
    await page.getByRole('button', { name: 'Add the rows' }).click()
    await page.getByText('2 rows added to').waitFor()
    const named = { project_id: PROJECT, object_id: 'picked', digest: 'latest' }
    const { body } = await post('/obj/read', named)
    const digest = body.obj.val.rows.split('/').at(-1)
    const table = await post('/table/query', { project_id: PROJECT, digest })
    const rows = table.body.rows.map(({ val }: { val: { expected: string } }) => val.expected)
    expect(rows.sort()).toEqual(['Because 0.', 'Because 2.'])
    await page.locator('summary', { hasText: 'Add to a queue' }).click()
    expect(await page.getByLabel('Newest calls, at most').count()).toBe(0)
    await page.getByLabel('Its name').fill('mine')
    await page.getByRole('button', { name: 'Add', exact: true }).click()
    await page.getByText('2 calls added').waitFor()
    await page.getByText('Train on these').click()
    await page.getByRole('button', { name: 'Remove id:c2,c0' }).waitFor()
  })

  it('announces new calls, and shows them only when asked to', async () => {
    const test = await openCalls(1)
    const { page } = test
    await page.clock.install()
    await page.reload()
    await page.locator('.row.call').waitFor()
    await recordCalls(test, [
      { id: 'n1', op_name: 'new1', started_at_ms: Date.now() },
      { id: 'n2', op_name: 'new2', started_at_ms: Date.now() + 1 },
    ])
    // The clock of the server, which the page follows, is known to the second.
    await new Promise((resolve) => setTimeout(resolve, 1500))
    await page.clock.fastForward(11_000)
    const news = page.getByRole('button', { name: '2 new calls · show' })
    await news.waitFor()
    expect(await opsOf(page)).toEqual(['op0'])
    expect(await findBarriers(page)).toEqual([])
    await news.click()
    await expect.poll(() => opsOf(page)).toEqual(['new2', 'new1', 'op0'])
    expect(await news.count()).toBe(0)
  })
})
