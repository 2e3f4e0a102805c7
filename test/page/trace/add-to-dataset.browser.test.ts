import { describe, expect, it } from 'vitest'
import { findBarriers, hasBrowser, openPage, PROJECT, recordCalls } from '../browser.ts'
import { publish, publishDataset } from '../evaluations/evaluation-fixtures.ts'

const LONG = '12345678901234567891'

async function openForm() {
  const test = await openPage()
  const { page, url, key, post } = test
  const inputs = {
    self: 'weave:///acme/demo/object/bot:abc',
    question: 'Why?',
    n: JSON.rawJSON(LONG),
  }
  const output = { choices: [{ message: { role: 'assistant', content: 'Because.' } }] }
  await recordCalls(test, [{ id: 'a', inputs, output }])
  const open = async () => {
    await page.goto(`${url}/acme/demo/weave/calls/a#key=${key}`)
    await page.getByText('Add to a dataset').click()
  }
  const add = async (name: string) => {
    await page.getByLabel('Dataset').fill(name)
    await page.getByRole('button', { name: 'Add the row' }).click()
  }
  const read = async (name: string) => {
    const { body } = await post('/obj/read', {
      project_id: PROJECT,
      object_id: name,
      digest: 'latest',
    })
    const digest = body.obj.val.rows.split('/').at(-1)
    const { text } = await post('/table/query', { project_id: PROJECT, digest })
    return { version: body.obj.version_index, val: body.obj.val, text }
  }
  return { ...test, open, add, read }
}

describe.skipIf(!hasBrowser)('adding a call to a dataset', () => {
  it('makes a new one, and of one that is there the next version, with the row as it was corrected', async () => {
    const test = await openForm()
    const { page, open, add, read, complaints } = test
    await publishDataset(test, 'questions', [{ question: 'How?' }], { description: 'hard ones' })
    await open()
    const row = page.getByLabel('Row')
    const drawn = `{\n  "question": "Why?",\n  "n": ${LONG},\n  "expected": "Because."\n}`
    expect(await row.inputValue()).toBe(drawn)
    await expect.poll(() => page.locator('#datasets option').count()).toBe(1)
    expect(await findBarriers(page)).toEqual([])
    await page.getByLabel('Dataset').fill('mine')
    // The first click is answered before the second.
    await page.getByRole('button', { name: 'Add the row' }).dblclick({ delay: 300 })
    await page.getByText('added to mine').waitFor()
    const made = await read('mine')
    expect(made.version).toBe(0)
    expect(made.text).toContain(`{"question":"Why?","n":${LONG},"expected":"Because."}`)
    await row.fill('{"question": "Why?", "expected": "Just so."}')
    await add('questions')
    await page.getByText('added to questions').waitFor()
    const grown = await read('questions')
    expect(grown.version).toBe(1)
    expect(grown.val).toMatchObject({ _class_name: 'Dataset', description: 'hard ones' })
    const rows = JSON.parse(grown.text).rows.map(({ val }: { val: unknown }) => val)
    expect(rows).toEqual([{ question: 'How?' }, { question: 'Why?', expected: 'Just so.' }])
    await page.getByRole('link', { name: 'questions' }).click()
    await page.getByText('2 rows').waitFor()
    expect(complaints.filter((words) => !/status of 404/.test(words))).toEqual([])
  })

  it('keeps the rows that others add at the same moment, and tells when they are those of an old version', async () => {
    const test = await openForm()
    const { page, open, add, read } = test
    await publishDataset(test, 'shared', [{ question: 'How?' }])
    await open()
    await page.getByLabel('Row').fill('{"question": "Why?"}')
    const others = ['Who?', 'When?', 'Where?'].map((question) => ({ question }))
    const rowsOf = async (name: string) => JSON.parse((await read(name)).text).rows
    const questions = async (name: string) =>
      (await rowsOf(name)).map(({ val }: { val: { question: string } }) => val.question)
    let n = 0
    // Between the page's read and its write, at each of its first tries.
    await page.route('**/obj/create', async (route) => {
      n += 1
      if (n <= 3)
        await publishDataset(test, 'shared', [{ question: 'How?' }, ...others.slice(0, n)])
      await route.continue()
    })
    await add('shared')
    await page.getByText('added to shared').waitFor()
    expect(await questions('shared')).toEqual(['How?', 'Who?', 'When?', 'Where?', 'Why?'])
    // Nobody has seen a latest version without rows of others.
    expect((await read('shared')).version).toBe(4)
    await publishDataset(test, 'old', [{ question: 'How?' }, { question: 'Why?' }])
    await publishDataset(test, 'old', [{ question: 'How?' }])
    await add('old')
    await page.getByText('the content is that of v0').waitFor()
    expect(await page.getByText('added to').count()).toBe(0)
    expect(await questions('old')).toEqual(['How?'])
    n = -10
    await page.route('**/obj/create', (route) =>
      route.fulfill({ status: 409, json: { error: { code: 'object_conflict', message: 'x' } } }),
    )
    await page.evaluate('Math.random = () => 0')
    await add('shared')
    await page.getByText('Others change shared all the time').waitFor()
  })

  it('refuses a row that is none, another object, and a key that may not write', async () => {
    const test = await openForm()
    const { page, url, open, add } = test
    await publish(test, 'bot', { _type: 'Model', _class_name: 'Model', _bases: ['Object'] })
    await open()
    await add('bot')
    await page.getByText('bot is not a dataset.').waitFor()
    await page.getByLabel('Row').fill('[1]')
    await add('mine')
    await page.getByText('The row is not a JSON object.').waitFor()
    // A field of many thousand lines would hold the page up.
    const many = Array.from({ length: 20_000 }, (_, n) => ({ n }))
    await recordCalls(test, [{ id: 'b', inputs: { many } }])
    await page.goto(`${url}/acme/demo/weave/calls/b`)
    await page.getByText('Add to a dataset').click()
    const text = await page.getByLabel('Row').inputValue()
    expect([text.includes('\n'), JSON.parse(text).many]).toEqual([false, many])
    const reader = await test.createKey({ scopes: ['traces:read'] })
    await page.goto(`${url}/acme/demo/weave/calls/a#key=${reader}`)
    await page.getByText('The key may not add feedback').waitFor()
    await expect.poll(() => page.getByText('Add to a dataset').count()).toBe(0)
  })
})
