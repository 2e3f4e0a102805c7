/** The client of the protocol's own SDK talks to a listening server. */
import type { AddressInfo } from 'node:net'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { describe, expect, it, onTestFinished } from 'vitest'
import { buildTestApp } from '../support/build-test-app.ts'

async function connect() {
  const app = await buildTestApp({ host: '127.0.0.1' })
  await app.app.listen({ host: '127.0.0.1', port: 0 })
  const { port } = app.app.server.address() as AddressInfo
  const client = new Client({ name: 'test', version: '1' })
  const errors: Error[] = []
  client.onerror = (error) => errors.push(error)
  const headers = { authorization: `Bearer ${app.key}` }
  const transport = new StreamableHTTPClientTransport(new URL(`http://127.0.0.1:${port}/mcp`), {
    requestInit: { headers },
  })
  // Why a cast: with exact optional properties its types do not fit each other.
  await client.connect(transport as Parameters<Client['connect']>[0])
  onTestFinished(() => client.close())
  return { client, errors, app }
}

describe("the SDK's client", () => {
  it('connects, lists the tools, and calls them; their failures are results', async () => {
    const { client, errors, app } = await connect()
    expect(client.getServerVersion()?.name).toBe('weft')
    const { tools } = await client.listTools()
    expect(tools.map(({ name }) => name)).toContain('search_calls')
    await client.ping()
    const start = { project_id: 'acme/demo', id: 'c', trace_id: 't', op_name: 'ask' }
    const more = { started_at: '2026-01-01T00:00:00Z', attributes: {}, inputs: { q: 'why' } }
    await app.post('/call/start', { start: { ...start, ...more } })
    const sent = { project_id: 'acme/demo', text: 'WHY' }
    const found = await client.callTool({ name: 'search_calls', arguments: sent })
    expect(found).toMatchObject({ isError: false, content: [{ type: 'text' }] })
    expect(JSON.stringify(found.content)).toContain('why')
    const failed = await client.callTool({ name: 'search_calls', arguments: {} })
    expect(failed.isError).toBe(true)
    await expect(client.callTool({ name: 'none' })).rejects.toThrow('There is no tool "none"')
    expect(errors).toEqual([])
  })

  it('reads evaluations, and runs a prompt whose call it then reads', async () => {
    const { client, errors, app } = await connect()
    const project_id = 'acme/demo'
    const use = async (name: string, sent: object) => {
      const { content, isError } = await client.callTool({
        name,
        arguments: { project_id, ...sent },
      })
      expect(isError, JSON.stringify(content)).toBe(false)
      return JSON.parse((content as { text: string }[])[0]?.text ?? '')
    }
    const read = async (trace_id: string) =>
      JSON.stringify(
        await client.callTool({ name: 'read_trace', arguments: { project_id, trace_id } }),
      )
    const run = { evaluation: `weave:///${project_id}/object/e:v0` }
    const model = `weave:///${project_id}/object/m:v0`
    await app.post(`/v2/${project_id}/evaluation_runs`, { ...run, model })
    const { evaluations } = await use('list_evaluations', {})
    const [{ id: evaluation_id }] = evaluations
    expect(await use('read_evaluation', { evaluation_id })).toMatchObject({ examples: [] })
    const _bases = ['Prompt', 'Object', 'BaseModel']
    const val = { _type: 'StringPrompt', _class_name: 'StringPrompt', _bases, content: 'Hi {name}' }
    await app.post('/obj/create', { obj: { project_id, object_id: 'p', val } })
    expect((await use('read_prompt', { object_id: 'p' })).val.content).toBe('Hi {name}')
    const sent = { object_id: 'p', model: 'tiny', template_vars: { name: 'Ada' }, max_tokens: 2 }
    const { trace_id, message } = await use('run_prompt', sent)
    expect(message.role).toBe('assistant')
    // It is recorded after the response.
    await expect.poll(() => read(trace_id)).toContain('Hi Ada')
    expect(errors).toEqual([])
  })
})
