import { describe, expect, it } from 'vitest'
import { hasBrowser, openPage, PROJECT, recordCalls } from '../browser.ts'

describe.skipIf(!hasBrowser)('adding calls to a queue', () => {
  it('makes one queue however often it is pressed, and adds to that one next', async () => {
    const test = await openPage()
    const { page, url, key, post } = test
    await recordCalls(test, [{ id: 'a' }, { id: 'b' }])
    let sent = 0
    page.on('request', (request) => {
      if (request.url().endsWith('/items')) sent += 1
    })
    await page.goto(`${url}/acme/demo/weave/calls#key=${key}`)
    await page.getByText('Add to a queue').click()
    await page.getByLabel('Its name').fill('mine')
    const add = page.getByRole('button', { name: 'Add', exact: true })
    await add.evaluate((button: { click(): void }) => {
      button.click()
      button.click()
    })
    await page.getByText('2 calls added').waitFor()
    const queue = page.getByLabel(/^\s*Queue/)
    await expect.poll(() => queue.locator('option:checked').textContent()).toBe('mine')
    await add.dispatchEvent('click', { detail: 2 })
    await add.click()
    await page.getByText('0 calls added').waitFor()
    expect(sent).toBe(2)
    const { text } = await post('/annotation_queues/query', { project_id: PROJECT })
    expect(text.trim().split('\n')).toHaveLength(1)
  })

  it('makes none for a filter without calls', async () => {
    const test = await openPage()
    const { page, url, key, post } = test
    await recordCalls(test, [{ id: 'a' }])
    await page.goto(`${url}/acme/demo/weave/calls?op=other#key=${key}`)
    await page.getByText('Add to a queue').click()
    await page.getByLabel('Its name').fill('mine')
    await page.getByRole('button', { name: 'Add', exact: true }).click()
    await page.locator('form').getByText('No calls match the filter.').waitFor()
    const { text } = await post('/annotation_queues/query', { project_id: PROJECT })
    expect(text).toBe('')
  })
})
