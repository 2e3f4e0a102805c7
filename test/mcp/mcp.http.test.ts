import { describe, expect, it } from 'vitest'
import { buildTestApp, type TestApp } from '../support/build-test-app.ts'
import { callTool, rpc } from './call-tool.ts'

const project_id = 'acme/demo'

interface CallOptions {
  readonly at?: number
  readonly inputs?: object
  readonly trace_id?: string
}

async function addCall(app: TestApp, id: string, options: CallOptions = {}): Promise<void> {
  const { at = 0, inputs = {}, trace_id = `t-${id}` } = options
  const started_at = new Date(Date.UTC(2026, 0, 1) + at * 1000).toISOString()
  const start = { project_id, id, trace_id, op_name: 'ask', started_at, attributes: {}, inputs }
  expect((await app.post('/call/start', { start })).status).toBe(200)
}

describe('the protocol', () => {
  it('agrees on a version that it knows, and offers its newest for any other', async () => {
    const app = await buildTestApp()
    const offered = async (protocolVersion: string) =>
      (await rpc(app, 'initialize', { protocolVersion })).body.result.protocolVersion
    expect(await offered('2025-06-18')).toBe('2025-06-18')
    expect(await offered('1999-01-01')).toBe('2025-11-25')
    const { body } = await rpc(app, 'initialize', {})
    expect(body.error.code).toBe(-32602)
  })

  it('responds to ping, and to a notification with 202 and no body', async () => {
    const app = await buildTestApp()
    expect((await rpc(app, 'ping', {})).body).toEqual({ jsonrpc: '2.0', id: 1, result: {} })
    const sent = { jsonrpc: '2.0', method: 'notifications/initialized' }
    expect(await app.post('/mcp', sent)).toMatchObject({ status: 202, text: '' })
  })

  it('names the known methods and tools for an unknown one', async () => {
    const app = await buildTestApp()
    const unknown = await rpc(app, 'resources/list', {})
    expect(unknown.body.error.code).toBe(-32601)
    expect(unknown.body.error.message).toContain('tools/call')
    const tool = await rpc(app, 'tools/call', { name: 'drop_all' })
    expect(tool.body.error).toMatchObject({ code: -32602 })
    expect(tool.body.error.message).toContain('search_calls')
    expect((await rpc(app, 'tools/call', { name: 5 })).body.error.code).toBe(-32602)
  })

  it('refuses other bodies, versions, methods of HTTP and callers without a key', async () => {
    const app = await buildTestApp()
    expect((await app.post('/mcp', [])).status).toBe(422)
    const headers = { 'mcp-protocol-version': '1999-01-01' }
    expect((await rpc(app, 'ping', {}, { headers })).body.error.code).toBe('invalid_header')
    expect((await app.get('/mcp')).status).toBe(405)
    expect((await rpc(app, 'ping', {}, { key: null })).status).toBe(401)
  })

  it('refuses pages of another origin', async () => {
    const app = await buildTestApp()
    const send = (headers: Record<string, string>) => rpc(app, 'ping', {}, { headers })
    const other = await send({ origin: 'https://evil.example' })
    expect(other.body.error.code).toBe('cross_origin_request')
    expect((await send({ 'sec-fetch-site': 'cross-site' })).status).toBe(403)
    expect((await send({ origin: 'http://localhost:80' })).status).toBe(200)
  })
})

