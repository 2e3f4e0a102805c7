import { describe, expect, it } from 'vitest'
import { findBarriers, hasBrowser, MARKUP, openPage, PROJECT, recordCalls } from '../browser.ts'

const QUESTION = 'What is 3 plus 4?'

type TestPage = Awaited<ReturnType<typeof openPage>>

/** The calls of the project; a completion stands among them a moment after its answer. */
async function readInputs(post: TestPage['post']): Promise<{ id: string; inputs: unknown }[]> {
  const { text } = await post('/calls/stream_query', { project_id: PROJECT, columns: ['inputs'] })
  const lines = text.split('\n').filter((line) => line !== '')
  return lines.map((line) => JSON.parse(line))
}

describe.skipIf(!hasBrowser)('the playground in a browser', () => {
  it('chats with two models side by side, by parameters of the schema, and colours tokens', async () => {
    const test = await openPage()
    const { page, url, key, post, complaints } = test
    await page.goto(`${url}/acme/demo/weave/playground?model=tiny#key=${key}`)
    await page.getByLabel('temperature', { exact: true }).fill('0')
    await page.getByLabel('max_completion_tokens').fill('12')
    await page.getByLabel('logprobs', { exact: true }).selectOption('true')
    await page.getByLabel('top_logprobs').fill('2')
    await page.getByText('All other parameters').click()
    await page.getByLabel('presence_penalty').fill('0.5')
    await page.getByText('Compare with another model').click()
    await page.locator('.pane:last-child select:focus').waitFor()
    await expect.poll(() => page.locator('.pane select').first().inputValue()).toBe('tiny')
    await page.getByLabel('Message', { exact: true }).fill(QUESTION)
    await page.getByText('Send', { exact: true }).click()
    const answers = page.locator('.message[data-role="assistant"]')
    await expect.poll(() => page.getByText('the recorded call').count()).toBe(2)
    await expect.poll(() => page.getByText('complete after').count()).toBe(2)
    await expect.poll(() => answers.count()).toBe(2)
    await expect.poll(() => page.locator('.tokens .token').count()).toBeGreaterThan(3)
    await expect
      .poll(() => page.locator('.tokens .token').first().getAttribute('title'))
      .toContain('%')
    expect(await findBarriers(page)).toEqual([])
    await expect.poll(() => readInputs(post)).toHaveLength(2)
    for (const { inputs } of await readInputs(post)) {
      expect(inputs).toMatchObject({
        messages: [{ role: 'user', content: QUESTION }],
        temperature: 0,
        max_completion_tokens: 12,
        logprobs: true,
        top_logprobs: 2,
        presence_penalty: 0.5,
      })
    }
    // The second half of a double click on Send.
    const held = Promise.withResolvers<void>()
    await page.route('**/v1/chat/completions', async (route) => {
      await held.promise
      await route.continue().catch(() => undefined)
    })
    await page.getByLabel('Message', { exact: true }).fill(QUESTION)
    await page.getByText('Send', { exact: true }).click()
    await page.getByText('Stop', { exact: true }).dispatchEvent('click', { detail: 2 })
    held.resolve()
    await page.getByText('Send', { exact: true }).waitFor()
    await expect.poll(() => answers.count()).toBe(4)
    await page.getByText('Close', { exact: true }).last().click()
    await page.locator('.pane select:focus').waitFor()
    expect(complaints).toEqual([])
  })

  it('says that an answer was stopped or cut off, not that it is complete', async () => {
    const { page, url, key } = await openPage()
    await page.route('**/v1/chat/completions', () => undefined)
    await page.goto(`${url}/acme/demo/weave/playground?model=tiny#key=${key}`)
    await page.getByLabel('Message', { exact: true }).fill(QUESTION)
    await page.getByText('Send', { exact: true }).click()
    await page.getByText('Stop', { exact: true }).click()
    await page.getByText(/^stopped after/).waitFor()
    const body = 'data: {"choices":[{"delta":{"content":"It is"}}]}\n\n'
    await page.route('**/v1/chat/completions', (route) => route.fulfill({ body }))
    await page.getByRole('button', { name: 'Regenerate' }).click()
    await page.getByText('The answer was cut off.').waitFor()
    await page.getByText('It is').waitFor()
    expect(await page.getByText('complete after').count()).toBe(0)
  })

  it('continues with both models from the same messages, and lets both answer the last one again', async () => {
    const test = await openPage()
    const { page, url, key, post } = test
    await page.goto(`${url}/acme/demo/weave/playground?model=tiny#key=${key}`)
    await page.getByLabel('max_completion_tokens').fill('8')
    const message = page.getByLabel('Message', { exact: true })
    const whole = page.getByText('complete after')
    await message.fill(QUESTION)
    await message.press('Shift+Enter')
    await message.pressSequentially('Be brief.')
    await message.press('Enter')
    await whole.waitFor()
    expect(await message.inputValue()).toBe('')
    await page
      .locator('.message .text', { hasText: new RegExp(`${QUESTION.slice(0, -1)}.\\nBe brief`) })
      .waitFor()
    await page.locator('[role=status]', { hasText: 'complete after' }).waitFor()
    await page.getByText('Compare with another model').click()
    for (const name of ['Chat 1 with tiny', 'Chat 2 with the default model'])
      await page.getByRole('region', { name }).waitFor()
    await message.fill('And then?')
    await message.press('Enter')
    await expect.poll(() => whole.count()).toBe(2)
    await page.getByText('Regenerate').click()
    const rolesAsked = async () => {
      const calls = await readInputs(post)
      return calls
        .map(({ inputs }) => (inputs as { messages: { role: string }[] }).messages)
        .map((messages) => messages.map(({ role }) => role).join())
        .sort()
    }
    const later = Array.from({ length: 4 }, () => 'user,assistant,user')
    await expect.poll(rolesAsked).toEqual(['user', ...later])
  })

  it('replays a recorded call with changes, and runs nothing that stands in it', async () => {
    const test = await openPage()
    const { page, url, key, post } = test
    const messages = [
      { role: 'system', content: MARKUP },
      { role: 'user', content: `${QUESTION} ${MARKUP}` },
    ]
    await recordCalls(test, [
      {
        id: 'a',
        output: { choices: [{ message: { role: 'assistant', content: MARKUP } }] },
        inputs: { model: 'tiny', messages, max_tokens: 7, seed: 5 },
      },
    ])
    await page.goto(`${url}/acme/demo/weave/calls/a#key=${key}`)
    await page.getByText('Replay in the playground').click()
    await page.locator('.pane .message').first().waitFor()
    await expect.poll(() => page.getByLabel('max_completion_tokens').inputValue()).toBe('7')
    await expect.poll(() => page.getByLabel('seed', { exact: true }).inputValue()).toBe('5')
    await page.getByText('edit', { exact: true }).last().press('Enter')
    const editor = page.getByLabel('Message of user')
    await editor.and(page.locator(':focus')).fill('What is 2 plus 2?')
    await page.getByText('remove', { exact: true }).first().click()
    await page.locator('button:focus', { hasText: 'Cancel' }).waitFor()
    await page.getByText('Apply', { exact: true }).press('Enter')
    await page.locator('button:focus', { hasText: 'edit' }).waitFor()
    await page.getByText('Regenerate').click()
    await page.getByText('complete after').waitFor()
    const others = async () => (await readInputs(post)).filter(({ id }) => id !== 'a')
    const replayed = { messages: [{ role: 'user', content: 'What is 2 plus 2?' }], seed: 5 }
    await expect.poll(others).toMatchObject([{ inputs: replayed }])
    // What is being edited counts as done, and stays where it is when nothing is sent.
    await page.getByText('edit', { exact: true }).first().click()
    await editor.fill('What is 3 plus 3?')
    const message = page.getByLabel('Message', { exact: true })
    await message.fill('And then?')
    await page.getByLabel('tools', { exact: true }).fill('[{')
    await message.press('Enter')
    await page.getByText('tools is not valid JSON.').waitFor()
    await page.getByLabel('tools', { exact: true }).fill('')
    await message.press('Enter')
    await expect.poll(() => editor.count()).toBe(0)
    await expect.poll(async () => (await others()).length).toBe(2)
    expect((await others()).map(({ inputs }) => inputs)).toContainEqual(
      expect.objectContaining({
        messages: [
          { role: 'user', content: 'What is 3 plus 3?' },
          expect.objectContaining({ role: 'assistant' }),
          { role: 'user', content: 'And then?' },
        ],
      }),
    )
    expect(await page.evaluate('window.wasRun')).toBeUndefined()
  })

  it('replays a call of a model that is not served with the default one, and says so', async () => {
    const test = await openPage()
    const { page, url, key, complaints } = test
    const messages = [{ role: 'user', content: QUESTION }]
    await recordCalls(test, [{ id: 'far', inputs: { model: 'far-model', messages } }])
    await page.goto(`${url}/acme/demo/weave/playground?call=far#key=${key}`)
    await page.getByText('far-model, which is not served here').waitFor()
    expect(await page.locator('.pane select').inputValue()).toBe('')
    expect(complaints).toEqual([])
  })

  it('tells of a refusal, of a text that is no JSON, and a key that may not ask', async () => {
    const test = await openPage()
    const { page, url, key } = test
    await page.goto(`${url}/acme/demo/weave/playground#key=${key}`)
    await page.getByText('insert a tool').click()
    await page.getByLabel('tools', { exact: true }).fill('[{')
    await page.getByLabel('Message', { exact: true }).fill(QUESTION)
    await page.getByText('Send', { exact: true }).click()
    await page.getByText('tools is not valid JSON.').waitFor()
    await page.getByLabel('tools', { exact: true }).fill('')
    await page.getByLabel('temperature', { exact: true }).fill('7')
    await page.getByLabel('Message', { exact: true }).fill(QUESTION)
    await page.getByText('Send', { exact: true }).click()
    await page.getByText('temperature').nth(1).waitFor()
    const reader = await test.createKey({ scopes: ['traces:read'] })
    await page.goto(`${url}/acme/demo/weave/playground#key=${reader}`)
    await page.getByText('lacks inference').waitFor()
  })

  it('leaves the focus in the message while the server is requested again', async () => {
    const { page, url, key } = await openPage()
    let requests = 0
    await page.route('**/openapi.json', (route) => {
      requests += 1
      return route.abort()
    })
    await page.goto(`${url}/${PROJECT}/weave/playground#key=${key}`)
    const message = page.getByLabel('Message', { exact: true })
    await message.fill('kept')
    const before = requests
    await expect.poll(() => requests, { timeout: 15_000 }).toBeGreaterThan(before)
    expect(await page.locator('textarea:focus').inputValue()).toBe('kept')
    await page.unroute('**/openapi.json')
    await page.getByLabel('temperature', { exact: true }).waitFor()
    expect(await page.locator('textarea:focus').inputValue()).toBe('kept')
  })
})
