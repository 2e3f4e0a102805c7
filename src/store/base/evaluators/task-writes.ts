/** What waits to be scored, in SQLite and PostgreSQL alike. Each write is one transaction. */
import { toNanos } from '../../../domain/access/budgets.ts'
import {
  backfillOf,
  dayOf,
  definitionOf,
  type Evaluator,
} from '../../../domain/evaluators/evaluator.ts'
import { SCORER_TIMEOUT_MS_MAX } from '../../../schemas/limits.ts'
import {
  type ClaimedTask,
  type NewTask,
  TASKS_WAITING_MAX,
  type TaskClaim,
  type TaskOutcome,
} from '../../api/evaluators/evaluators.ts'
import type { Dialect } from '../db/dialect.ts'
import { all, count, first, run, type Steps } from '../db/steps.ts'
import * as SQL from './evaluators.sql.ts'

/** How long a lease lasts beyond the time that its score may take. */
const LEASE_REST_US = 30_000_000
const US_PER_MS = 1000
/** Limits: how far the clocks of processes differ, a subject waits, a lease lasts and an evaluator rests. */
const SKEW_US_MAX = 60_000_000
const DUE_US_MAX = 86_400_000_000
const LEASE_US_MAX = SCORER_TIMEOUT_MS_MAX * US_PER_MS + LEASE_REST_US
const RETRY_US_MAX = 300_000_000
/** Rules wait for nothing, so that they are leased in larger parts. */
const RULES_AT_ONCE = 200

interface QueuedTasks {
  readonly tasks: readonly NewTask[]
  readonly now_us: number
}

type QueueInput = QueuedTasks & { readonly from: number; readonly to: number }

interface BackfillInput extends QueuedTasks {
  readonly id: string
  readonly expected: string | null
  readonly next: string
}

interface DueRow extends Omit<ClaimedTask, 'is_backfill'> {
  readonly is_backfill: 0 | 1
}

export const NO_COUNTS = { scored: 0, failed: 0, dropped: 0, spent_nanos: 0 }

export function* readPosition(): Steps<number> {
  return (yield* first<{ position: number }>(SQL.FIND_POSITION, {}))?.position ?? -1
}

export function createTaskWrites(dialect: Dialect) {
  const { forUpdate } = dialect
  const lockEvaluator = `${SQL.FIND_EVALUATOR} ${forUpdate}`
  const lockPosition = `${SQL.FIND_POSITION} ${forUpdate}`
  const deferTask = SQL.deferTask(dialect)
  const insertTasks = dialect.insertMany(
    'evaluator_tasks',
    SQL.TASK_COLUMNS,
    SQL.onWaiting(dialect),
  )

  /** Every process queues and claims under this lock, so that limits hold for all together. */
  function* lock(): Steps<number> {
    return (yield* first<{ position: number }>(lockPosition, {}))?.position ?? -1
  }

  function* insert({ tasks, now_us }: QueuedTasks, is_backfill: 0 | 1): Steps<void> {
    const byEvaluator = Map.groupBy(tasks, ({ evaluator_id }) => evaluator_id)
    for (const [evaluator_id, all] of byEvaluator) {
      const room = TASKS_WAITING_MAX - (yield* count(SQL.COUNT_TASKS, { evaluator_id }))
      const kept = all.slice(0, Math.max(0, room))
      yield* insertTasks(
        kept.map((task) => ({
          ...task,
          is_backfill,
          queued_at_us: now_us,
          attempts: 0,
          lease_expires_at_us: 0,
        })),
      )
      const dropped = all.length - kept.length
      if (dropped === 0) continue
      yield* run(SQL.ADD_DAY, { ...NO_COUNTS, evaluator_id, day: dayOf(now_us), dropped })
    }
  }

  return {
    *queue_tasks({ from, to, ...queued }: QueueInput): Steps<boolean> {
      if ((yield* lock()) !== from) return false
      yield* insert(queued, 0)
      yield* run(SQL.SET_POSITION, { id: 1, position: to })
      return true
    },
    *queue_backfill({ id, expected, next, ...queued }: BackfillInput): Steps<boolean> {
      yield* lock()
      const found = yield* first<Evaluator>(lockEvaluator, { id })
      if (found === undefined || found.backfill_json !== expected) return false
      yield* insert(queued, 1)
      yield* run(SQL.SET_BACKFILL, { id, backfill_json: next })
      return true
    },
    *claim_tasks({ token, now_us, tasksMax }: TaskClaim): Steps<ClaimedTask[]> {
      yield* lock()
      const claimed: ClaimedTask[] = []
      const claiming = yield* all<Evaluator>(SQL.LIST_CLAIMING, { now_us })
      for (const [index, evaluator] of claiming.entries()) {
        const { id: evaluator_id } = evaluator
        // What one leaves of its share goes to those behind it.
        const share = Math.ceil((tasksMax - claimed.length) / (claiming.length - index))
        const claimedMax = claimed.length + share
        const { scorer } = definitionOf(evaluator)
        const timeoutUs = 'timeout_ms' in scorer ? scorer.timeout_ms * US_PER_MS : 0
        const lease_expires_at_us = now_us + timeoutUs + LEASE_REST_US
        const isPaused = backfillOf(evaluator)?.state === 'paused'
        for (const is_backfill of isPaused ? [0] : [0, 1]) {
          const room = yield* roomOf(evaluator, now_us)
          const limit = Math.max(0, Math.min(room, claimedMax - claimed.length))
          const due = { evaluator_id, is_backfill, now_us, limit }
          for (const row of yield* all<DueRow>(SQL.LIST_DUE, due)) {
            const { subject_id, attempts } = row
            yield* run(SQL.LEASE_TASK, { evaluator_id, subject_id, token, lease_expires_at_us })
            claimed.push({ ...row, is_backfill: row.is_backfill === 1, attempts: attempts + 1 })
          }
        }
      }
      return claimed
    },
    *settle_tasks(outcomes: readonly TaskOutcome[]): Steps<void> {
      for (const outcome of outcomes) yield* settle(outcome, deferTask)
    },
    *drop_backfill(evaluator_id: string): Steps<void> {
      yield* run(SQL.DROP_BACKFILL, { evaluator_id })
    },
    *release_tasks(_: null): Steps<void> {
      yield* run(SQL.RELEASE_TASKS, {})
    },
    reset_times: resetTimes,
  }
}

