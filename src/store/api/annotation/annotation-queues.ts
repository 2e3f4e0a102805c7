/** The contract of the store of annotation queues. What it acknowledges is durable. */
import type { AuditOrigin } from '../../../domain/access/audit.ts'
import type { ReadCaller } from '../../../domain/access/read-caller.ts'
import type {
  AnnotationItem,
  NamedCalls,
  QueuedCall,
  ReachedState,
} from '../../../domain/annotation/annotation-item.ts'
import type { AnnotationQueue } from '../../../domain/annotation/annotation-queue.ts'
import type { AnnotationItemsQueryRequest } from '../../../schemas/annotation/annotation-item.ts'

/** A queue by its id. */
export interface QueueName {
  readonly project_id: string
  readonly id: string
}

/** The fields to change; null keeps the current value. */
export interface QueueChange extends QueueName {
  readonly name: string | null
  readonly description: string | null
  readonly scorer_refs_json: string | null
  /** JSON text of an object without a rule removes the rules. */
  readonly rules_json: string | null
  /** Where the feed begins, if there was no share of new traces before. */
  readonly rules_position: number
  readonly updated_at_us: number
}

/** A call, or feedback about one, that rules of a queue are to check. */
export interface RuleTask {
  readonly subject_id: string
  readonly queued_at_us: number
}

/** A call that a rule adds, by one of the tasks that are over. */
export interface RuledCall extends QueuedCall {
  readonly subject_id: string
  readonly added_by: string
}

/** What rules have found in some tasks of a queue. */
export interface RuleOutcome extends QueueName {
  readonly calls: readonly RuledCall[]
  /** Names of tasks that are over, and of those that are checked later. */
  readonly over: readonly string[]
  readonly waiting: readonly string[]
  readonly due_at_us: number
  readonly now_us: number
}

export interface QueueDeletion extends QueueName {
  readonly deleted_at_us: number
}

/** Calls for a queue. */
export interface ItemsAddition extends QueueName, NamedCalls {
  readonly display_fields_json: string
  readonly added_by: string
  readonly created_at_us: number
  /** Whether an unknown call fails the request; otherwise it is skipped. */
  readonly isStrict: boolean
}

export interface ItemsAdded {
  readonly added_count: number
  readonly duplicates: number
}

/** A step that an annotator takes with an item. */
export interface ItemStep extends QueueName {
  readonly item_id: string
  readonly annotator_user_id: string
  readonly annotation_state: ReachedState
  readonly updated_at_us: number
}

export interface QueueStats {
  readonly queue_id: string
  readonly total_items: number
  readonly completed_items: number
}

export type ItemListing = AnnotationItemsQueryRequest & { readonly queue_id: string }

/** All methods also throw server_overloaded and store_unavailable; reads of many rows also read_timeout. */
export interface AnnotationStore {
  /**
   * @throws ApiError validation_failed (param `project_id`) when the project has 10,000 queues, (param `rules`) when 100 of
   * them have rules
   */
  createQueue(queue: AnnotationQueue, by?: AuditOrigin): Promise<void>
  /** The queue; null when it is unknown or deleted. */
  findQueue(name: QueueName): Promise<AnnotationQueue | null>
  /** The queues of the caller's project in the order of their creation, without deleted ones. */
  listQueues(caller: ReadCaller): Promise<AnnotationQueue[]>
  /** The queue after the change. @throws ApiError annotation_queue_not_found; validation_failed as createQueue */
  changeQueue(change: QueueChange, by?: AuditOrigin): Promise<AnnotationQueue>
  /** The queue with the time of its deletion. @throws ApiError annotation_queue_not_found */
  deleteQueue(deletion: QueueDeletion): Promise<AnnotationQueue>
  /**
   * Puts calls that have begun and are not deleted into a queue, each once.
   *
   * @throws ApiError annotation_queue_not_found; call_not_found (param such as `call_ids[0]`); validation_failed
   * (param `call_ids` or `span_refs`) when the queue would have more than 100,000 items. Nothing is added then
   */
  addItems(addition: ItemsAddition, caller: ReadCaller): Promise<ItemsAdded>
  /**
   * Returns the items of a queue of the caller's project; equal ones in the order in which they were added. A call
   * deleted since then is shown as it was added: without an end that came later.
   *
   * @throws ApiError annotation_queue_not_found
   */
  listItems(listing: ItemListing, caller: ReadCaller): Promise<AnnotationItem[]>
  /** The progress of queues, in the order of the ids; an unknown queue has no items. */
  sumQueues(queueIds: readonly string[], caller: ReadCaller): Promise<QueueStats[]>
  /**
   * Checks and takes a step atomically: of annotators who claim an item at the same time, one gets it.
   *
   * @returns the item afterwards. When its call cannot be read, the step was still taken, and may be repeated
   * @throws ApiError annotation_queue_not_found, annotation_item_not_found, annotation_conflict
   */
  takeStep(step: ItemStep, caller: ReadCaller): Promise<AnnotationItem>
  /** The queues of all projects that have rules. */
  listRuled(): Promise<AnnotationQueue[]>
  /** What is due for the rules of a queue, at most 200. */
  listRuleTasks(queueId: string, now_us: number): Promise<RuleTask[]>
  /**
   * Adds calls that are not in a queue, within the limits of its rules, and ends their tasks, as one transaction. Calls
   * beyond a limit are counted.
   */
  settleRules(outcome: RuleOutcome): Promise<void>
}
