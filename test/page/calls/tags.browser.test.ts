import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { findBarriers, hasBrowser } from '../browser.ts'
import { openCalls, opsOf, rowOf } from './call-list.ts'

const tagsIn = (page: Page, op: string) => rowOf(page, op).locator('.tag').allTextContents()

describe.skipIf(!hasBrowser)('tags of calls in a browser', () => {
  it('are added to the selected calls, shown in the list, and found by the search', async () => {
    const { page, complaints } = await openCalls(3)
    await rowOf(page, 'op0').getByRole('checkbox').click()
    await rowOf(page, 'op2').getByRole('checkbox').click()
    await page.locator('summary', { hasText: 'Tag' }).click()
    await page.getByLabel('Tag', { exact: true }).fill('to check')
    expect(await findBarriers(page)).toEqual([])
    await page.getByRole('button', { name: 'Add the tag' }).click()
    await page.getByText('added to 2 calls').waitFor()
    await expect.poll(() => tagsIn(page, 'op2')).toEqual(['to check'])
    expect(await tagsIn(page, 'op1')).toEqual([])
    expect(await page.locator('.picked b').textContent()).toBe('2 selected')
    await rowOf(page, 'op0').getByRole('checkbox').click()
    await page.locator('summary', { hasText: 'Tag' }).click()
    await page.getByLabel('Tag', { exact: true }).fill('to check')
    await page.getByRole('button', { name: 'Remove it' }).click()
    await page.getByText('removed from 1 call', { exact: true }).waitFor()
    await expect.poll(() => tagsIn(page, 'op2')).toEqual([])
    const search = page.getByLabel('Search calls')
    await search.fill('-tag:')
    await page.getByRole('option', { name: 'to check' }).click()
    expect(await search.inputValue()).toBe('-tag:"to check" ')
    await expect.poll(() => opsOf(page)).toEqual(['op2', 'op1'])
    await search.fill('tag:"to check"')
    await expect.poll(() => opsOf(page)).toEqual(['op0'])
    expect(await findBarriers(page)).toEqual([])
    expect(complaints).toEqual([])
  })

  it('that are typed while another one is saved stay in the field', async () => {
    const { page } = await openCalls(3)
    await rowOf(page, 'op1').locator('a').click()
    const tags = page.getByRole('group', { name: 'Tags' })
    const save = Promise.withResolvers<void>()
    await page.route('**/calls/tag', async (route) => {
      await save.promise
      await route.continue()
    })
    await tags.getByLabel('A tag').fill('slow')
    await page.keyboard.press('Enter')
    await tags.getByLabel('A tag').fill('odd')
    save.resolve()
    await tags.getByRole('link', { name: 'slow' }).waitFor()
    expect(await tags.getByLabel('A tag').inputValue()).toBe('odd')
  })

  it('are added and removed in a trace, and lead to the calls that have them', async () => {
    const { page, complaints } = await openCalls(3)
    await rowOf(page, 'op1').locator('a').click()
    const tags = page.getByRole('group', { name: 'Tags' })
    for (const tag of ['slow', 'odd']) {
      await tags.getByLabel('A tag').fill(tag)
      await page.keyboard.press('Enter')
      await tags.getByRole('link', { name: tag }).waitFor()
    }
    expect(await findBarriers(page)).toEqual([])
    await tags.getByRole('button', { name: 'Remove the tag odd' }).press('Enter')
    await expect.poll(() => tags.locator('.tag').allTextContents()).toEqual(['slow'])
    await tags.locator(':focus').waitFor()
    await tags.getByLabel('A tag').fill('a,b')
    await page.keyboard.press('Enter')
    await page.getByText('64 visible characters without').waitFor()
    await tags.getByRole('link', { name: 'slow' }).click()
    await expect.poll(() => opsOf(page)).toEqual(['op1'])
    expect(complaints.filter((words) => !words.includes('422'))).toEqual([])
  })
})