function* resetTimes(now_us: number): Steps<void> {
  const times = {
    now_us,
    queued_us_max: now_us + SKEW_US_MAX,
    due_us_max: now_us + DUE_US_MAX,
    lease_us_max: now_us + LEASE_US_MAX,
    retry_us_max: now_us + RETRY_US_MAX,
  }
  for (const sql of SQL.RESET_TIMES) yield* run(sql, times)
}

/** How many tasks an evaluator may have leased besides those that are. */
function* roomOf(evaluator: Evaluator, now_us: number): Steps<number> {
  const { id: evaluator_id } = evaluator
  const { concurrency: most, max_usd_per_day, scorer } = definitionOf(evaluator)
  const concurrency = scorer.kind === 'rule' ? RULES_AT_ONCE : most
  const leased = yield* count(SQL.COUNT_LEASED, { evaluator_id, now_us })
  const room = concurrency - leased
  if (max_usd_per_day === null || max_usd_per_day === undefined) return room
  const day = { evaluator_id, day: dayOf(now_us) }
  const spent = yield* first<{ scored: number; spent_nanos: number }>(SQL.FIND_DAY, day)
  const { scored = 0, spent_nanos = 0 } = spent ?? {}
  const left = toNanos(max_usd_per_day) - spent_nanos
  if (left <= 0) return 0
  const mean = scored === 0 ? 0 : spent_nanos / scored
  return mean === 0 ? room : Math.min(room, Math.ceil(left / mean) - leased)
}

/**
 * Ends or defers a try, if its lease is held, and counts it. The cost of a stored result is counted with the task, by
 * whoever holds the lease. @param deferTask - the statement
 */
function* settle(outcome: TaskOutcome, deferTask: string): Steps<void> {
  const { evaluator_id, subject_id, token, result, due_at_us, now_us } = outcome
  const evaluator = yield* first<Evaluator>(SQL.FIND_EVALUATOR, { id: evaluator_id })
  if (evaluator === undefined) return
  const held = { evaluator_id, subject_id, token }
  const isOver = result !== 'waits'
  const changed = yield* run(isOver ? SQL.DELETE_TASK : deferTask, { ...held, due_at_us })
  const isOwn = changed === 1
  const spent_nanos = isOwn || result !== 'scored' ? outcome.spent_nanos : 0
  const counts = {
    ...NO_COUNTS,
    scored: Number(isOwn && result === 'scored'),
    failed: Number(isOwn && result === 'failed'),
    spent_nanos,
  }
  if (counts.scored + counts.failed + spent_nanos > 0) {
    yield* run(SQL.ADD_DAY, { ...counts, evaluator_id, day: dayOf(now_us) })
  }
  const { retry_at_us, error } = outcome
  if (retry_at_us !== null) {
    const failures = { failures: evaluator.failures + 1, retry_at_us, last_error: error }
    yield* run(SQL.SET_FAILURES, { id: evaluator_id, ...failures })
  } else if (error !== null || (result === 'scored' && evaluator.failures > 0)) {
    const last_error = error ?? evaluator.last_error
    yield* run(SQL.SET_FAILURES, { id: evaluator_id, failures: 0, retry_at_us: 0, last_error })
  }
}
