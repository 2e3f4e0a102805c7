import { mkdtempSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import type { CallsQueryStore } from '../../../src/store/api/calls/calls.ts'
import { basic, buildTestApp, type TestApp } from '../../support/build-test-app.ts'
import { readCaller } from '../../support/read-caller.ts'
import { makeTempDir } from '../../support/temp-dir.ts'
import { ENDED, STARTED } from '../call-fixtures.ts'

const PROJECT = 'acme/demo'
const URL = '/calls/stream_query'

async function fill({ post }: TestApp, calls: number, textLength: number): Promise<void> {
  const text = 'x'.repeat(textLength)
  const batch = Array.from({ length: calls }, (_, n) => ({
    ...STARTED,
    ...ENDED,
    id: `c${String(n).padStart(5, '0')}`,
    trace_id: 't',
    inputs: { text },
  }))
  const { body } = await post('/v2/acme/demo/calls/complete', { batch })
  expect(body.errors).toEqual([])
}

/** Counts the slices that the route takes of the store. */
function watchPages(store: CallsQueryStore) {
  const seen = { slices: 0, hasEnded: false }
  const watched: CallsQueryStore = {
    ...store,
    async *pages(...parameters) {
      try {
        for await (const page of store.pages(...parameters)) {
          seen.slices += 1
          yield page
        }
      } finally {
        seen.hasEnded = true
      }
    },
  }
  return { seen, watched }
}

/** Waits until a number has not changed for a while, however slow the machine is. */
async function untilStill(read: () => number): Promise<void> {
  let last = Number.NaN
  let sameFor = 0
  while (sameFor < 10) {
    await new Promise((resolve) => setTimeout(resolve, 50))
    sameFor = read() === last ? sameFor + 1 : 0
    last = read()
  }
}

/** Sends a query over a socket of its own that reads nothing until it is told to. */
async function openReader({ app, key }: TestApp) {
  const address = await app.listen({ port: 0 })
  const socket = connect(Number(new globalThis.URL(address).port), '127.0.0.1')
  const body = JSON.stringify({ project_id: PROJECT })
  socket.pause()
  socket.write(
    [
      `POST ${URL} HTTP/1.1`,
      'host: x',
      `authorization: ${basic(key)}`,
      'content-type: application/json',
      `content-length: ${body.length}`,
      '',
      body,
    ].join('\r\n'),
  )
  return socket
}

/** More than the buffers of a connection hold, in calls that are a slice each. */
const SLICES = 24

const dataDir = mkdtempSync(join(tmpdir(), 'weft-test-'))
afterAll(() => rmSync(dataDir, { recursive: true, force: true }))
let isFilled = false

/** Calls, each a slice of its own; they are written once. */
async function buildLargeApp() {
  const app = await buildTestApp({ dataDir, bodyBytesMax: 64 * 1024 * 1024 })
  const { seen, watched } = watchPages(app.deps.callsQuery)
  if (isFilled) return { app, seen, watched }
  isFilled = true
  const text = 'x'.repeat(1_100_000)
  for (let n = 0; n < 4; n++) {
    const batch = Array.from({ length: SLICES / 4 }, (_, k) => ({
      ...STARTED,
      ...ENDED,
      id: `c${n}-${k}`,
      trace_id: 't',
      inputs: { text },
    }))
    const { body } = await app.post('/v2/acme/demo/calls/complete', { batch })
    expect(body.errors).toEqual([])
  }
  return { app, seen, watched }
}

describe('POST /calls/stream_query over a socket', () => {
  it('reads no further than a slow reader takes, and stops when it leaves', async () => {
    const { app, seen, watched } = await buildLargeApp()
    const slow = await buildTestApp({ drainTimeoutMs: 50 }, { ...app.deps, callsQuery: watched })
    const reader = await openReader({ ...slow, key: app.key })
    await expect.poll(() => seen.slices).toBeGreaterThan(0)
    await untilStill(() => seen.slices)
    expect(seen.hasEnded).toBe(false)
    const taken = seen.slices
    expect(taken).toBeLessThan(SLICES)
    reader.destroy()
    await expect.poll(() => seen.hasEnded).toBe(true)
    expect(seen.slices).toBeLessThanOrEqual(taken + 1)
  })

  it('gives a slow reader everything in the end', async () => {
    const { app, watched } = await buildLargeApp()
    const slow = await buildTestApp({}, { ...app.deps, callsQuery: watched })
    const reader = await openReader({ ...slow, key: app.key })
    let lines = 0
    reader.on('data', (chunk) => {
      lines += chunk.toString('latin1').split('\n').length - 1
      reader.pause()
      setImmediate(() => reader.resume())
    })
    reader.resume()
    await expect.poll(() => lines).toBeGreaterThan(SLICES)
    reader.destroy()
  })

  it('ends in the middle when the server shuts down', async () => {
    const { app, seen, watched } = await buildLargeApp()
    const slow = await buildTestApp({ drainTimeoutMs: 50 }, { ...app.deps, callsQuery: watched })
    const reader = await openReader({ ...slow, key: app.key })
    const closed = new Promise<void>((resolve) => reader.once('close', () => resolve()))
    reader.on('error', () => {})
    await expect.poll(() => seen.slices).toBeGreaterThan(0)
    await slow.app.close()
    // A slice that was under way is read to its end.
    await expect.poll(() => seen.hasEnded).toBe(true)
    expect(seen.slices).toBeLessThan(SLICES)
    reader.resume()
    await closed
  })

  it('responds with the same over readers as over the main connection', async () => {
    const files = await buildTestApp({ dataDir: makeTempDir() })
    const memory = await buildTestApp()
    const query = {
      project_id: PROJECT,
      query: { $expr: { $gte: [{ $getField: 'id' }, { $literal: 'c00100' }] } },
      sort_by: [{ field: 'id', direction: 'desc' }],
      limit: 150,
    }
    const texts = []
    for (const app of [files, memory]) {
      await fill(app, 300, 10)
      texts.push((await app.post(URL, query)).text)
      const { body } = await app.post('/calls/query_stats', {
        project_id: PROJECT,
        query: query.query,
      })
      expect(body.count).toBe(200)
    }
    expect(texts[0]).toBe(texts[1])
    expect(texts[0]?.split('\n')[0]).toContain('"c00299"')
  })

  it('leaves out a call that is deleted while the list runs, and shows the rest once', async () => {
    const { deps, post } = await buildTestApp()
    await fill({ post } as TestApp, 250, 10)
    const selection = {
      project_id: PROJECT,
      filter: {},
      expression: null,
      sort: [],
      expanded: [],
      reach: { refScheme: 'weave', projects: ['*'] },
      prices: null,
      startedUs: { from: 0, to: Number.MAX_SAFE_INTEGER },
      direction: 'asc' as const,
      offset: 0,
      limit: Number.POSITIVE_INFINITY,
    }
    const shape = {
      columns: null,
      previewed: null,
      withCosts: false,
      withFeedback: false,
      withTreeUsage: false,
      withStorageSize: false,
      withTotalStorageSize: false,
      withExpandedValues: false,
    }
    const ids: string[] = []
    for await (const page of deps.callsQuery.pages(selection, shape, readCaller())) {
      ids.push(...page.map(({ call }) => call.id))
      await post('/calls/delete', { project_id: PROJECT, call_ids: ['c00240', 'c00001'] })
    }
    expect(ids).toHaveLength(249)
    expect(new Set(ids).size).toBe(249)
    expect(ids).not.toContain('c00240')
  })
})
