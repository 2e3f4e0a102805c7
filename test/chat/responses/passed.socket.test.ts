/** Responses that an engine makes: passed on under ids of this server, which keeps them. */
import OpenAI from 'openai'
import { describe, expect, it } from 'vitest'
import { createModelRegistry } from '../../../src/inference/models/registry.ts'
import {
  type Behaviour,
  event,
  json,
  startFakeUpstream,
  stream,
} from '../../support/fake-upstream.ts'
import { startModelServer, upstreamModel } from '../../support/model-server.ts'
import { inTurn } from '../../support/upstream-answers.ts'

const PROJECT = 'acme/demo'
const HEADERS = { 'OpenAI-Project': PROJECT }
const USAGE = {
  input_tokens: 7,
  input_tokens_details: { cached_tokens: 2 },
  output_tokens: 3,
  output_tokens_details: { reasoning_tokens: 1 },
  total_tokens: 10,
}
const THOUGHT = { type: 'reasoning', id: 'rs_up1', summary: [], encrypted_content: 'sealed' }
const LOST = { type: 'reasoning', id: 'rs_up0', summary: [] }
const SEARCH = { type: 'web_search_call', id: 'ws_up2', status: 'completed', action: { q: 'x' } }
const SAID = {
  type: 'message',
  id: 'msg_up3',
  role: 'assistant',
  status: 'completed',
  content: [{ type: 'output_text', text: 'Hello', annotations: [] }],
}
const OUTPUT = [LOST, THOUGHT, SEARCH, SAID]

function engineResponse(status: string, output: unknown[] = [], more: object = {}) {
  const head = { id: 'resp_up', object: 'response', created_at: 1, model: 'up', status, output }
  return {
    ...head,
    store: false,
    previous_response_id: null,
    engine_field: 1,
    ...more,
  }
}

const WHOLE = json(
  200,
  JSON.stringify(engineResponse('completed', OUTPUT, { usage: USAGE })).replace(
    '"engine_field":1',
    '"engine_field":9007199254740993',
  ),
)

const BEGUN = [
  { type: 'response.created', sequence_number: 0, response: engineResponse('in_progress') },
  {
    type: 'response.output_item.added',
    sequence_number: 1,
    output_index: 0,
    item: { ...SAID, content: [] },
  },
  {
    type: 'response.output_text.delta',
    sequence_number: 2,
    item_id: 'msg_up3',
    output_index: 0,
    content_index: 0,
    delta: 'Hello',
    logprobs: [],
  },
  { type: 'response.output_item.done', sequence_number: 3, output_index: 0, item: SAID },
]
const LAST = {
  type: 'response.completed',
  sequence_number: 4,
  response: engineResponse('completed', [SAID], { usage: USAGE }),
}
const STREAMED = stream([...BEGUN, LAST].map(event))

async function start(behaviour: Behaviour = WHOLE) {
  const upstream = await startFakeUpstream(behaviour)
  const base = upstreamModel(upstream.baseUrl, { upstreamModel: 'up' }).getModel(null)
  const model = { ...base, offers: ['chat', 'responses'] as const }
  const server = await startModelServer(createModelRegistry([model], model))
  const options = { baseURL: server.baseUrl, apiKey: server.key, maxRetries: 0 }
  const client = new OpenAI({ ...options, defaultHeaders: HEADERS })
  const asked = (place = 0) => JSON.parse(upstream.requests[place]?.body ?? 'null')
  async function readCall(id: unknown) {
    await expect.poll(() => server.deps.calls.findCall(PROJECT, String(id))).not.toBeNull()
    const { body } = await server.post('/call/read', { project_id: PROJECT, id })
    return body.call
  }
  return { ...server, client, upstream, asked, readCall }
}

/** The events of a streamed response. */
async function eventsOf({ client }: { readonly client: OpenAI }) {
  const { data, response } = await client.responses
    .create({ model: 'short', input: 'hi', stream: true })
    .withResponse()
  const events: OpenAI.Responses.ResponseStreamEvent[] = []
  for await (const one of data) events.push(one)
  return { events, callId: response.headers.get('x-weft-call-id') }
}

