/** Requests of coding agents: tools in namespaces, tools of the vendor, and fields that only responses have. */
import { describe, expect, it } from 'vitest'
import { json, startFakeUpstream } from '../../support/fake-upstream.ts'
import { startModelServer, upstreamModel } from '../../support/model-server.ts'
import { answerOf, streamOf } from '../../support/upstream-answers.ts'

const fn = (name: string, more: object = {}) => ({ type: 'function', name, ...more })
const space = (name: string, tools: object[], description?: string) => ({
  type: 'namespace',
  name,
  tools,
  ...(description ? { description } : {}),
})
const TOOLS = [
  fn('exec', { description: 'Run.' }),
  space('mcp__mail__', [fn('send', { description: 'Send.', strict: false }), fn('read')], 'Mail.'),
  space('agents', [fn('send')]),
]
const SEARCH = { type: 'web_search', external_web_access: false }
const call = (name: string) => ({
  id: 'c1',
  type: 'function',
  function: { name, arguments: '{}' },
})

async function start(options: object = {}) {
  const upstream = await startFakeUpstream()
  const server = await startModelServer(upstreamModel(upstream.baseUrl, options))
  const post = (body: object) =>
    fetch(`${server.baseUrl}/responses`, {
      method: 'POST',
      headers: { authorization: `Bearer ${server.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'org/relayed', input: 'hi', ...body }),
    })
  const sentAt = (at: number) => JSON.parse(upstream.requests[at]?.body ?? '{}')
  return { upstream, post, sentAt }
}

const called = (answer: unknown) =>
  (answer as { output: { type: string }[] }).output.find(({ type }) => type === 'function_call')

describe('tools in namespaces', () => {
  it('become functions of the chat with names of both, and calls have their own names again', async () => {
    const { upstream, post, sentAt } = await start()
    upstream.behave(json(200, answerOf({ tool_calls: [call('mcp__mail__send')] }, 'tool_calls')))
    const answer = await (await post({ tools: TOOLS })).json()
    expect(sentAt(0).tools).toEqual([
      { type: 'function', function: { name: 'exec', description: 'Run.' } },
      {
        type: 'function',
        function: { name: 'mcp__mail__send', description: 'Mail.\n\nSend.', strict: false },
      },
      { type: 'function', function: { name: 'mcp__mail__read' } },
      { type: 'function', function: { name: 'agents__send' } },
    ])
    expect(called(answer)).toMatchObject({ name: 'send', namespace: 'mcp__mail__', call_id: 'c1' })
    expect(answer).toMatchObject({ tools: [{}, TOOLS[1], TOOLS[2]] })
  })

  it('have the names of the client in each event of a stream', async () => {
    const { upstream, post } = await start()
    const piece = { ...call('agents__send'), index: 0 }
    upstream.behave(streamOf([{ tool_calls: [piece] }], 'tool_calls'))
    const text = await (await post({ tools: TOOLS, stream: true })).text()
    expect(text).not.toContain('agents__send')
    const events = [...text.matchAll(/^data: (\{.*\})$/gm)].map(([, data]) =>
      JSON.parse(data ?? ''),
    )
    for (const type of ['response.output_item.added', 'response.output_item.done']) {
      const event = events.find((one) => one.type === type)
      expect(event.item).toMatchObject({ name: 'send', namespace: 'agents' })
    }
  })

  it('keep their names in calls of earlier turns, and in the choice of a tool', async () => {
    const { upstream, post, sentAt } = await start()
    upstream.behave(json(200, answerOf({ content: 'done' })))
    const input = [
      {
        type: 'function_call',
        call_id: 'c1',
        name: 'read',
        namespace: 'mcp__mail__',
        arguments: '{}',
      },
      { type: 'function_call_output', call_id: 'c1', output: 'x' },
    ]
    const tool_choice = { type: 'function', name: 'send', namespace: 'agents' }
    await post({ tools: TOOLS, input, tool_choice })
    expect(sentAt(0)).toMatchObject({
      messages: [{ tool_calls: [{ function: { name: 'mcp__mail__read' } }] }, {}],
      tool_choice: { function: { name: 'agents__send' } },
    })
  })

  it('get names that no other function has, of at most 64 characters engines take', async () => {
    const { upstream, post, sentAt } = await start()
    upstream.behave(json(200, answerOf({ tool_calls: [call('a__b_2')] }, 'tool_calls')))
    const long = 'x'.repeat(60)
    const tools = [fn('a__b'), space('a', [fn('b')]), space(long, [fn('first'), fn('fir st')])]
    const answer = await (await post({ tools })).json()
    const names = sentAt(0).tools.map((tool: { function: { name: string } }) => tool.function.name)
    expect(names).toEqual(['a__b', 'a__b_2', `${long}__fi`, `${long}___2`])
    expect(called(answer)).toMatchObject({ name: 'b', namespace: 'a' })
  })

  it.each([
    [[space('', [fn('f')])], 'tools[0].name'],
    [[space('a', [{ type: 'function' }])], 'tools[0].tools[0].name'],
    [[space('a', [{ type: 'custom', name: 'f' }])], 'tools[0].tools[0].type'],
    [[space('a', [space('b', [fn('f')])])], 'tools[0].tools[0].type'],
  ])('are refused by name where they are broken: %j', async (tools, param) => {
    const { post } = await start()
    const response = await post({ tools })
    expect([response.status, await response.json()]).toMatchObject([400, { error: { param } }])
  })
})

describe('what a chat cannot be asked', () => {
  it('is left out and named where the model drops what it does not support', async () => {
    const { upstream, post, sentAt } = await start({ unsupported: 'drop' })
    upstream.behave(json(200, answerOf({ content: 'done' })))
    const response = await post({
      tools: [SEARCH, fn('f')],
      client_metadata: { a: 'b' },
      new_field: 1,
      top_k: 5,
    })
    expect(response.headers.get('x-weft-dropped-fields')).toBe('new_field, tools.web_search')
    expect(sentAt(0)).toEqual({
      model: 'org/relayed',
      messages: [{ role: 'user', content: 'hi' }],
      tools: [{ type: 'function', function: { name: 'f' } }],
      top_k: 5,
    })
  })

  it.each([
    ['a tool of the vendor', { tools: [fn('f'), SEARCH] }, 'tools[1].type'],
    ['a field that nobody knows', { new_field: 1 }, 'new_field'],
  ])('is refused by name otherwise: %s', async (_name, body, param) => {
    const { upstream, post } = await start()
    const response = await post(body)
    expect([response.status, await response.json()]).toMatchObject([400, { error: { param } }])
    expect(upstream.requests).toEqual([])
  })
})