describe('rights', () => {
  it('are those of the key: its projects, traces:read for reads, traces:write for feedback', async () => {
    const app = await buildTestApp()
    const elsewhere = await app.createKey({ projects: ['other/project'] })
    const writer = await app.createKey({ scopes: ['traces:write'] })
    const reader = await app.createKey({ scopes: ['traces:read'] })
    const { tools } = (await rpc(app, 'tools/list', {})).body.result
    const sent: Record<string, object> = {
      read_trace: { trace_id: 't' },
      call_stats: { start: '2026-01-01' },
      read_rows: { rows: 'x' },
      read_prompt: { object_id: 'p' },
      run_prompt: { object_id: 'p' },
      read_evaluation: { evaluation_id: 'e' },
      add_feedback: { call_id: 'c', feedback_type: 'x', payload: {} },
    }
    for (const { name } of tools) {
      const body = { project_id, start: undefined, ...sent[name] }
      if (name === 'call_stats') Object.assign(body, { start: '2026-01-01T00:00:00Z' })
      const outcome = (key: string) => callTool(app, name, body, { key })
      expect(await outcome(elsewhere), name).toContain('project_forbidden (project_id)')
      const lacking = name === 'add_feedback' ? reader : writer
      expect(await outcome(lacking), name).toContain('scope_missing')
    }
    expect(tools).toHaveLength(11)
  })
})

