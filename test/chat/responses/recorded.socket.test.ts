/** The state in which responses are recorded that did not come to their end. */
import { describe, expect, it } from 'vitest'
import { ApiError } from '../../../src/errors.ts'
import { createModelRegistry } from '../../../src/inference/models/registry.ts'
import { event, startFakeUpstream, stream } from '../../support/fake-upstream.ts'
import { startModelServer, upstreamModel } from '../../support/model-server.ts'
import {
  createScriptedBackend,
  NEVER,
  piece,
  prompt,
  type Step,
  scriptedModels,
} from '../../support/scripted-backend.ts'

const PROJECT = 'acme/demo'

type Server = Awaited<ReturnType<typeof startModelServer>>

function ask({ baseUrl, key }: Server, isStream: boolean, signal: AbortSignal | null = null) {
  const headers = { authorization: `Bearer ${key}`, 'OpenAI-Project': PROJECT }
  return fetch(`${baseUrl}/responses`, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify({ input: 'hi', stream: isStream }),
    signal,
  })
}

/** The one call of the project. */
async function readCall({ post }: Server) {
  const query = () => post('/calls/stream_query', { project_id: PROJECT })
  await expect.poll(async () => (await query()).text).not.toBe('')
  return JSON.parse((await query()).text)
}

describe('the record of a response', () => {
  it.each<[string, boolean, readonly Step[], object]>([
    [
      'inside of its stream',
      true,
      [prompt(), piece('He'), NEVER],
      { output: [{ status: 'incomplete', content: [{ text: 'He' }] }] },
    ],
    ['before its stream', true, [NEVER], { output: [] }],
    ['before its whole answer', false, [prompt(), piece('He'), NEVER], { output: [] }],
  ])('says cancelled when the client leaves %s', async (_name, isStream, script, more) => {
    const backend = createScriptedBackend(script)
    const server = await startModelServer(scriptedModels({ backend }))
    const leave = new AbortController()
    const reading = ask(server, isStream, leave.signal).then((response) => response.text())
    const deltas = script.filter((step) => 'type' in step)
    while (backend.runningCount() === 0 || backend.pulledCount() < deltas.length) {
      await new Promise(setImmediate)
    }
    leave.abort()
    await expect(reading).rejects.toThrow()
    const { output, exception } = await readCall(server)
    expect(exception).toMatch(/^client_closed_request/)
    expect(output).toMatchObject({ status: 'cancelled', completed_at: null, error: null, ...more })
    expect((await server.get(`/v1/responses/${output.id}`)).status).toBe(404)
  })

  it('says cancelled when the client of an engine leaves', async () => {
    const begun = { id: 'resp_up', object: 'response', status: 'in_progress', output: [] }
    const events = [
      { type: 'response.created', sequence_number: 0, response: begun },
      { type: 'response.in_progress', sequence_number: 1, response: begun },
    ]
    const upstream = await startFakeUpstream(stream(events.map(event), 'hang'))
    const base = upstreamModel(upstream.baseUrl).getModel(null)
    const model = { ...base, offers: ['chat', 'responses'] as const }
    const server = await startModelServer(createModelRegistry([model], model))
    const leave = new AbortController()
    const response = await ask(server, true, leave.signal)
    await response.body?.getReader().read()
    leave.abort()
    expect((await readCall(server)).output).toMatchObject({ status: 'cancelled' })
  })

  it.each([false, true])('says failed when the model fails, stream %s', async (isStream) => {
    const backend = createScriptedBackend([new ApiError('upstream_error')])
    const server = await startModelServer(scriptedModels({ backend }))
    expect((await ask(server, isStream)).status).toBe(502)
    const { output, exception } = await readCall(server)
    expect(exception).toMatch(/^upstream_error/)
    expect(output).toMatchObject({ status: 'failed', error: { code: 'server_error' }, output: [] })
  })
})
