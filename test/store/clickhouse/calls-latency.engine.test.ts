import { describe, expect, it, onTestFinished } from 'vitest'
import { resolveCallsSelection, resolveCallsShape } from '../../../src/domain/calls/calls-query.ts'
import { connectClickHouse } from '../../../src/store/clickhouse/db/client.ts'
import { readCaller } from '../../support/read-caller.ts'
import { endOf, startOf } from '../calls/call-store-contract.ts'
import { hasClickHouse, makeDatabase } from './clickhouse-server.ts'
import { openTestStores } from './open-clickhouse.ts'

const project_id = 'acme/demo'
const at = (ms: number) => new Date(Date.UTC(2026, 0, 1) + ms).toISOString()

describe.skipIf(!hasClickHouse)('a page sorted by latency in ClickHouse', () => {
  it.each(['asc', 'desc'] as const)(
    'sorts a call by its first end, while another process has stored a later one, %s',
    async (direction) => {
      const url = await makeDatabase()
      const { calls, callsQuery } = await openTestStores({ url })
      const db = connectClickHouse({ url, readTimeoutMs: 20_000 })
      onTestFinished(() => db.close())
      await db.command('SYSTEM STOP MERGES calls')
      onTestFinished(() => db.command('SYSTEM START MERGES calls'))
      // The latency of each call: its own, in the middle of the others.
      const latencies = { a: 100, b: 200, twice: 300, c: 400, d: 500 }
      for (const [id, ms] of Object.entries(latencies)) {
        await calls.startCall(startOf({ id, started_at: at(0) }))
        await calls.endCall(endOf({ id, ended_at: at(ms) }))
      }
      const second = direction === 'asc' ? 1 : 900
      await db.command(
        `INSERT INTO calls (* EXCEPT stored_at) SELECT * EXCEPT stored_at REPLACE (${second} AS latency_ms, ended_at_us + 1 AS ended_at_us)
         FROM calls WHERE id = 'twice' AND has_end = 1`,
      )
      async function list(limit: number) {
        const sort_by = [{ field: 'summary.weave.latency_ms', direction }]
        const request = { project_id, sort_by, limit }
        const reach = { refScheme: 'weave', projects: [project_id] }
        const selection = resolveCallsSelection(request, reach)
        const shape = resolveCallsShape({ project_id, columns: ['id'] })
        const pages = await Array.fromAsync(callsQuery.pages(selection, shape, readCaller()))
        return pages.flat().map(({ call }) => call.id)
      }
      const sorted = ['a', 'b', 'twice', 'c', 'd']
      const expected = direction === 'asc' ? sorted : sorted.toReversed()
      for (const limit of [1, 2, 3, 5]) expect(await list(limit)).toEqual(expected.slice(0, limit))
    },
  )
})
