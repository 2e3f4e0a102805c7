import { describe, expect, it } from 'vitest'
import { hasBrowser, openPage, PROJECT, recordCalls } from '../browser.ts'

describe.skipIf(!hasBrowser)('what was typed and not sent', () => {
  it('is there on the way back to the playground, and for nobody else', async () => {
    const test = await openPage()
    const { page, url, key, post, complaints } = test
    await recordCalls(test, [{ id: 'a' }])
    const started_at = new Date().toISOString()
    const other = { project_id: 'acme/other', id: 'b', trace_id: 'b', op_name: 'answer' }
    await post('/call/start', { start: { ...other, started_at, attributes: {}, inputs: {} } })
    await page.goto(`${url}/acme/demo/weave/playground#key=${key}`)
    const system = page.getByLabel('System')
    const message = page.getByLabel('Message', { exact: true })
    await system.fill('Be brief.')
    await page.getByLabel('max_completion_tokens').fill('8')
    await message.fill('Why?')
    await message.press('Enter')
    await page.getByText('complete after').waitFor()
    await message.fill('And then?')
    await page.getByRole('link', { name: 'the recorded call' }).click()
    await page.locator('.detail .facts').waitFor()
    await page.goBack()
    await expect.poll(() => message.inputValue()).toBe('And then?')
    expect(await system.inputValue()).toBe('Be brief.')
    expect(await page.getByLabel('max_completion_tokens').inputValue()).toBe('8')
    expect(await page.locator('.message').count()).toBe(2)
    await page.getByRole('button', { name: 'Project: acme/demo' }).click()
    await page.getByRole('link', { name: 'acme/other' }).click()
    await page.getByRole('link', { name: 'Playground' }).click()
    await expect.poll(() => message.inputValue()).toBe('')
    await page.goBack()
    await page.goBack()
    await expect.poll(() => message.inputValue()).toBe('And then?')
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByLabel('API key').fill(key)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await message.waitFor()
    expect(await message.inputValue()).toBe('')
    expect(await system.inputValue()).toBe('')
    expect(complaints).toEqual([])
  })

  it('is there on the way back to a replay, which begins anew from its link', async () => {
    const test = await openPage()
    const { page, url, key } = test
    const messages = [{ role: 'user', content: 'Why?' }]
    await recordCalls(test, [{ id: 'a', inputs: { model: 'tiny', messages } }])
    await page.goto(`${url}/acme/demo/weave/calls/a#key=${key}`)
    const replay = page.getByText('Replay in the playground')
    const message = page.getByLabel('Message', { exact: true })
    await replay.click()
    await message.fill('And then?')
    await page.goBack()
    await replay.waitFor()
    await page.goForward()
    await expect.poll(() => message.inputValue()).toBe('And then?')
    await page.goBack()
    await replay.click()
    await expect.poll(() => message.inputValue()).toBe('')
  })

  it('is there on the way back to a call of a queue', async () => {
    const test = await openPage()
    const { page, url, key, post } = test
    await recordCalls(test, [{ id: 'a' }, { id: 'b' }])
    const { body: queue } = await post('/annotation_queues', {
      project_id: PROJECT,
      name: 'q',
      scorer_refs: [],
    })
    const items = { project_id: PROJECT, call_ids: ['a', 'b'], display_fields: [] }
    await post(`/annotation_queues/${queue.id}/items`, items)
    await page.goto(`${url}/acme/demo/weave/queues/${queue.id}#key=${key}`)
    const good = page.getByRole('button', { name: 'Good' })
    const note = page.getByLabel('Note')
    await good.click()
    await page.keyboard.press('4')
    await note.fill('Right.')
    await page.getByRole('link', { name: 'trace', exact: true }).click()
    await page.locator('.detail .facts').waitFor()
    await page.goBack()
    await expect.poll(() => note.inputValue()).toBe('Right.')
    expect(await page.getByLabel('Number', { exact: false }).last().inputValue()).toBe('4')
    expect(await good.getAttribute('aria-pressed')).toBe('true')
    await page.getByRole('button', { name: 'Save and next' }).click()
    await page.getByText('1 of 2 done').waitFor()
    await expect.poll(() => note.inputValue()).toBe('')
  })
})
