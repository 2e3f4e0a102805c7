/** Reads and writes of annotation queues in SQLite and PostgreSQL alike. Each write is one transaction. */
import { diffStates } from '../../../domain/access/audit.ts'
import {
  type AnnotationItem,
  CLAIM_US,
  type QueuedCall,
  type ReachedState,
  requireStep,
} from '../../../domain/annotation/annotation-item.ts'
import { type AnnotationQueue, renderAudited } from '../../../domain/annotation/annotation-queue.ts'
import { hasRule, RULED_QUEUES_MAX, shareOf } from '../../../domain/annotation/queue-rules.ts'
import { ApiError } from '../../../errors.ts'
import { QUEUES_LIMIT_MAX } from '../../../schemas/limits.ts'
import type {
  ItemListing,
  ItemStep,
  ItemsAdded,
  ItemsAddition,
  QueueChange,
  QueueDeletion,
  QueueName,
  QueueStats,
} from '../../api/annotation/annotation-queues.ts'
import { type AuditStamp, record } from '../access/audit-store.ts'
import type { Dialect } from '../db/dialect.ts'
import { all, count, first, run, type Steps } from '../db/steps.ts'
import { DELETE_TASKS, START_POSITION } from '../evaluators/evaluators.sql.ts'
import * as SQL from './annotation-queues.sql.ts'
import { countRuled, createRuleWrites, deleteRuleWork } from './rule-steps.ts'

/** The sums of an unknown queue. */
export const NO_ITEMS = { total_items: 0, completed_items: 0 }

/** @param count - of the queues that a project has before another one. @throws ApiError validation_failed */
function requireQueueCapacity(count: number): void {
  if (count < QUEUES_LIMIT_MAX) return
  const message = `A project has at most ${QUEUES_LIMIT_MAX} annotation queues.`
  throw new ApiError('validation_failed', { param: 'project_id', message })
}

/** @param count - of the items after an addition, which the error undoes. @throws ApiError validation_failed */
function requireItemLimit(count: number, param: string): void {
  if (count <= SQL.ITEMS_MAX) return
  const message = `A queue has at most ${SQL.ITEMS_MAX} items.`
  throw new ApiError('validation_failed', { param, message })
}

/** Calls to add to a queue, in the given order; null: unknown. */
interface QueuedCalls extends Omit<ItemsAddition, 'calls' | 'areSpans'> {
  readonly calls: readonly (QueuedCall | null)[]
}

/** Who makes a change. */
interface Audited {
  readonly by: AuditStamp
}

type KeyedQueue = AnnotationQueue & { readonly queue_key: number }
type KeyedItem = AnnotationItem & { readonly item_key: number }

/** @throws ApiError annotation_queue_not_found */
function* requireQueue({ project_id, id }: QueueName, sql = SQL.FIND_QUEUE): Steps<KeyedQueue> {
  const queue = yield* first<KeyedQueue>(sql, { project_id, id })
  if (queue === undefined) throw new ApiError('annotation_queue_not_found', { param: 'queue_id' })
  return queue
}

function createQueueWrites(dialect: Dialect) {
  const LOCK_QUEUE = SQL.FIND_QUEUE + dialect.forUpdate
  return {
    *create_annotation_queue({ by, ...queue }: AnnotationQueue & Audited): Steps<void> {
      const { id, project_id, rules_json, rules_position } = queue
      requireQueueCapacity(yield* count(SQL.COUNT_QUEUES, { project_id }))
      if (rules_json !== null) yield* beginRules(project_id, rules_position)
      yield* run(SQL.INSERT_QUEUE, queue)
      const states = { before: null, after: renderAudited(queue) }
      const about = { subject_id: id, projects: [project_id] }
      yield* record(by, { action: 'queue.create', ...about, ...states })
    },
    *change_annotation_queue({ by, ...change }: QueueChange & Audited): Steps<AnnotationQueue> {
      const { queue_key: _before, ...queue } = yield* requireQueue(change, LOCK_QUEUE)
      const { project_id, id, name, description, scorer_refs_json } = change
      const given = [name, description, scorer_refs_json, change.rules_json]
      if (given.every((one) => one === null)) return queue
      const rules_json = rulesAfter(queue, change)
      if (queue.rules_json === null && rules_json !== null) {
        yield* beginRules(project_id, change.rules_position)
      }
      // What waits for rules that end must not wait for later ones.
      if (queue.rules_json !== null && rules_json === null) yield* run(DELETE_TASKS, { id })
      // The feed has not read calls for a queue without a share of them.
      const begins = change.rules_json !== null && shareOf(queue) === 0
      const { rules_position } = begins ? change : queue
      yield* run(SQL.UPDATE_QUEUE, { ...change, rules_json, rules_position })
      const { queue_key: _key, ...changed } = yield* requireQueue(change)
      const states = diffStates(renderAudited(queue), renderAudited(changed))
      const about = { subject_id: id, projects: [project_id] }
      yield* record(by, { action: 'queue.update', ...about, ...states })
      return changed
    },
    *delete_annotation_queue(deletion: QueueDeletion): Steps<AnnotationQueue> {
      const { queue_key: _key, ...queue } = yield* requireQueue(deletion, LOCK_QUEUE)
      yield* run(SQL.DELETE_QUEUE, deletion)
      yield* deleteRuleWork(deletion.id)
      const { deleted_at_us } = deletion
      return { ...queue, updated_at_us: deleted_at_us, deleted_at_us }
    },
  }
}

