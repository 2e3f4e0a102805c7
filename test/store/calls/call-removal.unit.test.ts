/** What removal leaves in SQLite's tables and in its file. */
import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { toSpanCall } from '../../../src/domain/otel/span-call.ts'
import { toColumns } from '../../../src/domain/stats/metric-names.ts'
import { openDatabase } from '../../../src/store/sqlite/db/connection.ts'
import { openSqliteStore } from '../../../src/store/sqlite/open.ts'
import { buildSpan, spanId, TRACE } from '../../otel/otel-fixtures.ts'
import { readCaller } from '../../support/read-caller.ts'
import { makeTempDir } from '../../support/temp-dir.ts'
import { expireAll } from '../support/expire-all.ts'
import { endOf, startOf } from './call-store-contract.ts'

const project_id = 'acme/demo'
const HOUR_US = 3600e6
const BASE_US = Date.UTC(2026, 0, 1) * 1000
const never = () => new AbortController().signal
const SECRET = 'the words that nobody may find'

function callAt(id: string, hour: number, size = 1) {
  const time = new Date((BASE_US + hour * HOUR_US) / 1000).toISOString()
  // Random digits, which no compression makes small.
  const text = Array.from({ length: size }, () => Math.random()).join()
  const inputs = { text, ref: 'weave:///acme/demo/object/o:v1', secret: SECRET }
  const summary = { usage: { m: { input_tokens: 5 } } }
  const start = { id, trace_id: 't', started_at: time, inputs, display_name: SECRET }
  const end = endOf({ id, ended_at: time, summary, exception: SECRET })
  return { start: startOf(start), end: { ...end, response_id: `chatcmpl-0123456789-${id}` } }
}

function open() {
  const dataDir = makeTempDir()
  const store = openSqliteStore({ dataDir, ingestQueueMax: 1000 })
  const db = openDatabase(dataDir)
  onTestFinished(async () => {
    db.close()
    await store.close()
  })
  const count = (table: string) => db.prepare(`SELECT count(*) FROM ${table}`).pluck().get()
  const removal = store.removal as NonNullable<typeof store.removal>
  const expire = (hour: number, signal = never()) =>
    expireAll(removal, { project_id, before_us: BASE_US + hour * HOUR_US }, signal)
  const remove = async (...ids: string[]) => {
    await store.calls.deleteCalls({ project_id, ids, deleted_at_us: 1 })
    await removal.removeDeleted(never())
  }
  return { store, db, count, expire, remove, dataDir }
}

const PARTS = ['call_bodies', 'call_usage', 'call_requests', 'call_refs']
const OF_HOURS = ['stats_hours', 'stats_segments', 'stats_columns', 'stats_changes']

describe('a deleted call', () => {
  it('a deleted call leaves no records of logs, also those that arrive later', async () => {
    const { store, count, remove } = open()
    const { start, end } = toSpanCall(buildSpan(), project_id)
    const event = {
      name: 'gen_ai.user.message',
      time_unix_nano: '1',
      attributes: { content: SECRET },
    }
    const logOf = (span_id: string) => ({
      project_id,
      trace_id: TRACE,
      span_id,
      event_json: JSON.stringify(event),
    })
    const write = (span_id: string, received_at_us = Date.now() * 1000) =>
      store.calls.writeLogs({ logs: [logOf(span_id)], received_at_us, ref_scheme: 'weave' })
    await store.calls.writeParts([{ start: startOf(start), end: endOf(end ?? {}) }])
    await write(spanId(1))
    await write(spanId(2))
    await write(spanId(3), (Date.now() - 3_700_000) * 1000)
    expect(count('call_logs')).toBe(3)
    await remove(spanId(1))
    expect(count('call_logs')).toBe(1)
    await expect(write(spanId(1))).resolves.toBe(0)
    expect(count('call_logs')).toBe(1)
  })

  it('a deleted call leaves no body, usage, identity of its request, ref or text, whatever arrives later', async () => {
    const { store, db, count, remove, dataDir } = open()
    const [whole, late, early] = [callAt('whole', 0, 500), callAt('late', 0), callAt('early', 0)]
    await store.calls.writeParts([whole, { ...late, end: null }, { ...early, start: null }])
    // Their texts fill pages of their own.
    const many = Array.from({ length: 10 }, (_, at) => callAt(`c${at}`, 0, 150))
    await store.calls.writeParts(many)
    await remove('whole', 'late', 'early', ...many.map(({ start }) => start.id))
    await store.calls.writeParts([whole, late, early])
    expect(PARTS.map(count)).toEqual([0, 0, 0, 0])
    const wide = 'SELECT DISTINCT display_name, exception, thread_id, storage_size_bytes FROM calls'
    expect(db.prepare(wide).raw().all()).toEqual([[null, null, null, 0]])
    db.pragma('wal_checkpoint(TRUNCATE)')
    expect(readFileSync(join(dataDir, 'weft.db')).includes(SECRET)).toBe(false)
  })
})

