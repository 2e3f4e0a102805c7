/** Lists by status in SQLite. */
import { expect, it, onTestFinished, vi } from 'vitest'
import { resolveCallsSelection } from '../../../src/domain/calls/calls-query.ts'
import { selectCalls } from '../../../src/store/sqlite/calls/query/calls-scan.ts'
import { openDatabase } from '../../../src/store/sqlite/db/connection.ts'
import { openSqliteStore } from '../../../src/store/sqlite/open.ts'
import { SELECT_FAILED_BRANCHES } from '../../../src/store/sqlite/usage/usage.sql.ts'
import { endOf, startOf } from '../../store/calls/call-store-contract.ts'
import { makeTempDir } from '../../support/temp-dir.ts'
import { runPaused } from './run-paused.ts'

const project_id = 'acme/demo'

it('a list by status reads failed branches only for a status that failed descendants change', async () => {
  const dataDir = makeTempDir()
  const store = openSqliteStore({ dataDir, ingestQueueMax: 10 })
  const fields = { id: 'child', trace_id: 't', parent_id: 'root' }
  await store.calls.writeParts([
    { start: startOf({ id: 'root', trace_id: 't' }), end: endOf({ id: 'root' }) },
    { start: startOf(fields), end: endOf({ id: 'child', exception: 'refused' }) },
  ])
  await store.close()
  const db = openDatabase(dataDir)
  onTestFinished(() => void db.close())
  const prepare = db.prepare.bind(db)
  let reads = 0
  vi.spyOn(db, 'prepare').mockImplementation((sql: string) => {
    const statement = prepare(sql)
    const all = statement.all.bind(statement)
    if (sql !== SELECT_FAILED_BRANCHES) return statement
    return Object.assign(statement, {
      all(parameters: object) {
        reads += 1
        return all(parameters)
      },
    })
  })
  function find(status: string) {
    reads = 0
    const $expr = { $eq: [{ $getField: 'summary.weave.status' }, { $literal: status }] }
    const selection = resolveCallsSelection({ project_id, query: { $expr } })
    const { keys } = runPaused(db, selectCalls, { selection, cursor: null })
    return [keys.length, reads]
  }
  expect(find('error')).toEqual([1, 0])
  expect(find('descendant_error')).toEqual([1, 1])
})
