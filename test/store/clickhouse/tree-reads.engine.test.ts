import { describe, expect, it, onTestFinished } from 'vitest'
import { resolveCallsSelection } from '../../../src/domain/calls/calls-query.ts'
import { createCallsQueryStore } from '../../../src/store/clickhouse/calls/query/calls-query.ts'
import { connectClickHouse } from '../../../src/store/clickhouse/db/client.ts'
import { createReads } from '../../../src/store/clickhouse/db/reads.ts'
import { SELECT_FAILED_TRACES } from '../../../src/store/clickhouse/usage/usage.sql.ts'
import { openSqliteStore } from '../../../src/store/sqlite/open.ts'
import { readCaller } from '../../support/read-caller.ts'
import { endOf, startOf } from '../calls/call-store-contract.ts'
import { hasClickHouse, makeDatabase } from './clickhouse-server.ts'
import { openTestStores } from './open-clickhouse.ts'

const project_id = 'acme/demo'

describe.skipIf(!hasClickHouse)('lists by status in ClickHouse', () => {
  it('read failed traces only for a status that failed descendants change', async () => {
    const url = await makeDatabase()
    const node = openSqliteStore({ dataDir: ':memory:', ingestQueueMax: 10 })
    const { calls } = await openTestStores({ url }, node)
    const db = connectClickHouse({ url, readTimeoutMs: 20_000 })
    onTestFinished(() => db.close())
    const parents = { start: startOf({ id: 'root', trace_id: 't' }), end: endOf({ id: 'root' }) }
    const fields = { id: 'child', trace_id: 't', parent_id: 'root' }
    const failed = { start: startOf(fields), end: endOf({ id: 'child', exception: 'refused' }) }
    await calls.writeParts([parents, failed])

    const statements: string[] = []
    const read: typeof db.read = (sql, ...rest) => {
      statements.push(sql)
      return db.read(sql, ...rest)
    }
    const reads = createReads({ ...db, read }, { slots: 4, queueMax: 10 })
    const arrivals = { wait: async () => undefined }
    const { count } = createCallsQueryStore({ reads, joinedDataOf: node.joinedDataOf, arrivals })
    async function find(status: string) {
      statements.length = 0
      const $expr = { $eq: [{ $getField: 'summary.weave.status' }, { $literal: status }] }
      const selection = resolveCallsSelection({ project_id, query: { $expr } })
      const found = await count(selection, readCaller())
      return [found.count, statements.includes(SELECT_FAILED_TRACES)]
    }
    expect(await find('error')).toEqual([1, false])
    expect(await find('descendant_error')).toEqual([1, true])
  })
})