describe('tools', () => {
  it('have schemas of objects, as clients demand, in which all refs can be resolved', async () => {
    const app = await buildTestApp()
    const { tools } = (await rpc(app, 'tools/list', {})).body.result
    for (const { inputSchema } of tools) {
      expect(inputSchema).toMatchObject({ type: 'object', additionalProperties: false })
      for (const [, name = ''] of JSON.stringify(inputSchema).matchAll(/"#\/\$defs\/(\w+)"/g)) {
        expect(inputSchema.$defs).toHaveProperty(name)
      }
    }
  })

  it('refuse bad arguments in words, as results with isError', async () => {
    const app = await buildTestApp()
    expect(await callTool(app, 'search_calls', {})).toMatch(/^validation_failed \(project_id\): /)
    const tooMany = await callTool(app, 'search_calls', { project_id, limit: 51 })
    expect(tooMany).toContain('limit')
    const unknown = await callTool(app, 'list_prompts', { project_id, colour: 'red' })
    expect(unknown).toContain('colour')
    const query = { $expr: { $like: [] } }
    expect(await callTool(app, 'search_calls', { project_id, query })).toContain('query_invalid')
  })

  it('search calls by text, filter and query, the newest first, and say how to read on', async () => {
    const app = await buildTestApp()
    await addCall(app, 'a', { at: 1, inputs: { q: 'Blue "whale"' } })
    await addCall(app, 'b', { at: 2, inputs: { q: 'red' } })
    await addCall(app, 'c', { at: 3, inputs: { q: 'BLUE' } })
    const idsOf = async (more: object) => {
      const { calls } = await callTool(app, 'search_calls', { project_id, ...more })
      return calls.map(({ id }: { id: string }) => id)
    }
    expect(await idsOf({})).toEqual(['c', 'b', 'a'])
    expect(await idsOf({ text: 'blue' })).toEqual(['c', 'a'])
    expect(await idsOf({ text: 'blue "whale"' })).toEqual(['a'])
    expect(await idsOf({ text: 'blue', filter: { call_ids: ['a', 'b'] } })).toEqual(['a'])
    const since = [{ $getField: 'started_at' }, { $literal: '2026-01-01T00:00:02Z' }]
    expect(await idsOf({ query: { $expr: { $gte: since } } })).toEqual(['c', 'b'])
    const page = await callTool(app, 'search_calls', { project_id, limit: 1, offset: 1 })
    expect(page.calls).toMatchObject([{ id: 'b', inputs: { q: 'red' }, ended_at: null }])
    expect(page.next).toBe('There are more: read on with offset 2.')
  })

  it('read at most 200 calls of a trace at once, with bodies cut', async () => {
    const app = await buildTestApp()
    const inputs = { q: 'x'.repeat(100) }
    for (let at = 0; at < 201; at++) await addCall(app, `c${at}`, { at, trace_id: 't', inputs })
    const sent = { project_id, trace_id: 't', body_chars: 20 }
    const first = await callTool(app, 'read_trace', sent)
    expect(first.calls).toHaveLength(200)
    expect(first.calls[0].inputs).toBe(`{"q":"${'x'.repeat(14)} [cut after 20 of 108 characters]`)
    expect(first.next).toContain('offset 200')
    const rest = await callTool(app, 'read_trace', { ...sent, offset: 200 })
    expect(rest.calls.map(({ id }: { id: string }) => id)).toEqual(['c200'])
    expect(rest).not.toHaveProperty('next')
    const missing = await callTool(app, 'read_trace', { project_id, trace_id: 'none' })
    expect(missing).toContain('trace_not_found')
  })

  it('have results of about 100 KB at most, as escaped in the response', async () => {
    const app = await buildTestApp()
    const inputs = { q: '"\\é'.repeat(8_000) }
    for (let at = 0; at < 20; at++) await addCall(app, `c${at}`, { at, trace_id: 't', inputs })
    const sent = { project_id, trace_id: 't', body_chars: 20_000 }
    const { text } = await rpc(app, 'tools/call', { name: 'read_trace', arguments: sent })
    expect(Buffer.byteLength(text)).toBeLessThan(101_000)
    expect(text).toContain('The result has reached its maximum length: read on with offset 1.')
  })

  it('bucket statistics, in longer buckets when there are too many', async () => {
    const app = await buildTestApp()
    await addCall(app, 'a')
    const window = { start: '2026-01-01T00:00:00Z', end: '2026-01-02T00:00:00Z' }
    const call_metrics = [{ metric: 'call_count' }]
    const sent = { project_id, ...window, call_metrics }
    const daily = await callTool(app, 'call_stats', { ...sent, granularity: 86_400 })
    expect(daily.call_buckets).toMatchObject([{ sum_call_count: 1 }])
    const fine = await callTool(app, 'call_stats', { ...sent, granularity: 10 })
    expect(fine.granularity).toBeGreaterThan(10)
    expect(fine.call_buckets.length).toBeLessThan(800)
  })

  it('list the latest datasets and prompts, and read rows of a dataset', async () => {
    const app = await buildTestApp()
    const rows = [{ q: 1 }, { q: 2 }, { q: 3 }]
    const dataset = { name: 'questions', rows }
    expect((await app.post('/v2/acme/demo/datasets', dataset)).status).toBe(200)
    const val = {
      _class_name: 'MessagesPrompt',
      _bases: ['Prompt', 'Object', 'BaseModel'],
      messages: [],
    }
    const obj = { project_id, object_id: 'greeting', val }
    expect((await app.post('/obj/create', { obj })).status).toBe(200)
    const { datasets } = await callTool(app, 'list_datasets', { project_id })
    expect(datasets).toMatchObject([{ object_id: 'questions', version_index: 0 }])
    const { prompts } = await callTool(app, 'list_prompts', { project_id })
    expect(prompts).toMatchObject([{ object_id: 'greeting', val: { messages: [] } }])
    const page = { project_id, rows: datasets[0].val.rows, limit: 1, offset: 1 }
    const read = await callTool(app, 'read_rows', page)
    expect(read.rows).toEqual([{ index: 1, val: { q: 2 } }])
    expect(read.next).toContain('offset 2')
    expect(await callTool(app, 'read_rows', { ...page, offset: 9 })).toEqual({ rows: [] })
    const missing = await callTool(app, 'read_rows', { project_id, rows: 'nowhere' })
    expect(missing).toContain('table_not_found')
  })

  it('store feedback as the user of the key, by the rules of its type, with exact numbers', async () => {
    const app = await buildTestApp()
    await addCall(app, 'a')
    const name = 'add_feedback'
    const text = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"${name}","arguments":{
      "project_id":"acme/demo","call_id":"a","feedback_type":"correctness","payload":{"output":0.12345678901234567890}}}}`
    const { body } = await app.post('/mcp', text)
    const { id, weave_ref } = JSON.parse(body.result.content[0].text)
    const stored = await app.post('/feedback/query', { project_id })
    expect(stored.body.result).toMatchObject([{ id, weave_ref, feedback_type: 'correctness' }])
    expect(stored.text).toContain('0.12345678901234567890')
    const note = { project_id, call_id: 'a', feedback_type: 'wandb.note', payload: {} }
    expect(await callTool(app, name, note)).toContain('payload.note')
  })
})
