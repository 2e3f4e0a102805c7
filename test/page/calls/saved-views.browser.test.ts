import { describe, expect, it } from 'vitest'
import { findBarriers, hasBrowser, openPage, PROJECT, recordCalls } from '../browser.ts'

const NAME = 'Slow & “dear”: 50% / week'

describe.skipIf(!hasBrowser)('saved views of the list of calls', () => {
  it('keep the search, the order and the columns for all readers of the project, until they are deleted', async () => {
    const test = await openPage()
    const { page, url, key, createKey, complaints } = test
    await recordCalls(test, [{ id: 'a' }, { id: 'b', exception: 'E' }])
    const search = 'q=status%3Aerror&sort=-latency&cols=started%2Cop%2Cstatus%2Clatency'
    await page.goto(`${url}/${PROJECT}/weave/calls?${search}#key=${key}`)
    await page.locator('.row.call').waitFor()
    const menu = page.locator('summary', { hasText: 'Views' })
    await menu.click()
    await page.getByText('No saved views yet').waitFor()
    for (const name of ['plain', NAME, NAME]) {
      await page.getByLabel('Name of this view').fill(name)
      await page.getByRole('button', { name: 'Save', exact: true }).click()
      await page.getByText(`“${name}” is saved`).waitFor()
    }
    const links = page.getByRole('list', { name: 'Saved views' }).getByRole('link')
    await expect.poll(() => links.allTextContents()).toEqual(['plain', NAME])
    expect(await findBarriers(page)).toEqual([])
    // Somebody who may only read.
    const reader = await createKey({ scopes: ['traces:read'] })
    await page.evaluate('sessionStorage.clear()')
    await page.goto(`${url}/${PROJECT}/weave/calls?all=1#key=${reader}`)
    await expect.poll(() => page.locator('.row.call').count()).toBe(2)
    await menu.click()
    await links.last().click()
    await expect.poll(() => page.locator('.row.call').count()).toBe(1)
    expect(new URL(page.url()).search).toBe(`?${search}`)
    expect(await page.getByLabel('Name of this view').count()).toBe(0)
    await page.evaluate('sessionStorage.clear()')
    await page.goto(`${url}/${PROJECT}/weave/calls#key=${key}`)
    await page.locator('.row.call').first().waitFor()
    await menu.click()
    await page.getByRole('button', { name: `Delete the view ${NAME}` }).click()
    await page.getByRole('button', { name: 'Delete the view', exact: true }).click()
    await expect.poll(() => links.allTextContents()).toEqual(['plain'])
    // Names that begin alike stay two views.
    for (const end of ['1', '2']) {
      await page.getByLabel('Name of this view').fill(`${'é%'.repeat(49)}${end}`)
      await page.getByRole('button', { name: 'Save', exact: true }).click()
      await page.getByText(`${end}” is saved`).waitFor()
    }
    await expect.poll(() => links.count()).toBe(3)
    expect(complaints).toEqual([])
  })
})
