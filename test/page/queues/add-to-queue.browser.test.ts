import { describe, expect, it } from 'vitest'
import { buildSpan, spanId, toJsonRequest } from '../../otel/otel-fixtures.ts'
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

  it('offers no queues of spans, which rate what the API put into them', async () => {
    const test = await openPage()
    const { page, url, key, post } = test
    const sent = toJsonRequest([buildSpan({ span_id: spanId(1), name: 'think' })])
    await post('/v1/traces', sent, { headers: { project_id: PROJECT } })
    const queue = { project_id: PROJECT, name: 'steps', queue_type: 'span', scorer_refs: [] }
    const { id } = (await post('/annotation_queues', queue)).body
    const call_ids = [spanId(1)]
    await post(`/annotation_queues/${id}/items`, { project_id: PROJECT, call_ids })
    await page.goto(`${url}/acme/demo/weave/calls#key=${key}`)
    await page.getByText('Add to a queue').click()
    await page.getByLabel('Its name').waitFor()
    await page.waitForLoadState('networkidle')
    expect(
      await page
        .getByLabel(/^\s*Queue/)
        .locator('option')
        .allTextContents(),
    ).toEqual(['a new one'])
    await page.goto(`${url}/acme/demo/weave/queues`)
    await page.getByText('spans', { exact: true }).waitFor()
    await page.getByText('steps').click()
    await page.locator('.rate').getByText('think').waitFor()
    await page.keyboard.press('+')
    await page.keyboard.press('Enter')
    await page.getByText('1 of 1 done').waitFor()
  })
})
