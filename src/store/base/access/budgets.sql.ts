/** Statements for budgets and their leases. */
import { insertNamed } from '../db/rows.sql.ts'

const COLUMNS = [
  'id',
  'subject_kind',
  'subject_id',
  'period',
  'zone',
  'hard_nanos',
  'soft_nanos',
  'created_at_us',
]
const SELECT = `SELECT ${COLUMNS.join(', ')} FROM budgets`

export const INSERT_BUDGET = insertNamed('budgets', COLUMNS)

export const COUNT_BUDGETS = 'SELECT count(*) AS count FROM budgets'

/** By the index of subjects. */
export const FIND_BUDGETS = `
${SELECT}
WHERE
  (subject_kind = 'key' AND subject_id = @key_id)
  OR (subject_kind = 'project' AND subject_id = @project_id)
  OR (subject_kind = 'person' AND subject_id = @svc_user_id)
ORDER BY id
`

export const LIST_BUDGETS = `
${SELECT}
ORDER BY created_at_us, id
LIMIT @limit
`

/** By primary key. */
export const FIND_BUDGET = `
${SELECT}
WHERE id = @id
`

/** By primary key. */
export const FIND_KEY_PROJECTS = `
SELECT projects_json
FROM keys
WHERE id = @id
`

export const UPDATE_BUDGET = `
UPDATE budgets
SET hard_nanos = @hard_nanos, soft_nanos = @soft_nanos
WHERE id = @id
`

export const DELETE_BUDGET = `
DELETE FROM budgets
WHERE id = @id
`

export const DELETE_SPENDING = `
DELETE FROM budget_spending
WHERE budget_id = @id
`

export const DELETE_LEASES = `
DELETE FROM budget_leases
WHERE budget_id = @id
`

/** Adds to what is spent in a period. */
export const ADD_SPENDING = `
INSERT INTO budget_spending (budget_id, period_start_us, spent_nanos)
VALUES (@budget_id, @period_start_us, @nanos)
ON CONFLICT (budget_id, period_start_us)
DO UPDATE SET spent_nanos = budget_spending.spent_nanos + excluded.spent_nanos
`

/** By primary key. */
export const FIND_SPENDING = `
SELECT spent_nanos
FROM budget_spending
WHERE budget_id = @budget_id AND period_start_us = @period_start_us
`

/** By the index of budgets. */
export const LIST_LEASES = `
SELECT id, held_nanos, settled_nanos, expires_at_us
FROM budget_leases
WHERE budget_id = @budget_id AND period_start_us = @period_start_us
`

export const DELETE_LEASE = `
DELETE FROM budget_leases
WHERE id = @id
`

export const PUT_LEASE = `
INSERT INTO budget_leases (id, budget_id, period_start_us, held_nanos, settled_nanos, expires_at_us)
VALUES (@id, @budget_id, @period_start_us, @held_nanos, @settled_nanos, @expires_at_us)
ON CONFLICT (id)
DO UPDATE SET
  held_nanos = excluded.held_nanos,
  settled_nanos = excluded.settled_nanos,
  expires_at_us = excluded.expires_at_us
`