describe('a response of an engine', () => {
  it('passes as it came but for its ids, and is kept here alone', async () => {
    const test = await start()
    const { client, upstream, asked } = test
    const tools = [{ type: 'web_search' as const }]
    const made = await client.responses.create({ model: 'short', input: 'hi', tools, store: true })
    expect(upstream.requests[0]?.url).toBe('/v1/responses')
    expect(asked()).toEqual({ model: 'up', input: 'hi', tools, store: false })
    expect(made).toMatchObject({
      status: 'completed',
      output_text: 'Hello',
      store: true,
      usage: USAGE,
    })
    expect(made.id).toMatch(/^resp_[0-9a-f]{32}$/)
    const digits = made.id.slice('resp_'.length)
    expect(made.output.map(({ id }) => id)).toEqual([
      `rs_${digits}_0_rs_up0`,
      `rs_${digits}_1_rs_up1`,
      `ws_${digits}_2_ws_up2`,
      `msg_${digits}_3_msg_up3`,
    ])
    const read = await test.get(`/v1/responses/${made.id}`, { key: test.key })
    expect(read.text).toContain('"engine_field":9007199254740993')
    expect(read.body.output).toEqual(made.output)
    const items = await client.responses.inputItems.list(made.id)
    expect(items.data).toMatchObject([{ role: 'user' }])
    await client.responses.delete(made.id)
    expect((await test.get(`/v1/responses/${made.id}`)).status).toBe(404)
    expect(upstream.requests).toHaveLength(1)
  })

  it('continues another one; the engine gets everything of it that can still be read', async () => {
    const { client, asked } = await start()
    const first = await client.responses.create({ input: 'one' })
    const second = await client.responses.create({ input: 'two', previous_response_id: first.id })
    expect(second.previous_response_id).toBe(first.id)
    const digits = first.id.slice('resp_'.length)
    const { input, previous_response_id } = asked(1)
    expect(previous_response_id).toBeUndefined()
    expect(input).toMatchObject([
      { role: 'user', content: [{ text: 'one' }] },
      { type: 'reasoning', id: 'rs_up1', encrypted_content: 'sealed' },
      { type: 'web_search_call', id: `ws_${digits}_2`, action: { q: 'x' } },
      { type: 'message', id: `msg_${digits}_3`, content: [{ text: 'Hello' }] },
      { role: 'user', content: 'two' },
    ])
  })

  it('finds the items that a client refers to, and sends others as they came', async () => {
    const { client, post, asked } = await start()
    const { output, id } = await client.responses.create({ input: 'one' })
    const own = { type: 'computer_call_output', call_id: 'c', output: { type: 'x', big: 1 } }
    const reference = { type: 'item_reference', id: output[3]?.id }
    const body = JSON.stringify({
      input: [{ type: 'reasoning', id: 'rs_x', summary: [] }, reference, own],
    })
    const sent = body.replace('"big":1', '"big":9007199254740993')
    const { status } = await post('/v1/responses', sent)
    expect(status).toBe(200)
    expect(asked(1).input).toMatchObject([
      { type: 'message', id: `msg_${id.slice('resp_'.length)}_3` },
      { type: 'computer_call_output' },
    ])
    const unknown = [{ type: 'item_reference', id: 'msg_up3' }]
    const refused = await post('/v1/responses', { input: unknown })
    expect([refused.status, refused.body.error.param]).toEqual([400, 'input[0].id'])
  })

  it('streams its events unchanged, and is stored before the last one', async () => {
    const test = await start(STREAMED)
    const { events, callId } = await eventsOf(test)
    expect(test.asked()).toMatchObject({ stream: true, store: false })
    expect(events.map(({ type }) => type)).toEqual([...BEGUN, LAST].map(({ type }) => type))
    const last = events.at(-1) as OpenAI.Responses.ResponseCompletedEvent
    const ids = new Set(events.flatMap((one) => ('item_id' in one ? [one.item_id] : [])))
    expect([...ids]).toEqual([last.response.output[0]?.id])
    const read = await test.get(`/v1/responses/${last.response.id}`)
    expect(read.body).toEqual(last.response)
    const call = await test.readCall(callId)
    expect(call).toMatchObject({ op_name: 'responses', output: { id: last.response.id } })
    expect(call.summary.usage['org/relayed']).toMatchObject({ input_tokens: 7, output_tokens: 3 })
    expect(call.summary.time_to_first_token_ms).toBeGreaterThanOrEqual(0)
  })

  it('is recorded with the request as the client sent it', async () => {
    const test = await start()
    const sent = { input: 'hi', model: 'short' }
    const { headers } = await test.post('/v1/responses', sent, { headers: HEADERS })
    const call = await test.readCall(headers['x-weft-call-id'])
    expect(call).toMatchObject({ inputs: sent, output: { status: 'completed' } })
    expect(call.summary.usage['org/relayed']).toMatchObject({ total_tokens: 10 })
  })

  it('that breaks off is stored as failed, with the complete items', async () => {
    for (const end of ['cut', 'end'] as const) {
      const test = await start(stream(BEGUN.map(event), end))
      const { events } = await eventsOf(test)
      const last = events.at(-1) as OpenAI.Responses.ResponseFailedEvent
      expect(last).toMatchObject({ type: 'response.failed', sequence_number: 4 })
      expect(last.response).toMatchObject({
        status: 'failed',
        error: { code: 'server_error' },
        output: [{ type: 'message', content: [{ text: 'Hello' }] }],
      })
      const read = await test.get(`/v1/responses/${last.response.id}`)
      expect(read.body).toEqual(last.response)
    }
  })

  it('passes items that are no objects as they came', async () => {
    const response = engineResponse('completed', [null, 5, [], SAID])
    const { events } = await eventsOf(await start(stream([event({ ...LAST, response })])))
    expect(events).toMatchObject([
      { response: { output: [null, 5, [], { id: expect.stringMatching(/_msg_up3$/) }] } },
    ])
    const { body } = await (await start(json(200, response))).post('/v1/responses', { input: 'a' })
    expect(body.output).toMatchObject([null, 5, [], { type: 'message' }])
  })

  it('whose first event is an error has a status, and nothing is kept', async () => {
    const test = await start(
      stream([event({ type: 'error', code: 'server_error', message: 'no' })]),
    )
    await expect(eventsOf(test)).rejects.toMatchObject({ status: 502 })
    const nonsense = await start(stream([event({ neither: 1 })]))
    await expect(eventsOf(nonsense)).rejects.toMatchObject({ status: 502 })
    const page = await start(json(200, { choices: [] }))
    expect((await page.post('/v1/responses', { input: 'a' })).status).toBe(502)
  })

  it('is cancelled while it is made', async () => {
    const test = await start(stream(BEGUN.map(event), 'hang'))
    const events: { type: string; response?: { id: string; status: string } }[] = []
    for await (const one of await test.client.responses.create({ input: 'hi', stream: true })) {
      events.push(one as (typeof events)[number])
      if (one.type === 'response.output_item.done') {
        const { body } = await test.post(`/v1/responses/${events[0]?.response?.id}/cancel`, '')
        expect(body.status).toBe('cancelled')
      }
    }
    expect(events.at(-1)).toMatchObject({
      type: 'response.incomplete',
      response: { status: 'cancelled', output: [{ type: 'message' }] },
    })
    const [request] = test.upstream.requests
    expect(await request?.closed).toEqual({ isAnswered: false })
  })

  it('refuses what needs an engine that keeps something', async () => {
    const { post, upstream } = await start()
    const refused: [object, string][] = [
      [{ background: true }, 'background'],
      [{ conversation: 'conv_1' }, 'conversation'],
      [{ messages: [], n: 2 }, 'n'],
      [{ input: null }, 'input'],
    ]
    for (const [more, param] of refused) {
      const { status, body } = await post('/v1/responses', { input: 'a', ...more })
      expect([status, body.error.param]).toEqual([400, param])
    }
    expect(upstream.requests).toEqual([])
    const passing = { input: null, prompt: { id: 'p' }, truncation: 'auto', background: false }
    expect((await post('/v1/responses', passing)).status).toBe(200)
  })

  it('is asked of the next model when the first one fails', async () => {
    const failing = await startFakeUpstream(json(500, {}))
    const working = await startFakeUpstream(inTurn(WHOLE))
    const base = upstreamModel(failing.baseUrl, {}).getModel(null)
    const other = upstreamModel(working.baseUrl, {}).getModel(null)
    const offers = ['responses'] as const
    const first = { ...base, id: 'first', aliases: [], offers, fallbacks: ['chats', 'second'] }
    const chats = { ...other, id: 'chats', aliases: [], offers: ['chat'] as const }
    const second = { ...other, id: 'second', aliases: [], offers }
    const { post } = await startModelServer(createModelRegistry([first, chats, second], first))
    const { status, headers } = await post('/v1/responses', { input: 'a' })
    expect([status, headers['x-weft-backend']]).toEqual([200, 'second'])
    expect(working.requests.map(({ url }) => url)).toEqual(['/v1/responses'])
  })
})
