/** Lists that read feedback, with a pause wherever one is possible. */
import { expect, it, onTestFinished, vi } from 'vitest'
import { resolveCallsSelection } from '../../../src/domain/calls/calls-query.ts'
import { selectCalls } from '../../../src/store/sqlite/calls/query/calls-scan.ts'
import { openDatabase } from '../../../src/store/sqlite/db/connection.ts'
import { SELECT_FEEDBACK_ABOUT_MANY } from '../../../src/store/sqlite/feedback/feedback.sql.ts'
import { openSqliteStore } from '../../../src/store/sqlite/open.ts'
import { feedbackAt } from '../../feedback/feedback-fixtures.ts'
import { startOf } from '../../store/calls/call-store-contract.ts'
import { INSERT_FEEDBACK } from '../../store/support/insert-feedback.ts'
import { makeTempDir } from '../../support/temp-dir.ts'

const project_id = 'acme/demo'
const REACH = { refScheme: 'weave', projects: [project_id] }
const CALLS = 900
const all = Array.from({ length: CALLS }, (_, n) => n)
const idOf = (n: number) => `c${String(n).padStart(3, '0')}`
const isJudged = (n: number) => n % 3 > 0
const scoreOf = (n: number) => (isJudged(n) ? n % 7 : null)

/** Of three calls two have feedback: 600 in all. */
async function openJudged() {
  const dataDir = makeTempDir()
  const store = openSqliteStore({ ingestQueueMax: 1000, dataDir })
  const starts = all.map((n) =>
    startOf({
      id: idOf(n),
      trace_id: 't',
      inputs: { n },
      started_at: new Date(Date.UTC(2026, 0, 1) + n).toISOString(),
    }),
  )
  await store.calls.writeParts(starts.map((start) => ({ start, end: null })))
  await store.close()
  const db = openDatabase(dataDir)
  onTestFinished(() => void db.close())
  const insert = db.prepare(INSERT_FEEDBACK)
  for (const n of all.filter(isJudged)) {
    const fields = { feedback_type: 'judge', payload: { score: n % 7 } }
    const weave_ref = `weave:///${project_id}/call/${idOf(n)}`
    insert.run({ ...feedbackAt('2026-01-01T00:00:00Z', `f${n}`, fields), weave_ref })
  }
  return db
}

const score = { $getField: 'feedback.[judge].payload.score' }
const isScore = (value: unknown) => ({ $eq: [score, { $literal: value }] })
const isN = (n: number) => ({ $eq: [{ $getField: 'inputs.n' }, { $literal: n }] })

it.each([
  ['equal', isScore(3), (n: number) => scoreOf(n) === 3],
  ['missing', isScore(null), (n: number) => scoreOf(n) === null],
  ['not equal', { $not: [isScore(3)] }, (n: number) => isJudged(n) && scoreOf(n) !== 3],
  ['or a text', { $or: [isN(3), isScore(3)] }, (n: number) => n === 3 || scoreOf(n) === 3],
])('reads feedback of 256 calls at once: %s', async (_, $expr, meets) => {
  const db = await openJudged()
  const prepare = db.prepare.bind(db)
  let reads = 0
  vi.spyOn(db, 'prepare').mockImplementation((sql: string) => {
    const statement = prepare(sql)
    if (sql !== SELECT_FEEDBACK_ABOUT_MANY) return statement
    const readAll = statement.all.bind(statement)
    return Object.assign(statement, {
      all(parameters: object) {
        reads += 1
        return readAll(parameters)
      },
    })
  })
  const selection = resolveCallsSelection({ project_id, query: { $expr } }, REACH)
  const steps = selectCalls(db, { selection, cursor: null }, () => true) as Generator<
    void,
    { readonly keys: Float64Array }
  >
  let next = steps.next()
  while (!next.done) next = steps.next()
  const find = prepare('SELECT id FROM calls WHERE call_key = ?').pluck()
  const found = Array.from(next.value.keys, (key) => find.get(key))
  expect(found).toEqual(all.filter(meets).map(idOf))
  expect(reads).toBe(3)
})
