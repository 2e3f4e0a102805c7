import type { Locator } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { findBarriers, hasBrowser, openPage, PROJECT } from '../browser.ts'
import { publish } from '../evaluations/evaluation-fixtures.ts'

const PROMPT = {
  _type: 'MessagesPrompt',
  _class_name: 'MessagesPrompt',
  _bases: ['Prompt', 'Object', 'BaseModel'],
  name: 'greet',
  description: 'for guests',
  format: 'weave:///acme/demo/op/MessagesPrompt.format:abc',
  messages: [
    { role: 'system', content: 'You greet {name}.' },
    { role: 'user', content: [{ type: 'text', text: 'Hello' }] },
  ],
}

async function openPrompt() {
  const test = await openPage()
  const { page, url, key, post } = test
  const ref = await publish(test, 'greet', PROMPT)
  const open = async (version = 'latest') => {
    await page.goto(`${url}/${PROJECT}/weave/objects/greet/versions/${version}#key=${key}`)
    await page.getByRole('link', { name: 'Edit', exact: true }).click()
    await page.getByText('Edit from v').waitFor()
  }
  const read = async (object_id: string) =>
    (await post('/obj/read', { project_id: PROJECT, object_id, digest: 'latest' })).body.obj
  return { ...test, ref, open, read }
}

describe.skipIf(!hasBrowser)('a prompt on the page', () => {
  it('has its buttons in one line, and shows what changes over most of the width', async () => {
    const { page, open } = await openPrompt()
    await page.setViewportSize({ width: 1440, height: 900 })
    await open()
    await page.getByLabel('Message 1', { exact: true }).fill('You greet {name} of {city}.')
    await page.getByText('What changes since v0').click()
    const boxOf = async (locator: Locator) => (await locator.boundingBox()) ?? { width: 0, y: -1 }
    const save = await boxOf(page.getByRole('button', { name: 'Save as v1' }))
    expect((await boxOf(page.getByRole('button', { name: 'Discard' }))).y).toBe(save.y)
    const table = await boxOf(page.locator('.changes'))
    const text = await boxOf(page.locator('.changes tbody td').first())
    expect(text.width / table.width).toBeGreaterThan(0.7)
  })

  it('is edited with its variables shown, and saved as a version with a message and its other members', async () => {
    const { page, open, read, complaints } = await openPrompt()
    await open()
    await page.getByText('Variables: {name}').waitFor()
    const save = page.getByRole('button', { name: 'Save as v1' })
    expect(await save.isDisabled()).toBe(true)
    await page.getByLabel('Message 1', { exact: true }).fill('You greet {name} of {city}.')
    await page.getByText('Variables: {name} {city}').waitFor()
    await page.getByLabel('Message 2', { exact: true }).fill('not JSON')
    await page.getByText('The edited message is not valid JSON.').waitFor()
    expect(await save.isDisabled()).toBe(true)
    await page
      .getByLabel('Message 2', { exact: true })
      .fill('[{"type": "text", "text": "Good day"}]')
    await page.getByRole('button', { name: 'Add a message' }).click()
    await page.getByLabel('Message 3', { exact: true }).fill('And now?')
    await page.getByLabel('Role').last().selectOption('assistant')
    await page.getByText('What changes since v0').click()
    await page.getByRole('row', { name: /messages\[2\]/ }).waitFor()
    expect(await findBarriers(page)).toEqual([])
    await page.getByLabel('What this version changes').fill('Names the city')
    await save.dblclick()
    await page.getByLabel('Versions').first().getByText('Names the city').waitFor()
    expect((await read('greet')).val).toEqual({
      ...PROMPT,
      messages: [
        { role: 'system', content: 'You greet {name} of {city}.' },
        { role: 'user', content: [{ type: 'text', text: 'Good day' }] },
        { role: 'assistant', content: 'And now?' },
      ],
    })
    expect(complaints).toEqual([])
  })

  it('of an old version is the start of the next; what others published meanwhile is a conflict', async () => {
    const test = await openPrompt()
    const { page, open, read } = test
    await publish(test, 'greet', { ...PROMPT, description: 'second' })
    await open('v0')
    await page.getByText('Edit from v0').waitFor()
    await page.getByLabel('Message 1', { exact: true }).fill('Short.')
    await publish(test, 'greet', { ...PROMPT, description: 'third' })
    await page.getByRole('button', { name: 'Save as v2' }).click()
    await page.getByText(/Nothing is saved: .* published v2 of greet/).waitFor()
    expect((await read('greet')).version_index).toBe(2)
    await page.getByRole('button', { name: 'Continue from v2 with my changes' }).click()
    await page.getByRole('button', { name: 'Save as v3' }).click()
    await expect.poll(async () => (await read('greet')).version_index).toBe(3)
    expect((await read('greet')).val).toMatchObject({
      description: 'for guests',
      messages: [{ content: 'Short.' }, {}],
    })
  })

  it('is made by the keyboard alone, and not under the name of another object', async () => {
    const test = await openPrompt()
    const { page, url, key, read } = test
    await publish(test, 'plain', { any: 'thing' })
    await publish(test, 'single', { content: 'One text.' })
    await page.goto(`${url}/${PROJECT}/weave/prompts#key=${key}`)
    await page.getByRole('link', { name: 'New prompt' }).press('Enter')
    await page.getByLabel('Remove message 1').press('Enter')
    await page.locator('textarea:focus[aria-label="Message 1"]').waitFor()
    expect(await findBarriers(page)).toEqual([])
    await page.keyboard.type('Say {word}')
    await page.getByLabel('Name of the prompt').focus()
    await page.keyboard.type('plain')
    await page.keyboard.press('Enter')
    await page.getByText('plain is the name of another object: choose another one.').waitFor()
    await page.getByLabel('Name of the prompt').fill('single')
    await page.getByLabel('Name of the prompt').press('Enter')
    await page.getByText('single is the name of another object: choose another one.').waitFor()
    await page.getByLabel('Name of the prompt').fill('say')
    await page.getByLabel('Name of the prompt').press('Enter')
    await page.getByRole('heading', { name: 'say' }).waitFor()
    expect(await read('say')).toMatchObject({
      base_object_class: 'Prompt',
      val: { name: 'say', messages: [{ role: 'user', content: 'Say {word}' }] },
    })
  })

  it('of one text has no roles and stays one', async () => {
    const test = await openPrompt()
    const { page, open, read } = test
    const val = { ...PROMPT, _type: 'StringPrompt', content: 'Say {a}', messages: undefined }
    await publish(test, 'greet', val)
    await open()
    await page.getByLabel('Text of the prompt').fill('Say {b}')
    expect(await page.getByLabel('Role').count()).toBe(0)
    await page.getByRole('button', { name: 'Save as v2' }).click()
    await expect.poll(async () => (await read('greet')).val.content).toBe('Say {b}')
    expect((await read('greet')).val.messages).toBeUndefined()
  })

  it('is saved although its message is not, which is reported, and is no conflict', async () => {
    const test = await openPrompt()
    const { page, open, read } = test
    await open()
    await page.route('**/feedback/create', (route) => route.abort())
    await page.getByLabel('Message 1', { exact: true }).fill('Short.')
    await page.getByLabel('What this version changes').fill('Shorter')
    await page.getByRole('button', { name: 'Save as v1' }).click()
    await page.getByText('v1 is saved, but its message is not: The server does not').waitFor()
    await page.getByText('It is the same as v1.').waitFor()
    expect((await read('greet')).version_index).toBe(1)
  })
})
