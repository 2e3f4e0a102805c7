import { readFile } from 'node:fs/promises'
import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { findBarriers, hasBrowser, openPage, recordCalls } from '../browser.ts'

const fieldOf = (page: Page) => page.getByRole('combobox', { name: 'Search calls' })
const rowsOf = (page: Page) => page.locator('.row.call')
const chipsOf = (page: Page) => page.locator('.chip-text').allTextContents()
const searchOf = (page: Page) => new URL(page.url()).searchParams.get('q')

describe.skipIf(!hasBrowser)('the search of calls in a browser', () => {
  it('filters calls as the address says, and exports all of them', async () => {
    const test = await openPage()
    const { page, url, key, complaints } = test
    await recordCalls(test, [
      { id: 'a', op_name: 'first', inputs: { question: 'Why?' } },
      { id: 'b', op_name: 'second', exception: 'it broke' },
    ])
    await page.goto(`${url}/acme/demo/weave/calls#key=${key}`)
    await expect.poll(() => rowsOf(page).count()).toBe(2)
    const field = fieldOf(page)
    await field.fill('status:error')
    await expect.poll(() => rowsOf(page).count()).toBe(1)
    // Read out, since nothing else reports it.
    await page.locator('[role=status]', { hasText: /^1 call$/ }).waitFor()
    await expect.poll(() => searchOf(page)).toBe('status:error')
    await page.reload()
    await page.getByText('it broke').waitFor()
    await page.getByRole('button', { name: 'Remove status:error' }).click()
    await expect.poll(() => rowsOf(page).count()).toBe(2)
    await field.fill('why')
    await expect
      .poll(() => rowsOf(page).allTextContents())
      .toEqual([expect.stringContaining('first')])
    for (const [kind, expected] of [
      ['JSON lines', '"op_name":"first"'],
      ['CSV', 'id,trace_id,started_at,op_name'],
    ] as const) {
      await page.click('summary:text-is("Export")')
      const [download] = await Promise.all([
        page.waitForEvent('download'),
        page.click(`.menu-body >> text=${kind}`),
      ])
      expect(await readFile(await download.path(), 'utf8')).toContain(expected)
    }
    // Each condition is a step of the way back, however it was typed.
    await field.press('End')
    await field.pressSequentially('?!', { delay: 350 })
    await field.press('Enter')
    await field.pressSequentially('x')
    await expect.poll(() => searchOf(page)).toBe('why?! x')
    for (const before of ['why?!', null, 'status:error', null]) {
      await page.goBack()
      await expect.poll(() => searchOf(page)).toBe(before)
    }
    await expect.poll(() => rowsOf(page).count()).toBe(2)
    await expect.poll(() => field.inputValue()).toBe('')
    const renamed = { project_id: 'acme/demo', call_id: 'b', display_name: 'Nightly run' }
    await test.post('/call/update', renamed)
    await field.fill('op:nightly')
    await expect
      .poll(() => rowsOf(page).allTextContents())
      .toEqual([expect.stringContaining('Nightly run')])
    expect(complaints).toEqual([])
  })

  it('opens the call that is clicked right after a filter was typed, and filters too', async () => {
    const test = await openPage()
    const { page, url, key } = test
    await recordCalls(test, [
      { id: 'a', op_name: 'first' },
      { id: 'b', op_name: 'second' },
    ])
    await page.clock.install()
    await page.goto(`${url}/acme/demo/weave/calls#key=${key}`)
    const row = page.locator('.row.call', { hasText: 'second' })
    // The pause after typing ends during the press, or just before it.
    for (const pressed of [false, true]) {
      await row.waitFor()
      await row.hover()
      await fieldOf(page).fill('op:first')
      await page.mouse.down()
      if (pressed) await page.clock.fastForward(1000)
      await page.mouse.up()
      await page.getByRole('heading', { name: 'second' }).first().waitFor()
      await page.goBack()
      await expect.poll(() => rowsOf(page).count()).toBe(1)
      expect(searchOf(page)).toBe('op:first')
      await page.goBack()
      expect(searchOf(page)).toBeNull()
    }
  })

  it('suggests keys and their values, and is used by the keyboard alone', async () => {
    const test = await openPage()
    const { page, url, key } = test
    await recordCalls(test, [{ id: 'a' }, { id: 'b', exception: 'it broke' }])
    await page.goto(`${url}/acme/demo/weave/calls#key=${key}`)
    await rowsOf(page).first().waitFor()
    const field = fieldOf(page)
    await field.focus()
    const offers = page.getByRole('listbox').getByRole('option')
    await expect.poll(() => offers.count()).toBeGreaterThan(10)
    await field.pressSequentially('stat')
    await expect.poll(() => offers.count()).toBe(1)
    expect(await findBarriers(page)).toEqual([])
    await field.press('ArrowDown')
    await field.press('Enter')
    await expect.poll(() => field.inputValue()).toBe('status:')
    await field.press('ArrowDown')
    await field.press('ArrowDown')
    await expect.poll(() => page.locator('[aria-selected=true]').textContent()).toContain('error')
    await field.press('Enter')
    await field.press('Enter')
    await expect.poll(() => chipsOf(page)).toEqual(['status:error'])
    await expect.poll(() => rowsOf(page).count()).toBe(1)
    expect(await field.inputValue()).toBe('')
    await field.press('Backspace')
    await expect.poll(() => field.inputValue()).toBe('status:error')
    await expect.poll(() => chipsOf(page)).toEqual([])
    await field.fill('op:answer')
    await field.press('Enter')
    await field.fill('cost<1')
    await field.press('Enter')
    // The focus stays among the chips while there are some.
    await page.getByRole('button', { name: 'Remove op:answer' }).press('Enter')
    await expect
      .poll(() => page.evaluate('document.activeElement.getAttribute("aria-label")'))
      .toBe('Remove cost<1')
    await page.keyboard.press('Enter')
    await expect
      .poll(() => page.evaluate('document.activeElement.getAttribute("aria-label")'))
      .toBe('Search calls')
    expect(searchOf(page)).toBeNull()
  })

  it('says what is wrong with a search and what would be accepted, and filters by the rest of an address', async () => {
    const test = await openPage()
    const { page, url, key } = test
    await recordCalls(test, [{ id: 'a', op_name: 'first' }, { id: 'b' }])
    await page.goto(`${url}/acme/demo/weave/calls?q=op%3Afirst+latency%3Esoon#key=${key}`)
    await page.getByText('latency> needs a time such as 250ms').waitFor()
    await expect.poll(() => rowsOf(page).count()).toBe(1)
    const field = fieldOf(page)
    await field.fill('state:error')
    await field.press('Enter')
    await page.getByRole('alert').getByText('There is no key “state”').waitFor()
    expect(await field.inputValue()).toBe('state:error')
    await field.fill('"')
    await field.press('Enter')
    await page.getByText('A quotation mark is not closed').waitFor()
    await field.fill('"nowhere in there"')
    await field.press('Enter')
    await page.getByText('No calls match the filter.').waitFor()
    await page.getByText('clear all').click()
    await expect.poll(() => rowsOf(page).count()).toBe(2)
  })

  it('reads the parameters of older links', async () => {
    const test = await openPage()
    const { page, url, key } = test
    await recordCalls(test, [{ id: 'a', op_name: 'first' }])
    const old = 'op=fir&slower=10&dearer=0.1&end-user=u+1&feedback=good&status=success'
    await page.goto(`${url}/acme/demo/weave/calls?${old}#key=${key}`)
    await expect
      .poll(() => chipsOf(page))
      .toEqual([
        ...['op:fir', 'status:success', 'latency>10ms', 'cost>0.1', 'end-user:"u 1"'],
        'feedback:good',
      ])
    await page.getByRole('button', { name: 'Remove op:fir' }).click()
    await expect.poll(() => new URL(page.url()).searchParams.has('slower')).toBe(false)
    expect(searchOf(page)).toBe('status:success latency>10ms cost>0.1 end-user:"u 1" feedback:good')
  })
  it('lists the calls of a time that is chosen, as the address says', async () => {
    const test = await openPage()
    const { page, url, key } = test
    const DAY_MS = 86_400_000
    await recordCalls(test, [
      { id: 'a', op_name: 'now' },
      { id: 'b', op_name: 'yesterday', started_at_ms: Date.now() - DAY_MS },
      { id: 'c', op_name: 'last_week', started_at_ms: Date.now() - 8 * DAY_MS },
    ])
    await page.goto(`${url}/acme/demo/weave/calls#key=${key}`)
    await expect.poll(() => rowsOf(page).count()).toBe(3)
    const time = page.getByRole('group', { name: 'Time' })
    await time.getByRole('button', { name: '7d' }).click()
    await expect.poll(() => rowsOf(page).count()).toBe(2)
    expect(new URL(page.url()).searchParams.get('range')).toBe('7d')
    expect(await findBarriers(page)).toEqual([])
    await page.reload()
    await expect.poll(() => rowsOf(page).count()).toBe(2)
    await time.getByRole('button', { name: 'Own range' }).click()
    await page.getByRole('button', { name: 'Yesterday' }).click()
    await expect.poll(() => new URL(page.url()).searchParams.has('to')).toBe(true)
    await expect.poll(() => rowsOf(page).count()).toBeLessThan(2)
    await time.getByRole('button', { name: 'all', exact: true }).click()
    await expect.poll(() => rowsOf(page).count()).toBe(3)
  })
})
