import { describe, expect, it } from 'vitest'
import { findBarriers, hasBrowser, MARKUP, openPage, PROJECT, recordCalls } from '../browser.ts'

const MODEL = 'gpt-4o-mini'
const BEGIN_MS = Date.now() - 600_000

const spent = (tokens: number) => ({
  usage: { [MODEL]: { prompt_tokens: tokens, completion_tokens: 0, requests: 1 } },
})

describe.skipIf(!hasBrowser)('traces and threads in a browser', () => {
  it('adds up errors, tokens and costs over what is below, each token once, and is walked through by keys', async () => {
    const test = await openPage()
    const { page, url, key, complaints } = test
    const usage = { [MODEL]: { prompt_tokens: 300, completion_tokens: 0, requests: 2 } }
    await recordCalls(test, [
      { id: 'root', op_name: 'agent', started_at_ms: BEGIN_MS, summary: { usage } },
      {
        id: 'one',
        parent_id: 'root',
        op_name: 'first',
        started_at_ms: BEGIN_MS + 1,
        summary: spent(100),
      },
      {
        id: 'two',
        parent_id: 'root',
        op_name: 'second',
        started_at_ms: BEGIN_MS + 2,
        summary: spent(200),
        exception: 'no such thing',
      },
    ])
    await page.goto(`${url}/acme/demo/r/call/root#key=${key}`)
    const totals = page.locator('.tree .bar').first()
    await expect.poll(() => totals.textContent()).toContain('300 tokens')
    await expect.poll(() => totals.textContent()).toContain('1 failed')
    const rows = page.locator('.trace-row')
    expect((await rows.allTextContents()).map((text) => /(\d+) t/.exec(text)?.[1])).toEqual([
      ...['300', '100', '200'],
    ])
    await expect.poll(() => rows.first().textContent()).toContain('1 failed below')
    expect(await rows.nth(2).locator('.name').textContent()).toMatch(/second\s*error$/)
    await expect.poll(() => page.locator('.detail .facts').textContent()).toContain('$0.00')
    await page.getByRole('tree').focus()
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('ArrowDown')
    await expect.poll(() => page.locator('.detail h1').textContent()).toBe('second')
    await expect.poll(() => page.url()).toContain('call=two')
    await page.keyboard.press('ArrowLeft')
    await page.keyboard.press('ArrowLeft')
    await expect.poll(() => rows.count()).toBe(1)
    await page.getByPlaceholder('find in the whole trace').fill('SUCH THING')
    await page.keyboard.press('Enter')
    await expect.poll(() => page.locator('.detail h1').textContent()).toBe('second')
    await expect.poll(() => rows.count()).toBe(3)
    expect(await findBarriers(page)).toEqual([])
    expect(complaints).toEqual([])
  })

  it('opens a trace by its own id with its first call, as the links of Langfuse’s SDKs lead to it', async () => {
    const test = await openPage()
    const { page, url, key, complaints, post } = test
    for (const [id, parent_id] of [
      ['root', null],
      ['below', 'root'],
    ]) {
      const start = {
        project_id: PROJECT,
        id,
        parent_id,
        trace_id: 'the-trace',
        op_name: `op-${id}`,
      }
      const started_at = new Date(BEGIN_MS + (parent_id === null ? 0 : 1)).toISOString()
      await post('/call/start', { start: { ...start, started_at, attributes: {}, inputs: {} } })
    }
    await page.goto(`${url}/project/acme/demo/traces/the-trace#key=${key}`)
    await expect.poll(() => page.locator('.detail h1').textContent()).toBe('op-root')
    await expect.poll(() => page.locator('.trace-row').count()).toBe(2)
    expect(complaints).toEqual([])
  })

  it('scrolls to the call that a link names, and keeps every digit of a number', async () => {
    const test = await openPage()
    const { page, url, key, post } = test
    const calls = Array.from({ length: 500 }, (_, at) => ({
      id: `c${at}`,
      op_name: `op${at}`,
      started_at_ms: BEGIN_MS + at,
      ...(at === 0 ? {} : { parent_id: 'c0' }),
    }))
    await recordCalls(test, calls)
    const start = `{"start": {"project_id": "${PROJECT}", "id": "exact", "trace_id": "trace", "parent_id": "c0", "op_name": "op",
      "started_at": "2100-01-01T00:00:00Z", "attributes": {}, "inputs": {"id": 12345678901234567890}}}`
    expect((await post('/call/start', start)).status).toBe(200)
    await page.goto(`${url}/acme/demo/weave/calls/exact#key=${key}`)
    await page.getByText('12345678901234567890').waitFor()
    await page.locator('.tree .bar').getByText('running').waitFor()
    const end = { project_id: PROJECT, id: 'exact', ended_at: '2100-01-01T00:00:01Z', summary: {} }
    await post('/call/end', { end: { ...end, output: 'the end' } })
    await page.getByRole('button', { name: 'Refresh' }).click()
    await page.getByText('the end').waitFor()
    const chosen = page.locator('.trace-row[aria-selected="true"]')
    await chosen.waitFor()
    await expect
      .poll(() => chosen.evaluate((row) => row.getBoundingClientRect().bottom))
      .toBeLessThan(801)
    await page.goto(`${url}/acme/demo/weave/calls/c250`)
    await chosen.waitFor()
    const list = page.getByRole('tree')
    await expect
      .poll(() => list.evaluate((tree) => tree.scrollTop + tree.clientHeight / 2))
      .toBeCloseTo(250.5 * 28, -1)
  })

  it('has the height of a call on a tablet, not a scroll bar of its own, and the width for names', async () => {
    const test = await openPage()
    const { page, url, key } = test
    await page.setViewportSize({ width: 820, height: 600 })
    const depth = 12
    const calls = Array.from({ length: depth }, (_, at) => ({
      id: `c${at}`,
      op_name: 'name_of_an_operation',
      inputs: { text: 'x'.repeat(3000) },
      ...(at === 0 ? {} : { parent_id: `c${at - 1}` }),
    }))
    await recordCalls(test, calls)
    await page.goto(`${url}/acme/demo/weave/calls/c11#key=${key}`)
    await page.getByRole('heading', { name: 'Inputs' }).waitFor()
    await expect
      .poll(() => page.locator('.detail').evaluate((one) => one.scrollHeight - one.clientHeight))
      .toBe(0)
    const name = page.locator('.trace-row[aria-selected="true"] .op')
    expect(await name.evaluate((op) => op.scrollWidth - op.clientWidth)).toBe(0)
    expect(await page.locator('.trace-row').last().locator('.name').textContent()).toContain('11')
  })

  it('shows the name of a failing operation on a phone', async () => {
    const test = await openPage()
    const { page, url, key } = test
    await page.setViewportSize({ width: 390, height: 844 })
    await recordCalls(test, [
      { id: 'root', op_name: 'support_agent', exception: 'E' },
      { id: 'tool', parent_id: 'root', op_name: 'search', exception: 'E' },
    ])
    await page.goto(`${url}/acme/demo/weave/calls/root#key=${key}`)
    const name = page.locator('.trace-row .op').first()
    await name.waitFor()
    const [shown, whole] = await name.evaluate((node) => [node.clientWidth, node.scrollWidth])
    expect(shown).toBeGreaterThanOrEqual(whole ?? Number.NaN)
  })

  it('shows the code that an operation had in its version', async () => {
    const test = await openPage()
    const { page, url, key, app } = test
    const form = new FormData()
    form.set('project_id', PROJECT)
    form.set('file', new Blob([`def answer():\n    return "${MARKUP}"`]), 'obj.py')
    const request = new Response(form)
    const file = await app.inject({
      method: 'POST',
      url: '/file/create',
      headers: {
        authorization: `Basic ${Buffer.from(`api:${key}`).toString('base64')}`,
        'content-type': request.headers.get('content-type') ?? '',
      },
      payload: Buffer.from(await request.arrayBuffer()),
    })
    const val = {
      _type: 'CustomWeaveType',
      weave_type: { type: 'Op' },
      files: { 'obj.py': file.json().digest },
    }
    const obj = { project_id: PROJECT, object_id: 'answer', val }
    const { body } = await test.post('/obj/create', { obj })
    await recordCalls(test, [{ id: 'a', op_name: `weave:///${PROJECT}/op/answer:${body.digest}` }])
    await page.goto(`${url}/acme/demo/weave/calls/a#key=${key}`)
    await page.getByText('Code of the operation').click()
    await page.getByText('def answer():').waitFor()
    expect(await page.evaluate('window.wasRun')).toBeUndefined()
    await page
      .locator('.facts')
      .getByRole('link', { name: /^answer:/ })
      .click()
    await page.getByText('Calls of this version').waitFor()
  })

  it('returns from a trace to the turns that were shown, at an address of their own', async () => {
    const test = await openPage()
    const { page, url, key } = test
    const turns = Array.from({ length: 60 }, (_, at) => ({
      id: `t${at}`,
      thread_id: 'talk',
      turn_id: `t${at}`,
      started_at_ms: BEGIN_MS + at,
      inputs: { question: `Why ${at}?` },
    }))
    await recordCalls(test, turns)
    await page.goto(`${url}/acme/demo/weave/threads/talk#key=${key}`)
    await page.getByText('Earlier turns').click()
    await page.getByText('Why 0?').waitFor()
    await page.locator('.turn').first().getByText('trace').click()
    await page.locator('.detail h1').waitFor()
    await page.goBack()
    await page.getByText('Why 0?').waitFor()
    await page.reload()
    await page.getByText('Why 0?').waitFor()
    await page.goBack()
    await page.getByText('Why 59?').waitFor()
  })

  it('shows threads as conversations, whatever is said in them', async () => {
    const test = await openPage()
    const { page, url, key, complaints } = test
    const history = [
      { role: 'user', content: 'Why?' },
      { role: 'assistant', content: 'Because.' },
    ]
    await recordCalls(test, [
      {
        id: 't1',
        thread_id: MARKUP,
        turn_id: 't1',
        started_at_ms: BEGIN_MS,
        inputs: { question: 'Why?', n: 3 },
        output: { answer: 'Because.' },
      },
      {
        id: 't2',
        thread_id: MARKUP,
        turn_id: 't2',
        started_at_ms: BEGIN_MS + 5000,
        inputs: { messages: [...history, { role: MARKUP, content: MARKUP }] },
        output: { role: 'assistant', content: MARKUP },
        summary: spent(70),
      },
      { id: 't3', thread_id: MARKUP, turn_id: 't2', parent_id: 't2' },
    ])
    await page.goto(`${url}/acme/demo/weave/threads#key=${key}`)
    await page.locator('.list a').click()
    await expect.poll(() => page.locator('.turn').count()).toBe(2)
    const said = await page.locator('.turn .message').allTextContents()
    expect(said.map((text) => text.replace(/\s+/g, ' ').trim())).toEqual([
      ...['userWhy?', 'assistantBecause.', `${MARKUP}${MARKUP}`, `assistant${MARKUP}`],
    ])
    await expect.poll(() => page.locator('.turn').last().textContent()).toContain('70 tokens')
    await page.locator('.turn').first().getByText('give feedback').click()
    // The first click is answered before the second.
    await page.getByText('Bad').dblclick({ delay: 300 })
    await page.getByLabel('A note').first().fill('so')
    await page.getByText('Add the note').click()
    await expect.poll(() => page.locator('.turn').first().textContent()).toContain('👎 · so')
    expect(await findBarriers(page)).toEqual([])
    expect(await page.evaluate('window.wasRun')).toBeUndefined()
    expect(complaints).toEqual([])
  })
})
