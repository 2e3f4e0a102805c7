/**
 * What the rules of annotation queues have to check, in SQLite and PostgreSQL alike. The tasks are rows among those of
 * evaluators, under the id of the queue, and so are the counts of each day.
 */
import type { QueuedCall } from '../../../domain/annotation/annotation-item.ts'
import type { AnnotationQueue } from '../../../domain/annotation/annotation-queue.ts'
import { feedbackTask, rulesOf } from '../../../domain/annotation/queue-rules.ts'
import { dayOf } from '../../../domain/evaluators/evaluator.ts'
import type { Feedback } from '../../../domain/feedback/new-feedback.ts'
import type { RuleOutcome, RuleTask } from '../../api/annotation/annotation-queues.ts'
import type { Dialect } from '../db/dialect.ts'
import { all, count, first, run, type Steps } from '../db/steps.ts'
import {
  ADD_DAY,
  DELETE_WORK,
  FIND_DAY,
  LIST_DUE,
  TASK_COLUMNS,
} from '../evaluators/evaluators.sql.ts'
import { NO_COUNTS } from '../evaluators/task-writes.ts'
import * as SQL from './annotation-queues.sql.ts'

/** Limit: tasks of a queue in one round. */
const ROUND_MAX = 200

type RuledRow = Pick<AnnotationQueue, 'id' | 'rules_json'>

export function listRuled(): Steps<AnnotationQueue[]> {
  return all(SQL.LIST_RULED, {})
}

export function listRuleTasks(evaluator_id: string, now_us: number): Steps<RuleTask[]> {
  return all(LIST_DUE, { evaluator_id, is_backfill: 0, now_us, limit: ROUND_MAX })
}

/** Queues new feedback for the rules that are about it, in its transaction. */
export function createFeedbackTasks(dialect: Dialect) {
  const insert = dialect.insertMany('evaluator_tasks', TASK_COLUMNS, 'ON CONFLICT DO NOTHING\n')
  return function* queueFeedback(batch: readonly Feedback[]): Steps<void> {
    for (const [project_id, own] of Map.groupBy(batch, (feedback) => feedback.project_id)) {
      const queues = yield* all<RuledRow>(SQL.LIST_RULES, { project_id })
      for (const { id: evaluator_id, rules_json } of queues) {
        const rules = rulesOf({ rules_json })
        const tasks = own.flatMap((feedback) => {
          const subject_id = rules && feedbackTask(rules, feedback)
          if (subject_id === null) return []
          const [at, none] = [feedback.created_at_us, 0]
          const times = { queued_at_us: at, due_at_us: at, lease_expires_at_us: none }
          return { evaluator_id, subject_id, is_backfill: none, attempts: none, ...times }
        })
        if (tasks.length > 0) yield* insert(tasks)
      }
    }
  }
}

export function createRuleWrites(newId: () => string, dialect: Dialect) {
  const LOCK_QUEUE = SQL.FIND_QUEUE + dialect.forUpdate
  const FIND_ITEMS = SQL.findItems(dialect)
  const { LIST_OVER, DELETE_OVER, DEFER } = SQL.ruleTasks(dialect)
  const insertItems = dialect.insertMany('annotation_items', SQL.NEW_ITEM_COLUMNS, SQL.UNLESS_THERE)

  function* roomIn(queue: AnnotationQueue & { queue_key: number }, now_us: number): Steps<number> {
    const rules = rulesOf(queue)
    if (rules === null) return 0
    const { id: evaluator_id, queue_key } = queue
    const day = yield* first<{ scored: number }>(FIND_DAY, { evaluator_id, day: dayOf(now_us) })
    type Sums = { total_items: number; completed_items: number }
    const sums = (yield* first<Sums>(SQL.COUNT_ITEMS, { queue_key })) as Sums
    const unrated = sums.total_items - sums.completed_items
    return Math.max(
      0,
      Math.min(
        rules.max_per_day - (day?.scored ?? 0),
        rules.max_waiting - unrated,
        SQL.ITEMS_MAX - sums.total_items,
      ),
    )
  }

  return {
    *settle_rules({ project_id, id, calls, ...rest }: RuleOutcome): Steps<void> {
      const { over, waiting, due_at_us, now_us } = rest
      type Keyed = AnnotationQueue & { readonly queue_key: number }
      const queue = yield* first<Keyed>(LOCK_QUEUE, { project_id, id })
      // Another process may have settled some of them.
      const tasks = yield* all<RuleTask>(LIST_OVER, { id, over })
      const own = new Set(tasks.map(({ subject_id }) => subject_id))
      yield* run(DELETE_OVER, { id, over })
      yield* run(DEFER, { id, waiting, due_at_us })
      if (queue === undefined || calls.length === 0) return
      const { queue_key } = queue
      const call_ids = calls.map(({ call_id }) => call_id)
      const items = yield* all<QueuedCall>(FIND_ITEMS, { queue_key, call_ids })
      const known = new Set(items.map(({ call_id }) => call_id))
      const found = calls.filter((call) => own.has(call.subject_id) && !known.has(call.call_id))
      const missing = [...new Map(found.map((call) => [call.call_id, call])).values()]
      const added = missing.slice(0, yield* roomIn(queue, now_us))
      const times = { created_at_us: now_us, updated_at_us: now_us }
      const common = { queue_key, display_fields_json: '[]', ...times }
      yield* insertItems(added.map((call) => ({ ...common, ...call, id: newId() })))
      const counts = { scored: added.length, dropped: missing.length - added.length }
      yield* run(ADD_DAY, { ...NO_COUNTS, ...counts, evaluator_id: id, day: dayOf(now_us) })
    },
  }
}

/** Removes what waits for the rules of a queue, and what they have counted. */
export function* deleteRuleWork(id: string): Steps<void> {
  for (const sql of DELETE_WORK) yield* run(sql, { id })
}

/** How many queues of a project have rules. */
export function countRuled(project_id: string): Steps<number> {
  return count(SQL.COUNT_RULED, { project_id })
}