describe('calls that expired', () => {
  it('expired calls leave nothing of themselves and of their hours, and their keys are not reused', async () => {
    const { store, db, count, expire } = open()
    await store.calls.writeParts([0, 0.5, 1, 2].map((hour) => callAt(`c${hour}`, hour)))
    await store.segments.buildAll()
    const keys = db.prepare('SELECT hour_key FROM stats_hours ORDER BY hour').pluck()
    const before = keys.all()
    await expect(expire(2)).resolves.toBe(3)
    expect([...PARTS, ...OF_HOURS].map(count)).toEqual([1, 1, 1, 1, 1, 1, expect.any(Number), 0])
    expect(keys.all()).toEqual(before.slice(2))
    await expect(expire(3)).resolves.toBe(1)
    // The newest row of an hour keeps its key from being given out again.
    expect([...PARTS, ...OF_HOURS].map(count)).toEqual([0, 0, 0, 0, 1, 0, 0, 0])
    await store.calls.writeParts([callAt('new', 3)])
    expect(keys.all()).toEqual([before[2], (before[2] as number) + 1])
    expect(db.prepare('SELECT call_key FROM calls').pluck().all()).toEqual([5])
    await expire(3)
    expect(keys.all()).toEqual([(before[2] as number) + 1])
  })

  it('expired calls are not counted when their removal is cancelled within an hour, built or not', async () => {
    const { store, count, expire } = open()
    const counted = async () => {
      const { calls } = await store.stats.aggregate(
        {
          project_id,
          filter: {},
          prices: [],
          counting: 'own',
          valuesMax: 100,
          startUs: BASE_US,
          endUs: BASE_US + HOUR_US,
          startsUs: Float64Array.of(BASE_US),
          callColumns: toColumns([
            { metric: 'call_count', aggregations: ['sum'], percentiles: [] },
          ]),
          usageColumns: [],
        },
        readCaller(),
      )
      return calls?.values[0]?.[0]
    }
    await store.calls.writeParts(Array.from({ length: 900 }, (_, at) => callAt(`c${at}`, 0)))
    await store.segments.buildAll()
    expect(await counted()).toBe(900)
    for (const isBuilt of [false, false, true]) {
      if (isBuilt) await store.segments.buildAll()
      const before = count('calls') as number
      const stopped = new AbortController()
      // The step that has begun is not cut off.
      const left = expire(1, stopped.signal)
      stopped.abort()
      expect(await left).toBeGreaterThan(0)
      expect(await counted()).toBe(before - (await left))
      expect(count('calls')).toBe(before - (await left))
    }
  })

  it('expired calls are not counted when they were written in the same transaction', async () => {
    const { store, db, count, expire } = open()
    const stopped = new AbortController()
    const left = Promise.all([
      store.calls.writeParts([callAt('old', 0)]),
      expire(1, stopped.signal),
    ])
    stopped.abort()
    expect((await left)[1]).toBe(1)
    expect([count('calls'), count('stats_hours')]).toEqual([0, 1])
    expect(db.prepare('SELECT built_revision FROM stats_hours').pluck().all()).toEqual([null])
  })

  it('removed calls return their space to the file system', async () => {
    const { store, db, expire, dataDir } = open()
    const path = join(dataDir, 'weft.db')
    const many = Array.from({ length: 120 }, (_, at) => callAt(`c${at}`, 0, 8000))
    await store.calls.writeParts([...many, callAt('new', 1)])
    db.pragma('wal_checkpoint(TRUNCATE)')
    const before = statSync(path).size
    await expire(1)
    db.pragma('wal_checkpoint(TRUNCATE)')
    expect(statSync(path).size).toBeLessThan(before * 0.75)
    expect(db.pragma('integrity_check', { simple: true })).toBe('ok')
  })
})
