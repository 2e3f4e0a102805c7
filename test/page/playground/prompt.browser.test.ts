import { describe, expect, it } from 'vitest'
import { findBarriers, hasBrowser, openPage, PROJECT } from '../browser.ts'
import { publish } from '../evaluations/evaluation-fixtures.ts'

const promptOf = (content: string) => ({
  _type: 'MessagesPrompt',
  _class_name: 'MessagesPrompt',
  _bases: ['Prompt', 'Object', 'BaseModel'],
  messages: [{ role: 'user', content }],
})

async function openPrompt() {
  const test = await openPage()
  const { page, url, key, post } = test
  const ref = await publish(test, 'sum', promptOf('What is {left} plus {right}?'))
  await page.goto(`${url}/${PROJECT}/weave/objects/sum/versions/latest#key=${key}`)
  await page.getByRole('link', { name: 'Try in the playground' }).click()
  await page.getByRole('region', { name: 'Prompt' }).waitFor()
  const readInputs = async () => {
    const body = { project_id: PROJECT, sort_by: [{ field: 'started_at', direction: 'asc' }] }
    const { text } = await post('/calls/stream_query', body)
    return text
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line).inputs)
  }
  return { ...test, ref, readInputs }
}

describe.skipIf(!hasBrowser)('a prompt in the playground', () => {
  it('is tried with variables, changed, saved as the next version, and named by the calls', async () => {
    const { page, ref, post, readInputs, complaints } = await openPrompt()
    const run = page.getByRole('button', { name: 'Run the prompt' })
    const values = page.getByRole('group', { name: 'Values of variables' })
    await page.getByLabel('temperature', { exact: true }).fill('0')
    await values.getByLabel('left').fill('3')
    await values.getByLabel('right').fill('4')
    expect(await findBarriers(page)).toEqual([])
    await run.press('Enter')
    await page.getByText('the recorded call').waitFor()
    const answer = page.locator('.message[data-role="assistant"]')
    await expect.poll(() => answer.innerText()).toContain('7')
    await expect.poll(readInputs).toHaveLength(1)
    const [first] = await readInputs()
    expect(first).toMatchObject({
      messages: [{ role: 'user', content: 'What is 3 plus 4?' }],
      prompt: ref,
      temperature: 0,
    })
    // Braces of the conversation are no variables.
    await page.getByLabel('Message', { exact: true }).fill('And {left}?')
    await page.getByText('Send', { exact: true }).click()
    await expect.poll(readInputs).toHaveLength(2)
    expect((await readInputs())[1].messages.at(-1).content).toBe('And {left}?')
    await page.getByLabel('Message 1', { exact: true }).fill('How much is {left} plus {right}?')
    await page.getByText('changed since v0').waitFor()
    await page.getByText('What changes since v0').click()
    await expect.poll(() => page.locator('.changes ins').allTextContents()).toContain('How much')
    expect(await findBarriers(page)).toEqual([])
    await run.click()
    await expect.poll(readInputs).toHaveLength(3)
    const changed = (await readInputs())[2]
    expect(changed.messages).toEqual([{ role: 'user', content: 'How much is 3 plus 4?' }])
    expect(changed.prompt).toBeUndefined()
    await page.getByLabel('What this version changes').fill('Plainer')
    await page.getByRole('button', { name: 'Save as v1' }).click()
    await page.getByRole('heading', { name: 'sum v1' }).waitFor()
    expect(await page.getByRole('button', { name: /Save as/ }).count()).toBe(0)
    await run.click()
    await expect.poll(readInputs).toHaveLength(4)
    const saved = { project_id: PROJECT, object_id: 'sum', digest: 'v1' }
    const { obj } = (await post('/obj/read', saved)).body
    expect((await readInputs())[3].prompt).toBe(`weave:///${PROJECT}/object/sum:${obj.digest}`)
    await page.getByLabel('Prompt', { exact: true }).getByRole('link', { name: 'sum' }).click()
    await page.getByLabel('Versions').first().getByText('Plainer').waitFor()
    expect(complaints).toEqual([])
  })

  it('keeps what is typed while it is saved', async () => {
    const { page } = await openPrompt()
    const gate = Promise.withResolvers<void>()
    await page.route('**/obj/create', async (route) => {
      await gate.promise
      await route.continue()
    })
    const message = page.getByLabel('Message 1', { exact: true })
    await message.fill('Add {left}.')
    const begun = page.waitForRequest('**/obj/create')
    await page.getByRole('button', { name: 'Save as v1' }).click()
    await begun
    await message.fill('Add {left} and {right}.')
    await page.getByLabel('right', { exact: true }).fill('4')
    gate.resolve()
    await page.getByRole('button', { name: 'Save as v2' }).waitFor()
    expect(await message.inputValue()).toBe('Add {left} and {right}.')
    expect(await page.getByLabel('right', { exact: true }).inputValue()).toBe('4')
  })

  it('may be tried by a key that may not write, which cannot save it', async () => {
    const { page, url, createKey } = await openPrompt()
    const reader = await createKey({ scopes: ['traces:read', 'inference'] })
    await page.goto('about:blank')
    await page.goto(`${url}/${PROJECT}/weave/playground?prompt=sum:v0#key=${reader}`)
    await page.getByRole('button', { name: 'Run the prompt' }).waitFor()
    expect(await page.getByRole('button', { name: /Save as/ }).count()).toBe(0)
    await page.goto(`${url}/${PROJECT}/weave/playground?prompt=none:v0`)
    await page.getByRole('alert').first().waitFor()
  })

  it('is not sent with the next message by the button that stops the answer', async () => {
    const { page } = await openPrompt()
    await page.route('**/completions/create_stream', () => undefined)
    const field = page.getByLabel('Message', { exact: true })
    await page.getByRole('button', { name: 'Run the prompt' }).click()
    await field.fill('not yet')
    await page.getByText('Stop', { exact: true }).click()
    await page.getByText('Send', { exact: true }).waitFor()
    expect(await field.inputValue()).toBe('not yet')
    await page.locator('button:focus').getByText('Send', { exact: true }).waitFor()
  })
})
