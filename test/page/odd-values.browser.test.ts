import { describe, expect, it } from 'vitest'
import { hasBrowser, openPage, PROJECT, recordCalls } from './browser.ts'
import { publishDataset, recordRun } from './evaluations/evaluation-fixtures.ts'

describe.skipIf(!hasBrowser)('odd values in a browser', () => {
  it('shows calls whose reports of usage are none', async () => {
    const test = await openPage()
    const { page, url, key, complaints } = test
    const reports = [{ usage: { gpt: null } }, { usage: 'much' }, { usage: [7] }, { usage: null }]
    await recordCalls(
      test,
      reports.map((summary, at) => ({ id: `c${at}`, summary, inputs: { said: `${at}: "so\\n"` } })),
    )
    await page.goto(`${url}/acme/demo/weave/calls?cols=op,model,tokens#key=${key}`)
    await expect.poll(() => page.locator('.row.call').count()).toBe(4)
    for (const at of reports.keys()) {
      await page.goto(`${url}/acme/demo/weave/calls/c${at}`)
      await expect.poll(() => page.locator('.detail .facts').textContent()).toContain(`c${at}`)
    }
    const text = encodeURIComponent('2: "so\\n"')
    await page.goto(`${url}/acme/demo/weave/calls?text=${text}`)
    await page.getByText('1 call', { exact: true }).waitFor()
    expect(complaints).toEqual([])
  })

  it('says that a list of calls with large bodies is loading', async () => {
    const test = await openPage()
    const { page, url, key } = test
    await recordCalls(test, [{ id: 'a', output: 'x'.repeat(1e6) }])
    const released = Promise.withResolvers<void>()
    await page.route(/query_stats|stream_query/, async (route) => {
      await released.promise
      await route.continue()
    })
    await page.goto(`${url}/acme/demo/weave/calls#key=${key}`)
    await page.getByText('Loading …').waitFor()
    released.resolve()
    await page.locator('.row.call', { hasText: 'xxx' }).waitFor()
    expect(await page.getByText('Loading …').count()).toBe(0)
  })

  it('takes no text for scores', async () => {
    const test = await openPage()
    const { page, url, key, complaints } = test
    await recordCalls(test, [
      { id: 'run', op_name: 'Evaluation.evaluate', output: 'all well' },
      {
        id: 'one',
        parent_id: 'run',
        op_name: 'Evaluation.predict_and_score',
        output: 'yes',
      },
    ])
    await page.goto(`${url}/acme/demo/weave/evaluations/run#key=${key}`)
    await page.locator('[role=status]', { hasText: '1 example' }).waitFor()
    await page.getByText('No scores.').waitFor()
    const heads = page.locator('[role=columnheader]')
    await expect
      .poll(() => heads.allTextContents())
      .toEqual(['Example', 'Call', 'Output', 'Latency'])
    expect(complaints).toEqual([])
  })

  it('copies where pages have no clipboard, as over plain HTTP', async () => {
    const test = await openPage()
    const { page, url, key, complaints } = test
    await recordCalls(test, [{ id: 'a' }])
    await page.addInitScript(`{
      Object.defineProperty(navigator, 'clipboard', { value: undefined })
      document.addEventListener('copy', () => { window.copied = getSelection().toString() })
    }`)
    await page.goto(`${url}/acme/demo/weave#key=${key}`)
    await page.getByText('copy as curl').first().click()
    await page.getByText('copied').waitFor()
    expect(await page.evaluate('window.copied')).toContain('/calls/stats')
    expect(complaints).toEqual([])
  })

  it('makes a training job where pages have no random ids, as over plain HTTP', async () => {
    const { page, url, key, complaints } = await openPage()
    await page.addInitScript('crypto.randomUUID = undefined')
    await page.goto(`${url}/acme/demo/weave/training/new#key=${key}`)
    await page.getByText('Start the job').waitFor()
    expect(complaints).toEqual([])
  })

  it('cuts no character in two', async () => {
    const test = await openPage()
    const { page, url, key } = test
    await recordCalls(test, [{ id: 'a', output: `x${'😀'.repeat(3000)}` }])
    await page.goto(`${url}/acme/demo/weave/calls/a#key=${key}`)
    const text = page.locator('.detail .text', { hasText: '😀' })
    await text.waitFor()
    await expect.poll(() => text.textContent()).toMatch(/😀 … $/u)
    await page.goto(`${url}/acme/demo/weave/calls?cols=output`)
    await page.locator('.row.call', { hasText: '😀' }).waitFor()
    await expect.poll(() => page.locator('.row.call').textContent()).toMatch(/😀…\s*$/u)
  })

  it('shows a long note whole at its call, and lists tell that they cut it', async () => {
    const test = await openPage()
    const { page, url, key, post } = test
    await recordCalls(test, [{ id: 'a/b' }])
    const note = `${'so it is '.repeat(100)}in the end.`
    const feedback = { feedback_type: 'wandb.note.1', payload: { note }, project_id: PROJECT }
    await post('/traces/feedback/create', {
      ...feedback,
      weave_ref: `weave:///${PROJECT}/call/a/b`,
    })
    await page.goto(`${url}/acme/demo/weave/calls/a%2Fb#key=${key}`)
    await page.locator('.feedback li', { hasText: 'in the end.' }).waitFor()
    await page.goto(`${url}/acme/demo/weave/calls?cols=feedback`)
    await page.locator('.row.call', { hasText: /^so it .*…$/ }).waitFor()
    await page.goto(`${url}/acme/demo/weave/feedback`)
    await page.getByRole('cell', { name: /^so it .*…$/ }).waitFor()
    await page.getByTitle('a/b', { exact: true }).click()
    await page.locator('.feedback li', { hasText: 'in the end.' }).waitFor()
  })

  it('cuts a long error, and shows it whole on request', async () => {
    const test = await openPage()
    const { page, url, key } = test
    await recordCalls(test, [
      { id: 'a', exception: `${'at a line\n'.repeat(1000)}at the last one` },
    ])
    await page.goto(`${url}/acme/demo/weave/calls/a#key=${key}`)
    const error = page.locator('.exception')
    await error.waitFor()
    expect(await error.textContent()).not.toContain('at the last one')
    await error.getByRole('button', { name: 'characters more' }).click()
    await expect.poll(() => error.textContent()).toContain('at the last one')
  })

  it('keeps all digits of numbers in the table of calls, and counts no tokens above 2^53', async () => {
    const test = await openPage()
    const { page, url, key, complaints } = test
    const long = '12345678901234567891'
    const n = JSON.rawJSON(long)
    await recordCalls(test, [
      { id: 'a', inputs: { n }, output: 0.25, summary: { usage: { gpt: { total_tokens: n } } } },
    ])
    await page.goto(`${url}/acme/demo/weave/calls?cols=inputs,inputs.n,output,tokens#key=${key}`)
    const cells = page.locator('.row.call [role=cell]:not(.pick)')
    await expect.poll(() => cells.allTextContents()).toEqual([`{"n":${long}}`, long, '0.25', '0'])
    expect(await cells.nth(1).getAttribute('title')).toBe(long)
    expect(complaints).toEqual([])
  })

  it('keeps all digits of numbers in threads, evaluations, datasets and tool calls', async () => {
    const test = await openPage()
    const { page, url, key, complaints } = test
    const open = (path: string) => page.goto(`${url}/acme/demo/weave${path}#key=${key}`)
    const [one, two] = ['90071992547409921', '90071992547409922']
    const [n, m] = [JSON.rawJSON(one), JSON.rawJSON(two)]
    const called = { function: { name: 'find', arguments: `{"order":${two}}` } }
    await recordCalls(test, [
      {
        id: 't',
        thread_id: 'talk',
        turn_id: 't',
        inputs: { n },
        output: { role: 'assistant', content: null, tool_calls: [called] },
      },
    ])
    await open('/threads/talk')
    for (const digits of [one, two]) await page.locator('.turn').getByText(digits).waitFor()
    // Rounded, the two would be one example with two trials.
    const [evaluation, model] = ['an evaluation', 'a model']
    await recordRun(test, {
      id: 'run',
      name: 'Run',
      evaluation,
      model,
      examples: [{ n }, { n: m }],
      outputs: [
        { output: n, scores: { sum: m } },
        { output: m, scores: { sum: 12_345 } },
      ],
      summary: { sum: 123_456 },
    })
    await open('/evaluations/run')
    await page.locator('.figure', { hasText: '123,456' }).waitFor()
    const rows = page.locator('[aria-label=Examples] .window-list [role=row]')
    await expect.poll(() => rows.count()).toBe(2)
    await expect.poll(() => rows.first().innerText()).toContain(`${one}\n${one}`)
    await expect.poll(() => rows.last().innerText()).toContain('12,345')
    await rows.last().getByRole('button').click()
    await page.locator('.row-panel').getByText(two).first().waitFor()
    await publishDataset(test, 'numbers', [{ id: n, n }])
    const { ref } = await publishDataset(test, 'numbers', [{ id: n, n: m }], { description: m })
    await open(`/datasets/numbers/versions/${ref.split(':').at(-1)}?against=v0`)
    const changes = page.getByLabel('Differences of the row')
    await expect
      .poll(() => changes.innerText())
      .toMatch(new RegExp(`n changed\\s+${one}\\s+${two}`))
    expect(complaints).toEqual([])
  })

  it('shows refusals, spoken answers, thoughts, results and the older calls of functions as messages', async () => {
    const test = await openPage()
    const { page, url, key, complaints } = test
    // The beginning of a WAV file of no samples.
    const data = 'UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQAAAAA='
    const assistant = { role: 'assistant', content: null }
    const messages = [
      { role: 'user', content: [{ type: 'input_audio', input_audio: { data, format: 'wav' } }] },
      { ...assistant, refusal: 'I cannot do that.' },
      { ...assistant, function_call: { name: 'find', arguments: '{"order":7}' } },
      { ...assistant, tool_calls: [null, { function: null }, { function: { name: {} } }] },
      { ...assistant, audio: { id: 'a', data, transcript: 'Hello there.' } },
      { role: 'assistant', content: [{ type: 'thinking', thinking: 'Hm.' }, { text: 'I see.' }] },
      { role: 'user', content: [{ type: 'tool_result', content: [{ text: 'sunny' }] }] },
    ]
    await recordCalls(test, [{ id: 'a', inputs: { messages } }])
    await page.goto(`${url}/acme/demo/weave/calls/a#key=${key}`)
    const said = page.locator('.message')
    await expect
      .poll(async () =>
        (await said.allInnerTexts()).map((text) => text.replace(/\s+/g, ' ').trim()),
      )
      .toEqual([
        'user',
        'assistant I cannot do that.',
        'assistant find {1} order: 7',
        'assistant a tool a tool a tool',
        'assistant Hello there.',
        'assistant reasoning I see.',
        'user result sunny',
      ])
    await expect.poll(() => page.locator('audio').count()).toBe(2)
    expect(complaints).toEqual([])
  })
})
