import { describe, expect, it } from 'vitest'
import { resolveCallsSelection } from '../../../src/domain/calls/calls-query.ts'
import { resolveRowQuery } from '../../../src/domain/query/row-query.ts'
import { INSERT_PROJECT } from '../../../src/store/sqlite/calls/columns/id-columns.sql.ts'
import type { Connection } from '../../../src/store/sqlite/db/connection.ts'
import type { Checkpoint } from '../../../src/store/sqlite/read/read-job.ts'
import { READ_JOBS } from '../../../src/store/sqlite/read/read-jobs.ts'
import { beginReadJob } from '../../../src/store/sqlite/read/reader-serve.ts'
import { INSERT_FEEDBACK } from '../support/insert-feedback.ts'
import { openMigrated } from '../support/migrated-database.ts'

const project_id = 'acme/demo'
const ROWS = 300

function open(): Connection {
  const db = openMigrated()
  const addCall = db.prepare(
    'INSERT INTO calls (project_key, id, trace_id, started_at_us) VALUES (?, ?, ?, ?)',
  )
  const { lastInsertRowid: project_key } = db.prepare(INSERT_PROJECT).run(project_id)
  const addBodies = db.prepare('INSERT INTO call_bodies (call_key, inputs_json) VALUES (?, ?)')
  const addFeedback = db.prepare(INSERT_FEEDBACK)
  const nothing = {
    creator: null,
    annotation_ref: null,
    runnable_ref: null,
    call_ref: null,
    scores_json: null,
  }
  for (let n = 0; n < ROWS; n++) {
    // Ten calls each began at the same time.
    const id = `c${(n * 7) % ROWS}`
    const { lastInsertRowid } = addCall.run(project_key, id, 't', Math.floor(n / 10))
    addBodies.run(lastInsertRowid, JSON.stringify({ n }))
    addFeedback.run({
      ...nothing,
      trigger_ref: null,
      queue_id: null,
      project_id,
      id,
      weave_ref: 'r',
      feedback_type: 'f',
      svc_user_id: 'u',
      created_at_us: Math.floor(n / 10),
      payload_json: '{}',
    })
  }
  return db
}

/** Runs a job to its end; gives up after as many slices as no job of these needs. */
function run(db: Connection, name: keyof typeof READ_JOBS, input: unknown, check: Checkpoint) {
  const job = beginReadJob(db, READ_JOBS, { name, input })
  for (let slice = 0; slice < 10 * ROWS; slice++) {
    const ended = job.runSlice(check)
    if (ended) return ended.value
  }
  throw new Error('the job does not end')
}

const expression = { $gte: [{ $getField: 'inputs.n' }, { $literal: 20 }] }
const selection = (fields: object) =>
  resolveCallsSelection({ project_id, ...fields }, { refScheme: 'weave', projects: ['*'] })
const down = [{ field: 'started_at', direction: 'desc' as const }]
const byInput = [{ field: 'inputs.n', direction: 'desc' as const }]

describe('a job that pauses after every row', () => {
  it.each([
    ['select_calls', { selection: selection({}), cursor: null }],
    [
      'select_calls',
      { selection: selection({ sort_by: down, offset: 5, limit: 70 }), cursor: null },
    ],
    ['select_calls', { selection: selection({ query: { $expr: expression } }), cursor: null }],
    ['select_calls', { selection: selection({ sort_by: byInput, limit: 9 }), cursor: null }],
    ['select_calls', { selection: selection({ filter: { trace_ids: ['t'] } }), cursor: null }],
    ['count_calls', selection({ query: { $expr: expression } })],
    ['count_calls', selection({})],
    ['feedback_query', { project_id, query: resolveRowQuery({}, ['id', 'payload']) }],
  ] as const)(
    'a job that pauses after every row returns the same result as without pauses: %s %#',
    (name, input) => {
      const db = open()
      expect(run(db, name, input, () => true)).toEqual(run(db, name, input, () => false))
    },
  )

  it('pausing lists return each call once and in order over batches of any size', () => {
    const db = open()
    for (const fields of [{}, { query: { $expr: expression } }, { sort_by: down, offset: 3 }]) {
      const whole = { selection: selection(fields), cursor: null }
      const { keys } = run(db, 'select_calls', whole, () => false) as { keys: Float64Array }
      const listed: number[] = []
      let cursor: unknown = null
      do {
        const query = { ...whole, cursor, batchKeys: 7 }
        const batch = run(db, 'select_calls', query, () => true) as {
          keys: Float64Array
          next: unknown
        }
        listed.push(...batch.keys)
        cursor = batch.next
      } while (cursor !== null)
      expect(listed).toEqual([...keys])
    }
  })

  it.each(['count_calls', 'select_calls'] as const)('a pausing job can be stopped: %s', (name) => {
    const stop = () => {
      throw new Error('stopped')
    }
    const input =
      name === 'count_calls' ? selection({}) : { selection: selection({}), cursor: null }
    expect(() => run(open(), name, input, stop)).toThrow('stopped')
  })
})
