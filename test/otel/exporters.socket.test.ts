import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type SpawnedServer, startServer, TEST_KEY } from '../support/spawn-server.ts'

let folder: string
let server: SpawnedServer
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'weft-otel-'))
  server = await startServer({ WEFT_DATA_DIR: folder })
})
afterAll(async () => {
  await server.stop()
  rmSync(folder, { recursive: true })
})

async function listCalls(trace: string | null) {
  const response = await fetch(`${server.url}/calls/stream_query`, {
    method: 'POST',
    headers: {
      authorization: `Basic ${Buffer.from(`api:${TEST_KEY}`).toString('base64')}`,
      'content-type': 'application/json',
    },
    body: JSON.stringify({
      project_id: 'acme/demo',
      ...(trace === null ? {} : { filter: { trace_ids: [trace] } }),
    }),
  })
  const lines = (await response.text()).split('\n').filter(Boolean)
  return lines.map((line) => JSON.parse(line))
}

it.each([
  ['openinference', 'OpenAI Chat Completions'],
  ['vercel', 'chat tiny'],
])('a program traced by %s needs no SDK of ours', async (library, name) => {
  const before = await listCalls(null)
  await promisify(execFile)(
    process.execPath,
    ['test/otel/exporting-program.cjs', library, server.url, TEST_KEY],
    { timeout: 50_000 },
  )
  const known = new Set(before.map(({ id }) => id))
  const calls = (await listCalls(null)).filter(({ id }) => !known.has(id))
  const counted = calls.filter(({ summary }) => summary.usage !== undefined)
  expect(counted).toHaveLength(1)
  const [call] = counted
  expect(call).toMatchObject({
    op_name: name,
    inputs: { model: 'tiny' },
    summary: {
      usage: { tiny: { prompt_tokens: 14, completion_tokens: 7 } },
      weave: { status: 'success' },
    },
  })
  const trace = await listCalls(call.trace_id)
  expect(trace.filter(({ parent_id }) => parent_id === null)).toHaveLength(1)
  for (const { parent_id } of trace) {
    expect([null, ...trace.map(({ id }) => id)]).toContain(parent_id)
  }
})
