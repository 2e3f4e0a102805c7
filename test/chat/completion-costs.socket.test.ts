import { describe, expect, it } from 'vitest'
import {
  type Behaviour,
  chunk,
  DONE,
  event,
  HELLO_EVENTS,
  json,
  startFakeUpstream,
  stream,
} from '../support/fake-upstream.ts'
import { startModelServer, upstreamModel } from '../support/model-server.ts'
import { answerOf } from '../support/upstream-answers.ts'

const PROJECT = 'acme/demo'
const HEADERS = { 'Compat-Project': PROJECT }
const MESSAGES = [{ role: 'user', content: 'hi' }]
/** 400 fresh tokens, 600 from the cache, 100 written: 0.4 + 0.06 + 0.25 dollars. */
const USAGE = {
  prompt_tokens: 1000,
  completion_tokens: 100,
  total_tokens: 1100,
  prompt_tokens_details: { cached_tokens: 600 },
}
const PRICE = {
  prompt_token_cost: 0.001,
  cache_read_input_token_cost: 0.0001,
  completion_token_cost: 0.0025,
  effective_date: '2020-01-01T00:00:00Z',
}
const WHOLE = json(200, { ...answerOf({ content: 'Hello' }), usage: USAGE })
const STREAM = stream([...HELLO_EVENTS, event(chunk([], { usage: USAGE })), DONE])

async function start(behaviour: Behaviour) {
  const upstream = await startFakeUpstream(behaviour)
  const server = await startModelServer(upstreamModel(upstream.baseUrl, { upstreamModel: 'up' }))
  await server.post('/cost/create', { project_id: PROJECT, costs: { 'org/relayed': PRICE } })
  /** Asks for a completion, reads what comes of it, and waits until it is recorded. */
  async function complete(request: object, behave: Behaviour, until = '') {
    upstream.behave(behave)
    const leave = new AbortController()
    const body = { model: 'short', messages: MESSAGES, ...request }
    const response = await server.chat(body, { headers: HEADERS, signal: leave.signal })
    const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader()
    let text = ''
    for (let next = await reader.read(); !next.done; next = await reader.read()) {
      text += next.value
      if (until !== '' && text.includes(until)) break
    }
    leave.abort()
    await reader.closed.catch(() => {})
    const id = String(response.headers.get('x-weft-call-id'))
    await expect.poll(() => server.deps.calls.findCall(PROJECT, id)).not.toBeNull()
    return server.deps.calls.findCall(PROJECT, id)
  }
  async function readStats() {
    const { body } = await server.post('/calls/stats', {
      project_id: PROJECT,
      start: new Date(Date.now() - 60_000).toISOString(),
      end: new Date(Date.now() + 60_000).toISOString(),
      granularity: 3_600,
      usage_metrics: [{ metric: 'total_cost' }, { metric: 'total_tokens' }],
      call_metrics: [{ metric: 'call_count' }, { metric: 'error_count' }],
    })
    const sum = (rows: Record<string, unknown>[], name: string) =>
      rows.reduce((total, row) => total + Number(row[name] ?? 0), 0)
    return {
      models: [...new Set(body.usage_buckets.map(({ model }: { model: string }) => model))],
      cost: sum(body.usage_buckets, 'sum_total_cost'),
      tokens: sum(body.usage_buckets, 'sum_total_tokens'),
      calls: sum(body.call_buckets, 'sum_call_count'),
      errors: sum(body.call_buckets, 'sum_error_count'),
    }
  }
  return { complete, readStats }
}

describe('the statistics of relayed completions', () => {
  it.each<[string, object, Behaviour]>([
    ['a whole answer', {}, WHOLE],
    ['a stream whose usage the client did not ask for', { stream: true }, STREAM],
    [
      'a stream whose usage the client sees',
      { stream: true, stream_options: { include_usage: true } },
      STREAM,
    ],
  ])(
    'statistics have the exact cost of %s, cached tokens at their own price',
    async (_name, request, answer) => {
      const { complete, readStats } = await start(answer)
      await complete(request, answer)
      expect(await readStats()).toEqual({
        models: ['org/relayed'],
        cost: 0.71,
        tokens: 1100,
        calls: 1,
        errors: 0,
      })
    },
  )

  it('statistics have the cost of an abandoned stream as far as reported, and its partial text', async () => {
    const told = stream(
      [HELLO_EVENTS[0]!, event(chunk([{ index: 0, delta: { content: 'Hel' } }], { usage: USAGE }))],
      'hang',
    )
    const { complete, readStats } = await start(told)
    const call = await complete({ stream: true }, told, 'Hel')
    expect(call).toMatchObject({
      exception: expect.stringMatching(/^client_closed_request: /),
      output: { choices: [{ message: { content: 'Hel' } }] },
    })
    expect(await readStats()).toMatchObject({ cost: 0.71, calls: 1, errors: 1 })
  })

  it('statistics count broken and refused completions as errors, besides successful ones', async () => {
    const { complete, readStats } = await start(WHOLE)
    await complete({}, WHOLE)
    const broken = await complete({ stream: true }, stream(HELLO_EVENTS.slice(0, 2), 'cut'))
    expect(broken).toMatchObject({
      exception: expect.stringMatching(/^upstream_error: /),
      output: { choices: [{ message: { content: 'Hello' } }] },
    })
    expect(await complete({}, json(400, {}))).toMatchObject({
      exception: expect.stringMatching(/^invalid_value: /),
      output: null,
    })
    // The broken stream reported no usage: its one piece of text counts as a token.
    expect(await readStats()).toMatchObject({ tokens: 1101, calls: 3, errors: 2 })
  })
})
