import { describe, expect, it, onTestFinished } from 'vitest'
import type { SpanLog } from '../../../src/domain/calls/call-logs.ts'
import { createLogWrites } from '../../../src/store/clickhouse/calls/call-logs.ts'
import { createCallRemoval } from '../../../src/store/clickhouse/calls/removal/call-removal.ts'
import { connectClickHouse } from '../../../src/store/clickhouse/db/client.ts'
import { createInserts } from '../../../src/store/clickhouse/db/inserts.ts'
import { spanId, TRACE } from '../../otel/otel-fixtures.ts'
import { endOf, startOf } from '../calls/call-store-contract.ts'
import { expireAll } from '../support/expire-all.ts'
import { hasClickHouse, makeDatabase } from './clickhouse-server.ts'
import { openTestStores } from './open-clickhouse.ts'

const project_id = 'acme/demo'
const NOW_US = Date.now() * 1000
const { signal } = new AbortController()

function logOf(span: number, content = 'hi'): SpanLog {
  const event = { name: 'gen_ai.user.message', time_unix_nano: '1', attributes: { content } }
  const event_json = JSON.stringify(event)
  return { project_id, trace_id: TRACE, span_id: spanId(span), event_json }
}

function writeAt(seconds: number, ...logs: readonly SpanLog[]) {
  return { logs, received_at_us: NOW_US + seconds * 1_000_000, ref_scheme: 'weave' }
}

function callOf(span: number) {
  const ids = { id: spanId(span), trace_id: TRACE }
  return { start: startOf(ids), end: endOf(ids) }
}

async function open() {
  const url = await makeDatabase()
  const stores = await openTestStores({ url })
  const db = connectClickHouse({ url, readTimeoutMs: 20_000 })
  onTestFinished(() => db.close())
  return {
    ...stores,
    db,
    /** The spans of stored records, by their numbers. */
    async spans() {
      const sql = 'SELECT DISTINCT id FROM call_logs ORDER BY id'
      return (await db.read<{ id: string }>(sql, {})).map(({ id }) => Number.parseInt(id, 16))
    },
  }
}

describe.skipIf(!hasClickHouse)('records of logs in ClickHouse', () => {
  it('are refused when too many spans wait, unless theirs come', async () => {
    const { db, calls } = await open()
    const { write } = createLogWrites(db, createInserts(db), 2)
    expect(await write(writeAt(0, logOf(1)))).toBe(0)
    expect(await write(writeAt(0, logOf(2)))).toBe(0)
    expect(await write(writeAt(0, logOf(3), logOf(4)))).toBe(2)
    await calls.writeParts([callOf(1)])
    expect(await write(writeAt(0, logOf(3)))).toBe(0)
    expect(await write(writeAt(0, logOf(4)))).toBe(1)
    expect(await write(writeAt(3 * 3600, logOf(4)))).toBe(0)
  })

  it('wait an hour for their span, and stay with its call', async () => {
    const stores = await open()
    await stores.calls.writeLogs(writeAt(0, logOf(1), logOf(2)))
    await stores.calls.writeLogs(writeAt(1800, logOf(3)))
    await stores.calls.writeParts([callOf(2)])
    let now_us = NOW_US + 3599e6
    const { removeDeleted } = createCallRemoval(stores.db, () => now_us)
    await removeDeleted(signal)
    expect(await stores.spans()).toEqual([1, 2, 3])
    now_us = NOW_US + 3601e6
    await removeDeleted(signal)
    expect(await stores.spans()).toEqual([2, 3])
    now_us = NOW_US + 2 * 3600e6
    await removeDeleted(signal)
    expect(await stores.spans()).toEqual([2])
  })

  it('wait an hour from the last record of their span', async () => {
    const stores = await open()
    await stores.calls.writeLogs(writeAt(0, logOf(1, 'first'), logOf(2)))
    await stores.calls.writeLogs(writeAt(3000, logOf(1, 'last')))
    let now_us = NOW_US + 3601e6
    const { removeDeleted } = createCallRemoval(stores.db, () => now_us)
    await removeDeleted(signal)
    expect(await stores.spans()).toEqual([1])
    const sql = 'SELECT event_json FROM call_logs'
    expect(await stores.db.read(sql, {})).toHaveLength(2)
    now_us = NOW_US + 6601e6
    await removeDeleted(signal)
    expect(await stores.spans()).toEqual([])
  })

  it('leave with their calls, deleted or expired, and those of deleted calls are dropped', async () => {
    const stores = await open()
    await stores.calls.writeParts([callOf(1), callOf(2), callOf(3)])
    await stores.calls.writeLogs(writeAt(0, logOf(1), logOf(2), logOf(3)))
    const deleted_at_us = NOW_US
    await stores.calls.deleteCalls({ project_id, ids: [spanId(1)], deleted_at_us })
    expect(await stores.removal.removeDeleted(signal)).toBe(1)
    expect(await stores.spans()).toEqual([2, 3])
    expect(await stores.calls.writeLogs(writeAt(0, logOf(1)))).toBe(0)
    expect(await stores.spans()).toEqual([2, 3])
    await expireAll(stores.removal, { project_id, before_us: NOW_US + 3600e6 }, signal)
    expect(await stores.spans()).toEqual([])
  })

  it('are read in the order in which they came, each once', async () => {
    const stores = await open()
    const texts = Array.from({ length: 20 }, (_, at) => String(at))
    for (const content of texts) await stores.calls.writeLogs(writeAt(0, logOf(1, content)))
    await stores.calls.writeLogs(writeAt(0, logOf(1, '3'), logOf(1, '3')))
    const sql = 'SELECT event_json FROM call_logs ORDER BY position'
    const stored = await stores.db.read<{ event_json: string }>(sql, {})
    expect(stored.map(({ event_json }) => JSON.parse(event_json).attributes.content)).toEqual(texts)
  })
})