/** @param newId - returns ids for items */
export function createAnnotationWrites(newId: () => string, dialect: Dialect) {
  const LOCK_QUEUE = SQL.FIND_QUEUE + dialect.forUpdate
  const LOCK_ITEM = SQL.FIND_ITEM + dialect.forUpdate
  const insertItems = dialect.insertMany('annotation_items', SQL.NEW_ITEM_COLUMNS, SQL.UNLESS_THERE)
  return {
    ...createRuleWrites(newId, dialect),
    ...createQueueWrites(dialect),
    /** Adds items; if it throws, all of them are undone. */
    *add_annotation_items({
      calls,
      param,
      isStrict,
      id,
      ...addition
    }: QueuedCalls): Steps<ItemsAdded> {
      const { project_id, ...common } = addition
      const { queue_key } = yield* requireQueue({ project_id, id }, LOCK_QUEUE)
      const unknown = calls.indexOf(null)
      if (isStrict && unknown !== -1) {
        throw new ApiError('call_not_found', { param: `${param}[${unknown}]` })
      }
      const known = calls.filter((call) => call !== null)
      const updated_at_us = common.created_at_us
      const items = known.map((call) => ({
        ...common,
        ...call,
        id: newId(),
        queue_key,
        updated_at_us,
      }))
      const added_count = yield* insertItems(items)
      const counted = yield* first<QueueStats>(SQL.COUNT_ITEMS, { queue_key })
      requireItemLimit(counted?.total_items ?? 0, param)
      return { added_count, duplicates: known.length - added_count }
    },
    *take_annotation_step(step: ItemStep): Steps<AnnotationItem> {
      const { queue_key, queue_type } = yield* requireQueue(step)
      const { item_key } = yield* requireItem(queue_key, step, LOCK_ITEM)
      const { annotator_user_id, annotation_state, updated_at_us } = step
      const who = { item_key, annotator_user_id }
      const found = yield* first<{ annotation_state: ReachedState }>(SQL.FIND_PROGRESS, who)
      const own = found?.annotation_state ?? null
      const since_us = updated_at_us - CLAIM_US
      const isHeld = (yield* first(SQL.FIND_HOLDER, { ...who, since_us })) !== undefined
      requireStep(own, annotation_state, isHeld)
      // Finishing again changes nothing; claiming again extends the claim.
      if (own !== annotation_state || annotation_state === 'in_progress') {
        yield* run(SQL.SET_PROGRESS, { ...who, annotation_state, updated_at_us })
        yield* run(SQL.UPDATE_ITEM, { ...who, annotation_state, updated_at_us })
      }
      const { item_key: _key, ...item } = yield* requireItem(queue_key, step, SQL.FIND_ITEM)
      return { ...item, queue_type }
    },
  }
}

/** Starts the feed, if nothing has. @throws ApiError validation_failed for too many queues with rules */
function* beginRules(project_id: string, position: number): Steps<void> {
  if ((yield* countRuled(project_id)) >= RULED_QUEUES_MAX) {
    const message = `At most ${RULED_QUEUES_MAX} annotation queues of a project have rules.`
    throw new ApiError('validation_failed', { param: 'rules', message })
  }
  yield* run(START_POSITION, { id: 1, position })
}

function rulesAfter({ rules_json }: AnnotationQueue, change: QueueChange): string | null {
  if (change.rules_json === null) return rules_json
  return hasRule(JSON.parse(change.rules_json)) ? change.rules_json : null
}

function* requireItem(
  queue_key: number,
  { project_id, id, item_id }: ItemStep,
  sql: string,
): Steps<KeyedItem> {
  const names = { project_id, queue_id: id, item_id, queue_key }
  const item = yield* first<KeyedItem>(sql, names)
  if (item === undefined) throw new ApiError('annotation_item_not_found', { param: 'item_id' })
  return item
}

/** See the contract. */
export function* findQueue({ project_id, id }: QueueName): Steps<AnnotationQueue | null> {
  type Keyed = AnnotationQueue & { readonly queue_key: number }
  const row = yield* first<Keyed>(SQL.FIND_QUEUE, { project_id, id })
  if (row === undefined) return null
  const { queue_key: _key, ...queue } = row
  return queue
}

/** Returns the queues of a project. */
export function listQueues(project_id: string): Steps<AnnotationQueue[]> {
  return all(SQL.LIST_QUEUES, { project_id })
}

/** Returns the items of a listing as they were stored. */
export function* listItems(dialect: Dialect, listing: ItemListing): Steps<AnnotationItem[]> {
  const { project_id, queue_id: id } = listing
  const { queue_key, queue_type } = yield* requireQueue({ project_id, id })
  type Keyed = AnnotationItem & { readonly item_key: number }
  const sql = SQL.selectItems(listing, dialect)
  const rows = yield* all<Keyed>(sql, SQL.parametersOfItems(listing, queue_key))
  return rows.map(({ item_key: _key, ...item }) => ({ ...item, queue_type }))
}
