import { describe, expect, it } from 'vitest'
import { findBarriers, hasBrowser, openPage, PROJECT } from '../browser.ts'
import { publishDataset } from '../evaluations/evaluation-fixtures.ts'

const LONG = '12345678901234567891'

async function openEditor(rows: readonly object[]) {
  const test = await openPage()
  const { page, url, key, post } = test
  await publishDataset(test, 'questions', rows, { description: 'hard ones' })
  const address = `${url}/${PROJECT}/weave/objects/questions/versions/latest`
  const open = async () => {
    await page.goto(`${address}#key=${key}`)
    await page.getByRole('link', { name: 'Edit', exact: true }).click()
    await page.getByText('Edit the rows of').waitFor()
  }
  const read = async (name: string) => {
    const named = { project_id: PROJECT, object_id: name, digest: 'latest' }
    const { obj } = (await post('/obj/read', named)).body
    const table = { project_id: PROJECT, digest: obj.val.rows.split('/').at(-1) }
    const { text, body } = await post('/table/query', table)
    return { obj, text, rows: body.rows.map(({ val }: { val: object }) => val) }
  }
  return { ...test, address, open, read }
}

describe.skipIf(!hasBrowser)('the rows of a dataset on the page', () => {
  it('are changed, removed and added, shown before they are saved as the next version with a message', async () => {
    const { page, open, read, complaints } = await openEditor([
      { question: 'How?' },
      { question: 'Why?', n: JSON.rawJSON(LONG) },
      { question: 'Who?' },
    ])
    await open()
    const rows = page.getByRole('table', { name: 'Rows to edit' })
    await rows.getByText('Why?').click()
    const editor = page.getByLabel('Row to edit', { exact: true })
    const field = editor.getByLabel('The row, a JSON object')
    expect(await field.inputValue()).toContain(LONG)
    await field.fill('[1]')
    await editor.getByText('The row is not a JSON object.').waitFor()
    await field.fill(`{"question": "Why not?", "n": ${LONG}}`)
    await page.getByText('3 rows: 0 added, 0 removed, 1 changed').waitFor()
    expect(await findBarriers(page)).toEqual([])
    await rows.getByText('How?').click()
    await editor.getByRole('button', { name: 'Remove the row' }).click()
    const paste = page.getByLabel('JSON (an object')
    await paste.fill('question,expected\nWhere?,"Here, there"\nWhen?')
    await page.getByRole('button', { name: 'Add 2 rows' }).click()
    await page.getByText('4 rows: 2 added, 1 removed, 1 changed').waitFor()
    // Other views are shown meanwhile.
    await page.getByRole('link', { name: 'Objects', exact: true }).first().click()
    await page.goBack()
    await page.getByText('4 rows: 2 added, 1 removed, 1 changed').waitFor()
    await page.getByRole('button', { name: 'Show what changes' }).click()
    const changes = page.getByRole('table', { name: 'Differences of rows' })
    await expect
      .poll(() => changes.locator('.change').allTextContents())
      .toEqual(['removed', 'changed', 'added', 'added'])
    expect(await findBarriers(page)).toEqual([])
    // A change that is made after the review is part of it.
    await rows.getByText('Why not?').click()
    await changes.getByText('Why not?').click()
    const difference = page.getByRole('region', { name: 'Differences of the row' })
    await difference.getByText('not').waitFor()
    await field.fill(`{"question": "Why ever?", "n": ${LONG}}`)
    await difference.getByText('ever').waitFor()
    await page.getByLabel('What this version changes').fill('Better questions')
    await page.getByRole('button', { name: 'Save as v1' }).dblclick()
    await page.getByRole('heading', { name: '4 rows', exact: true }).waitFor()
    await page.getByText('Better questions').first().waitFor()
    const saved = await read('questions')
    expect(saved.obj).toMatchObject({ version_index: 1, val: { description: 'hard ones' } })
    expect(saved.text).toContain(LONG)
    expect(saved.rows).toMatchObject([
      { question: 'Why ever?' },
      { question: 'Who?' },
      { question: 'Where?', expected: 'Here, there' },
      { question: 'When?', expected: '' },
    ])
    expect(complaints).toEqual([])
  })

  it('that others changed meanwhile are a conflict, which says whose version it is, and after which nothing is lost', async () => {
    const test = await openEditor([{ n: 'one' }, { n: 'two' }, { n: 'three' }])
    const { page, open, read } = test
    await open()
    const rows = page.getByRole('table', { name: 'Rows to edit' })
    const change = async (row: string, text: string) => {
      await rows.getByText(row, { exact: true }).click()
      await page.getByLabel('The row, a JSON object').fill(text)
      await page.getByRole('button', { name: 'close' }).click()
    }
    await change('two', '{"n": "second"}')
    await change('three', '{"n": "third"}')
    await publishDataset(test, 'questions', [{ n: 'zero' }, { n: 'one' }, { n: 'two' }])
    await page.getByRole('button', { name: 'Show what changes' }).click()
    await page.getByRole('button', { name: 'Save as v1' }).click()
    const conflict = page.getByRole('alert')
    await conflict.getByText(/Nothing is saved: .* published v1 of questions at/).waitFor()
    expect((await read('questions')).obj.version_index).toBe(1)
    await conflict.getByRole('button', { name: 'Continue from v1 with my changes' }).click()
    await page.getByText('1 of the changed rows is no longer in v1, and is added as new.').waitFor()
    await page.getByRole('button', { name: 'Save as v2' }).click()
    await page.getByRole('heading', { name: '4 rows', exact: true }).waitFor()
    const expected = ['zero', 'one', 'second', 'third'].map((n) => ({ n }))
    expect((await read('questions')).rows).toEqual(expected)
  })

  it('make a new dataset by the keyboard alone, under a name that is free', async () => {
    const { page, url, key, read } = await openEditor([])
    await page.goto(`${url}/${PROJECT}/weave/datasets#key=${key}`)
    await page.getByRole('link', { name: 'New dataset' }).press('Enter')
    await page.getByRole('heading', { name: 'New dataset' }).waitFor()
    expect(await findBarriers(page)).toEqual([])
    await page.getByLabel('JSON (an object').focus()
    await page.keyboard.type('{"city": "Paris"}')
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await page.getByText('1 row: 1 added').waitFor()
    await page.getByLabel('Name of the dataset').focus()
    await page.keyboard.type('questions')
    await page.keyboard.press('Enter')
    await page.getByText(/published v0 of questions/).waitFor()
    await page.getByLabel('JSON (an object').fill('{"city": "Rome"}')
    await page.getByLabel('Name of the dataset').fill('cities')
    await page.getByLabel('Name of the dataset').press('Enter')
    await page.getByText('Add the rows that are typed').waitFor()
    await page.getByRole('button', { name: 'Add 1 row' }).click()
    await page.getByLabel('Name of the dataset').press('Enter')
    await page.getByRole('heading', { name: 'cities' }).waitFor()
    expect((await read('cities')).rows).toEqual([{ city: 'Paris' }, { city: 'Rome' }])
  })

  it('are not edited by a key that may not write', async () => {
    const { page, url, address, createKey } = await openEditor([{ n: 1 }])
    const reader = await createKey({ scopes: ['traces:read'] })
    await page.goto(`${address}?edit=1#key=${reader}`)
    await page.getByText('1 row', { exact: true }).waitFor()
    expect(await page.getByText('Edit the rows of').count()).toBe(0)
    expect(await page.getByRole('link', { name: 'Edit', exact: true }).count()).toBe(0)
    await page.goto(`${url}/${PROJECT}/weave/datasets?new=dataset`)
    await page.getByRole('link', { name: 'questions' }).waitFor()
    expect(await page.getByRole('link', { name: 'New dataset' }).count()).toBe(0)
  })
})
