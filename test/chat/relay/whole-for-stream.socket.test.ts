/** An upstream that answers a request for a stream with a whole JSON answer. */
import OpenAI from 'openai'
import { describe, expect, it } from 'vitest'
import { json, startFakeUpstream } from '../../support/fake-upstream.ts'
import { eventsOf, startModelServer, upstreamModel } from '../../support/model-server.ts'
import { answerOf, HELLO_ANSWER, USAGE } from '../../support/upstream-answers.ts'

const REQUEST = {
  model: 'org/relayed',
  messages: [{ role: 'user' as const, content: 'hi' }],
  stream: true as const,
}

async function start(body: unknown) {
  const upstream = await startFakeUpstream(json(200, body))
  return startModelServer(upstreamModel(upstream.baseUrl))
}

/** What the vendor's client assembles from the stream. */
async function assemble({ baseUrl, key }: { baseUrl: string; key: string }) {
  const client = new OpenAI({ baseURL: baseUrl, apiKey: key, maxRetries: 0 })
  const stream = client.chat.completions.stream({
    ...REQUEST,
    stream_options: { include_usage: true },
  })
  return stream.finalChatCompletion()
}

describe('a whole answer to a request for a stream', () => {
  it('reaches the client as a chunk for each choice and one for the usage', async () => {
    const second = {
      index: 1,
      message: { role: 'assistant', content: 'Hi' },
      finish_reason: 'stop',
    }
    const [first] = HELLO_ANSWER.choices as unknown[]
    const server = await start({ ...HELLO_ANSWER, choices: [first, second] })
    const response = await server.chat({
      ...REQUEST,
      n: 2,
      stream_options: { include_usage: true },
    })
    expect(response.headers.get('content-type')).toContain('text/event-stream')
    const events = eventsOf(await response.text())
    expect(events.at(-1)).toBe('[DONE]')
    const head = { id: 'chatcmpl-up', object: 'chat.completion.chunk', created: 1, model: 'up' }
    const choice = (index: number, content: string) => ({
      index,
      delta: { role: 'assistant', content },
      finish_reason: 'stop',
    })
    expect(events.slice(0, -1).map((text) => JSON.parse(text))).toEqual([
      { ...head, choices: [choice(0, 'Hello')] },
      { ...head, choices: [choice(1, 'Hi')] },
      { ...head, choices: [], usage: USAGE },
    ])
  })

  it('shows no usage to a client that did not request it, and counts it all the same', async () => {
    const { chat, deps } = await start(HELLO_ANSWER)
    const response = await chat(REQUEST, { headers: { 'Compat-Project': 'acme/demo' } })
    expect(eventsOf(await response.text())).toHaveLength(2)
    const id = String(response.headers.get('x-weft-call-id'))
    await expect.poll(() => deps.calls.findCall('acme/demo', id)).not.toBeNull()
    const call = await deps.calls.findCall('acme/demo', id)
    expect(call?.summary.usage).toMatchObject({ 'org/relayed': USAGE })
    expect(call?.output).toMatchObject({ choices: [{ message: { content: 'Hello' } }] })
  })

  it('gives tool calls the indexes that clients assemble them by', async () => {
    const calls = ['f', 'g'].map((name) => ({
      id: `call_${name}`,
      type: 'function',
      function: { name, arguments: '{"a":1}' },
    }))
    const server = await start(answerOf({ content: null, tool_calls: calls }, 'tool_calls'))
    const { choices } = await assemble(server)
    expect(choices[0]?.message.tool_calls).toMatchObject(calls)
  })

  it('of a legacy completion is chunks of text', async () => {
    const text = { index: 0, text: 'Hello', logprobs: null, finish_reason: 'stop' }
    const server = await start({ id: 'c', object: 'text_completion', created: 1, choices: [text] })
    const response = await fetch(`${server.baseUrl}/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${server.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'org/relayed', prompt: 'x', stream: true }),
    })
    const [event, done] = eventsOf(await response.text())
    expect(JSON.parse(event ?? '')).toMatchObject({ object: 'text_completion', choices: [text] })
    expect(done).toBe('[DONE]')
  })

  it.each([
    ['no choices', { object: 'list' }],
    ['an empty list of choices', { choices: [] }],
    ['choices that are no objects', { choices: [1, null, 'x'] }],
  ])('is refused with %s', async (_name, body) => {
    const { chat } = await start(body)
    const response = await chat(REQUEST)
    expect(response.status).toBe(502)
    expect(await response.json()).toMatchObject({ error: { code: 'upstream_invalid_response' } })
  })
})
