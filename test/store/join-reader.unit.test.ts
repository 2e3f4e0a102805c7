import { describe, expect, it, onTestFinished } from 'vitest'
import type { CallTexts } from '../../src/domain/calls/call-view.ts'
import { resolveCallsSelection } from '../../src/domain/calls/calls-query.ts'
import { createJoinReader } from '../../src/store/sqlite/calls/query/join-reader.ts'
import { openSqliteStore } from '../../src/store/sqlite/open.ts'
import type { ReadPool } from '../../src/store/sqlite/read/read-pool.ts'
import { feedbackAt } from '../feedback/feedback-fixtures.ts'
import { readCaller } from '../support/read-caller.ts'
import { openMigrated } from './support/migrated-database.ts'

const project_id = 'acme/demo'
const refOf = (id: string) => `weave:///${project_id}/call/${id}`
const PATHS = [['feedback', '*', 'payload']]
const reach = { refScheme: 'weave', projects: ['*'] }
const selection = resolveCallsSelection({ project_id }, reach)
const scanned = (id: string) => ({ call: { project_id, id } as CallTexts, parsed: {} })

describe('feedback about calls of another store', () => {
  it('feedback of another store is read for all calls, that of the first ones in one page of bounded size', async () => {
    const { feedback, joinedDataOf, close } = openSqliteStore({
      dataDir: ':memory:',
      ingestQueueMax: 9,
    })
    onTestFinished(close)
    const ids = Array.from({ length: 10 }, (_, at) => `c${at}`)
    for (const [at, id] of ids.entries()) {
      if (at % 3 === 0) continue
      for (const nth of [1, 2]) {
        const payload = { text: 'x'.repeat(1_000_000) }
        const made = feedbackAt(`2026-01-01T00:00:0${nth}Z`, `${id}-${nth}`, { payload })
        await feedback.createFeedback({ ...made, weave_ref: refOf(id) })
      }
    }
    const { beside, prepare } = joinedDataOf(selection)
    await prepare(ids.map(scanned), PATHS, readCaller())
    const found = ids.map((id) => beside.feedbackOf(scanned(id).call).map(({ id }) => id))
    expect(found).toEqual(ids.map((id, at) => (at % 3 === 0 ? [] : [`${id}-1`, `${id}-2`])))
  })

  it('feedback of another store is queried once, and not at all where it is not needed', async () => {
    const db = openMigrated()
    const asked: unknown[] = []
    const row = { id: 'f' }
    const run = async (_name: string, about: { refs: string[] }) => {
      asked.push(about)
      return about.refs.map(() => [row])
    }
    const { beside, prepare } = createJoinReader(db, { run } as unknown as ReadPool, selection)
    const calls = ['a', 'b'].map(scanned)
    await prepare(calls, [['inputs', 'text']], readCaller())
    expect(asked).toEqual([])
    await prepare(calls, PATHS, readCaller())
    expect(calls.map(({ call }) => beside.feedbackOf(call))).toEqual([[row], [row]])
    expect(asked).toEqual([{ project_id, refs: ['a', 'b'].map(refOf) }])
  })
})
