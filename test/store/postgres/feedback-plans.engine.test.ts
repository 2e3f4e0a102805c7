import { describe, expect, it, onTestFinished } from 'vitest'
import { connectPostgres } from '../../../src/store/postgres/db/client.ts'
import { FEEDBACK } from '../../../src/store/postgres/feedback/feedback.sql.ts'
import { hasPostgres, makeDatabase } from './postgres-server.ts'

const FILL = `
INSERT INTO feedback (project_id, id, weave_ref, feedback_type, svc_user_id, created_at_us, payload_json)
SELECT
  'acme/demo',
  n::text,
  'weave:///acme/demo/call/' || n,
  CASE WHEN n % 1000 = 0 THEN 'rare' ELSE 'common' END,
  'u',
  n,
  '{}'
FROM generate_series(1, 10000) AS n
`

async function fill() {
  const db = connectPostgres({ url: await makeDatabase(), readTimeoutMs: 20_000 })
  onTestFinished(() => db.close())
  await db.run(FILL)
  await db.run('ANALYZE feedback')
  return db
}

describe.skipIf(!hasPostgres)('the plan of a query over feedback', () => {
  it.each(['asc', 'desc'] as const)(
    'a query for one rare feedback type reads only its rows, %s',
    async (direction) => {
      const db = await fill()
      const asked = { project_id: 'acme/demo', texts: ['rare'], from_us: 0, to_us: 20_000 }
      const place = { after_us: -1, after_id: '', rows_max: 1000 }
      type Line = { 'QUERY PLAN': string }
      const sql = `EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF) ${FEEDBACK.selectFeedback('one_type', direction)}`
      const plan = (await db.all<Line>(sql, { ...asked, ...place })).map(
        (line) => line['QUERY PLAN'],
      )
      expect(plan.join('\n')).toContain('feedback_project_id_feedback_type_created_at_us_id')
      expect(plan.join('\n')).not.toContain('Rows Removed by Filter')
    },
  )
})
