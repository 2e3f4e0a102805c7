import { describe, expect, it, onTestFinished } from 'vitest'
import { buildTestApp, type TestApp } from '../../support/build-test-app.ts'
import {
  createScriptedBackend,
  NEVER,
  piece,
  prompt,
  scriptedModels,
} from '../../support/scripted-backend.ts'
import {
  hasClickHouse,
  makeDatabase as makeCallsDatabase,
} from '../clickhouse/clickhouse-server.ts'
import { hasPostgres, makeDatabase } from './postgres-server.ts'

const PROJECT = 'acme/demo'

/** Two servers on one store, and a model that begins its responses and never ends them. */
async function openTwo() {
  const clickhouse = { url: await makeCallsDatabase(), cluster: null }
  const settings = { store: 'clickhouse', clickhouse, metaUrl: await makeDatabase() } as const
  const backend = createScriptedBackend([prompt(), piece('Hel'), NEVER])
  const replaced = { models: scriptedModels({ backend }) }
  return {
    backend,
    one: await buildTestApp(settings, replaced),
    other: await buildTestApp(settings, replaced),
  }
}

/** Begins a streamed response. @returns its id, and the text of all its events once it has ended */
async function begin({ app, key }: TestApp, more: object = {}) {
  const address = await app.listen({ host: '127.0.0.1', port: 0 })
  const abort = new AbortController()
  onTestFinished(() => abort.abort())
  const response = await fetch(`${address}/v1/responses`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      'openai-project': PROJECT,
    },
    body: JSON.stringify({ input: 'hi', stream: true, ...more }),
    signal: abort.signal,
  })
  const events = response.body?.pipeThrough(new TextDecoderStream()).getReader()
  let text = ''
  const readTo = async (found: (text: string) => boolean) => {
    while (!found(text)) {
      const read = await events?.read()
      if (read === undefined || read.done) return text
      text += read.value
    }
    return text
  }
  const id = /"id":"(resp_[^"]+)"/.exec(await readTo((read) => read.includes('output_text.delta')))
  return { id: id?.[1] ?? '', readAll: () => readTo(() => false) }
}

describe.skipIf(!hasClickHouse || !hasPostgres)('responses of two servers on one store', () => {
  it('are cancelled at the server that streams them, whichever is asked to, once', async () => {
    const { backend, one, other } = await openTwo()
    const { id, readAll } = await begin(one)
    const cancel = () => other.post(`/v1/responses/${id}/cancel`, '')
    expect((await cancel()).body).toMatchObject({ id, status: 'cancelled' })
    expect(await readAll()).toContain('"status":"cancelled"')
    await backend.aborted
    // From then on it is a stored one.
    const again = await cancel()
    expect(again.body).toMatchObject({ id, status: 'cancelled' })
    expect((await other.get(`/v1/responses/${id}`)).text).toBe(again.text)
  })

  it('are cancelled so when they are not to be stored', async () => {
    const { one, other } = await openTwo()
    const { id, readAll } = await begin(one, { store: false })
    const { body } = await other.post(`/v1/responses/${id}/cancel`, '')
    expect(body).toMatchObject({ id, status: 'cancelled' })
    await readAll()
    const { status, body: missing } = await other.post(`/v1/responses/${id}/cancel`, '')
    expect([status, missing.error.code]).toEqual([404, 'response_not_found'])
  })

  it('are not found by a key of another project, and go on', async () => {
    const { backend, one, other } = await openTwo()
    const { id } = await begin(one)
    const key = await other.createKey({ projects: ['acme/else'] })
    const { status, body } = await other.post(`/v1/responses/${id}/cancel`, '', { key })
    expect([status, body.error.code]).toEqual([404, 'response_not_found'])
    expect(backend.runningCount()).toBe(1)
  })
})
