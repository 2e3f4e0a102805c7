import { describe, expect, it } from 'vitest'
import { findBarriers, hasBrowser, MARKUP, openPage, PROJECT, recordCalls } from '../browser.ts'
import {
  publish,
  publishDataset,
  publishEvaluation,
  publishModel,
  publishOp,
} from '../evaluations/evaluation-fixtures.ts'

const ROWS = Array.from({ length: 10_000 }, (_, at) => ({
  id: `r${at}`,
  n: 10_000 - at,
  text: `row ${at}`,
}))

const addressOf = (ref: string) => {
  const [, kind, name, digest] = /\/(op|object)\/([^:]+):(.*)$/.exec(ref) ?? []
  return `/${PROJECT}/weave/${kind}s/${name}/versions/${digest}`
}

describe.skipIf(!hasBrowser)('objects on the page', () => {
  it('are listed by kind, and found by name', async () => {
    const test = await openPage()
    const { page, url, key, put, complaints } = test
    const { ref } = await publishDataset(test, 'questions', [{ a: 1 }])
    await publishModel(test, 'bot', { temperature: 1 })
    await publishOp(test, 'answer', 'def answer(): pass')
    await publish(test, 'plain', { any: 'thing' })
    const digest = ref.slice(ref.lastIndexOf(':') + 1)
    const aliases = { project_id: PROJECT, digest, aliases: ['gold'] }
    expect((await put('/objs/questions/aliases', aliases)).status).toBe(200)
    await page.goto(`${url}/${PROJECT}/weave/objects#key=${key}`)
    const names = () => page.locator('[aria-label="Objects"] [role=row] a').allTextContents()
    await expect.poll(names).toEqual(['plain', 'answer', 'bot', 'questions'])
    await page.getByText('gold').waitFor()
    expect(await findBarriers(page)).toEqual([])
    await page.getByLabel('Kinds of objects').getByText('Others').click()
    await expect.poll(names).toEqual(['plain'])
    await page.goto(`${url}/${PROJECT}/weave/datasets`)
    await expect.poll(names).toEqual(['questions'])
    await page.getByLabel('Name').fill('no such')
    await expect.poll(names).toEqual([])
    expect(complaints).toEqual([])
  })

  it('show a dataset of 10,000 rows by the link that the SDK prints, with few rows in the document', async () => {
    const test = await openPage()
    const { page, url, key, complaints } = test
    const { ref } = await publishDataset(test, 'large', ROWS)
    await page.goto(`${url}${addressOf(ref)}#key=${key}`)
    await page.getByText('10,000 rows').waitFor()
    const rows = page.getByRole('table', { name: 'Rows' })
    await rows.getByText('row 0', { exact: true }).waitFor()
    await expect.poll(() => rows.locator('[role=row]').count()).toBeLessThan(60)
    await rows.locator('.window-list').evaluate((list) => list.scrollTo(0, list.scrollHeight))
    await rows.getByText('row 9999', { exact: true }).waitFor()
    await expect.poll(() => rows.locator('[role=row]').count()).toBeLessThan(60)
    await rows.locator('.window-list').evaluate((list) => list.scrollTo(0, 0))
    await rows.getByRole('button', { name: 'n', exact: true }).click()
    await rows.getByText('row 9999', { exact: true }).waitFor()
    // Sorting by keyboard keeps the focus.
    await expect.poll(() => page.evaluate('document.activeElement.textContent')).toBe('n ↑')
    await rows.getByText('row 9999', { exact: true }).click()
    await page.getByLabel('Row', { exact: true }).getByText('r9999').waitFor()
    await expect.poll(() => page.url()).toMatch(/row=\w{20}/)
    expect(await findBarriers(page)).toEqual([])
    await page.keyboard.press('Escape')
    await expect.poll(() => page.locator('.row-panel').count()).toBe(0)
    expect(complaints).toEqual([])
  })

  it('show how versions differ: members, rows and code', async () => {
    const test = await openPage()
    const { page, url, key, complaints } = test
    await publishDataset(test, 'questions', ROWS.slice(0, 3), { description: 'few' })
    const later = [{ ...ROWS[0], text: 'other' }, ROWS[2]!, { id: 'new', n: 0, text: 'added' }]
    const { ref } = await publishDataset(test, 'questions', later, {
      description: 'a\nlong\nstory',
    })
    await publishOp(test, 'answer', 'def answer():\n    return 1\n')
    const op = await publishOp(test, 'answer', 'def answer():\n    return 2\n')
    await page.goto(`${url}${addressOf(ref)}#key=${key}`)
    await page.getByText('2 versions').waitFor()
    await page.getByLabel('Differences from').selectOption({ index: 1 })
    await page.getByText('1 added, 1 removed, 1 changed').waitFor()
    await expect.poll(() => page.url()).toContain('against=')
    await page
      .getByRole('row', { name: /description/ })
      .getByText('story')
      .waitFor()
    const row = page.getByLabel('Differences of the row')
    await row.getByText('row 0').waitFor()
    await row.getByText('other').waitFor()
    expect(await findBarriers(page)).toEqual([])
    await page.goto(`${url}${addressOf(op)}`)
    await page.getByLabel('Code').getByText('return 2').waitFor()
    await page.getByLabel('Differences from').selectOption({ index: 1 })
    const lines = page.locator('.lines .line')
    await expect
      .poll(() => lines.allTextContents())
      .toEqual(['  def answer():\n', '-     return 1\n', '+     return 2\n', '  \n'])
    expect(await findBarriers(page)).toEqual([])
    expect(complaints).toEqual([])
  })

  it('lead to the calls that used them', async () => {
    const test = await openPage()
    const { page, url, key } = test
    const op = await publishOp(test, 'answer', 'def answer(): pass')
    const model = await publishModel(test, 'bot', { temperature: 1, op })
    await recordCalls(test, [
      { id: 'a', op_name: op, inputs: { self: model } },
      { id: 'b', op_name: 'other' },
    ])
    for (const ref of [model, op]) {
      await page.goto(`${url}${addressOf(ref)}#key=${key}`)
      const used = page.getByLabel('Calls that used it').first()
      await used.getByText('1 in all').click()
      await expect.poll(() => page.locator('.row.call').count()).toBe(1)
      await expect
        .poll(() => page.locator('.row.call a').getAttribute('href'))
        .toMatch(/\/calls\?.*open=a$/)
    }
    await page.goto(`${url}${addressOf(model)}`)
    await page
      .getByRole('link', { name: /^answer:/ })
      .first()
      .click()
    await page.getByLabel('Code').waitFor()
  })

  it('show texts as texts, whatever is in them', async () => {
    const test = await openPage()
    const { page, url, key, complaints } = test
    const fields = {
      description: MARKUP,
      [MARKUP]: MARKUP,
      messages: [{ role: MARKUP, content: MARKUP }],
    }
    const rows = [{ [MARKUP]: MARKUP, id: 1 }]
    await publishDataset(test, 'evil', [{ ...rows[0], id: 2 }])
    const { ref } = await publishDataset(test, 'evil', rows, fields)
    await publishOp(test, 'code', 'pass')
    const op = await publishOp(test, 'code', MARKUP)
    const model = await publish(test, 'classed', {
      _type: MARKUP,
      _class_name: MARKUP,
      _bases: ['Object', 'BaseModel'],
    })
    for (const [address, sign] of [
      [`/${PROJECT}/weave/objects`, '[role=cell]'],
      [addressOf(model), '.facts'],
      [`${addressOf(ref)}?against=v0`, '.changes'],
      [addressOf(ref), '.message'],
      [`${addressOf(op)}?against=v0`, '.lines'],
      [addressOf(op), 'pre.code'],
    ] as const) {
      await page.goto(`${url}${address}#key=${key}`)
      await page.locator(sign).first().waitFor()
      await expect.poll(() => page.locator('main').innerText()).toContain('onerror')
    }
    expect(await page.evaluate('window.wasRun')).toBeUndefined()
    expect(complaints).toEqual([])
  })

  it('get and lose tags and aliases, by users who may write', async () => {
    const test = await openPage()
    const { page, url, key, createKey, complaints } = test
    const ref = await publish(test, 'prompt', { text: 'one' })
    await publish(test, 'prompt', { text: 'two' })
    await page.goto(`${url}${addressOf(ref)}#key=${key}`)
    const facts = page.locator('.facts')
    const add = async (kind: string, name: string, button = 'Add') => {
      await page.getByLabel('Tag or alias', { exact: true }).selectOption(kind)
      await page.getByLabel('Name of the tag or alias').fill(name)
      await page.getByRole('button', { name: button, exact: true }).click()
    }
    await add('tag', 'checked')
    await facts.getByText('checked').waitFor()
    await add('alias', 'production')
    await facts.getByText('production').waitFor()
    await page.getByLabel('Versions').first().getByText('production').waitFor()
    expect(await findBarriers(page)).toEqual([])
    await add('alias', 'v7')
    await page.getByRole('alert').waitFor()
    expect(await page.getByLabel('Name of the tag or alias').inputValue()).toBe('v7')
    await page.goto(`${url}/${PROJECT}/weave/objects/prompt/versions/v1`)
    await add('alias', 'production', 'Move from v0')
    await facts.getByText('production').waitFor()
    await page.goto(`${url}/${PROJECT}/weave/objects/prompt/versions/production`)
    await page.getByText('two').waitFor()
    await page.getByLabel('Remove the alias production').click()
    await expect.poll(() => facts.getByText('production').count()).toBe(0)
    await page.goto(`${url}${addressOf(ref)}`)
    await page.getByLabel('Remove the tag checked').click()
    await page.locator('input:focus[aria-label="Name of the tag or alias"]').waitFor()
    await expect.poll(() => facts.getByText('checked').count()).toBe(0)
    const reader = await createKey({ scopes: ['traces:read'] })
    await page.goto('about:blank')
    await page.goto(`${url}${addressOf(ref)}#key=${reader}`)
    await facts.getByText('Tags and aliases').waitFor()
    await expect.poll(() => page.getByRole('button', { name: 'Add', exact: true }).count()).toBe(0)
    expect(complaints.filter((text) => !text.includes('422'))).toEqual([])
  })

  it('say what is missing', async () => {
    const test = await openPage()
    const { page, url, key } = test
    await page.goto(`${url}/${PROJECT}/weave/objects/none/versions/v3#key=${key}`)
    await page.getByRole('alert').waitFor()
    await page.waitForLoadState('networkidle')
    // There is nothing to choose from.
    expect(await page.getByRole('table', { name: 'Versions' }).count()).toBe(0)
    await page.goto(`${url}/${PROJECT}/weave/objects`)
    await page.getByText('No objects yet').waitFor()
    const dataset = await publishDataset(test, 'questions', [])
    await publishEvaluation(test, 'exam', dataset.ref)
    await page.goto(`${url}${addressOf(dataset.ref)}?row=abc`)
    await page.getByText('The table has no such row.').waitFor()
    await page.goto(`${url}/${PROJECT}/weave/objects/exam/versions/latest`)
    await page.getByRole('link', { name: /^questions:/ }).click()
    await page.getByText('0 rows').waitFor()
    await page.route('**/objs/query', (route) => route.abort())
    await page.reload()
    await page.getByText('The server does not answer.').waitFor()
    await expect.poll(() => page.getByText('0 versions').count()).toBe(0)
  })
})
