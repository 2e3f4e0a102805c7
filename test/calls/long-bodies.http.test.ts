import { describe, expect, it } from 'vitest'
import { openDatabase } from '../../src/store/sqlite/db/connection.ts'
import { buildTestApp, type TestApp } from '../support/build-test-app.ts'
import { makeTempDir } from '../support/temp-dir.ts'
import { ENDED, STARTED } from './call-fixtures.ts'

const PROJECT = 'acme/demo'
const LENGTHS = [10, 4000, 4096, 5000, 100_000]

/** Numbers that a double cannot hold, and text of more than one byte a character. */
function bodyOf(length: number): string {
  return `{"n":12345678901234567890.10,"e":1e400,"text":"${'näive 😀 '.repeat(length / 10)}"}`
}

async function record({ post }: TestApp, id: string, body: string): Promise<void> {
  const call = { ...STARTED, id, trace_id: id, op_name: 'long' }
  const start = JSON.stringify({ start: { ...call, inputs: 0, attributes: 1 } })
  const sent = start.replace('"inputs":0', `"inputs":${body}`)
  const { status } = await post(
    '/call/start',
    sent.replace('"attributes":1', `"attributes":${body}`),
  )
  expect(status).toBe(200)
  const end = JSON.stringify({ end: { ...ENDED, id, output: 0, summary: 1 } })
  const ended = end.replace('"output":0', `"output":${body}`).replace('"summary":1', '"summary":{}')
  expect((await post('/call/end', ended)).status).toBe(200)
}

describe('bodies of any length', () => {
  it.each(LENGTHS)('are read as they were sent: %i characters', async (length) => {
    const app = await buildTestApp({ dataDir: makeTempDir() })
    const body = bodyOf(length)
    await record(app, 'c', body)
    const { text } = await app.post('/call/read', { project_id: PROJECT, id: 'c' })
    expect(text.split(body)).toHaveLength(4)
    const listed = await app.post('/calls/stream_query', { project_id: PROJECT })
    expect(listed.text.split(body)).toHaveLength(4)
  })

  it('are accepted again when they are the same, and are a conflict when they differ', async () => {
    const app = await buildTestApp()
    await record(app, 'c', bodyOf(9000))
    await record(app, 'c', bodyOf(9000))
    const start = { ...STARTED, id: 'c', trace_id: 'c', op_name: 'long', inputs: { a: 1 } }
    expect((await app.post('/call/start', { start })).status).toBe(409)
  })

  it('take less space when they are long', async () => {
    const dataDir = makeTempDir()
    const app = await buildTestApp({ dataDir })
    await record(app, 'c', bodyOf(100_000))
    const db = openDatabase(dataDir)
    const row = db
      .prepare('SELECT inputs_json, length(inputs_zstd) AS bytes FROM call_bodies')
      .get()
    db.close()
    expect(row).toMatchObject({ inputs_json: null })
    expect((row as { bytes: number }).bytes).toBeLessThan(5000)
  })

  it('are read from rows of an earlier version, which holds them as they are', async () => {
    const dataDir = makeTempDir()
    const app = await buildTestApp({ dataDir })
    const body = bodyOf(9000)
    await record(app, 'c', body)
    const db = openDatabase(dataDir)
    db.prepare('UPDATE call_bodies SET inputs_json = ?, inputs_zstd = NULL').run(body)
    db.close()
    const { text } = await app.post('/call/read', { project_id: PROJECT, id: 'c' })
    expect(text.split(body)).toHaveLength(4)
  })
})
