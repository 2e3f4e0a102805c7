/** Annotation queues in the format of the API. Pure. Spec: §2.2 queue_id. */
import type {
  AnnotationQueueSchema,
  AnnotationQueuesQueryRequest,
  QueueType,
} from '../../schemas/annotation/annotation-queue.ts'
import type { JsonObject } from '../../schemas/primitives.ts'
import { renderTimestamp, renderTimestampOrNull } from '../../schemas/timestamp.ts'
import { parseLossless } from '../json/json-text.ts'

/** A stored queue. Times in microseconds. */
export interface AnnotationQueue {
  readonly id: string
  readonly project_id: string
  readonly name: string
  readonly description: string
  /** JSON text of a list. */
  readonly scorer_refs_json: string
  readonly queue_type: QueueType
  readonly created_by: string
  readonly created_at_us: number
  readonly updated_at_us: number
  readonly deleted_at_us: number | null
  /** JSON text of QueueRules; null: none. */
  readonly rules_json: string | null
  /** Calls that were stored later may be added at random. */
  readonly rules_position: number
}

export function renderQueue(queue: AnnotationQueue): AnnotationQueueSchema {
  const { id, project_id, name, description, queue_type, created_by } = queue
  const { scorer_refs_json, rules_json, created_at_us, updated_at_us, deleted_at_us } = queue
  return {
    id,
    project_id,
    name,
    description,
    queue_type,
    created_by,
    scorer_refs: JSON.parse(scorer_refs_json),
    rules: rules_json === null ? null : (parseLossless(rules_json) as JsonObject),
    created_at: renderTimestamp(created_at_us),
    updated_at: renderTimestamp(updated_at_us),
    deleted_at: renderTimestampOrNull(deleted_at_us),
  }
}

/** What the audit list shows of a queue. */
export function renderAudited(
  queue: Pick<AnnotationQueue, 'name' | 'description' | 'scorer_refs_json' | 'rules_json'>,
) {
  const { name, description, scorer_refs_json, rules_json } = queue
  const rules = rules_json === null ? null : parseLossless(rules_json)
  return { name, description, scorer_refs: JSON.parse(scorer_refs_json), rules }
}

const FIELDS = {
  created_at: ({ created_at_us }: AnnotationQueue) => created_at_us,
  updated_at: ({ updated_at_us }: AnnotationQueue) => updated_at_us,
  name: ({ name }: AnnotationQueue) => name,
}

/**
 * The page of queues that a request asks for.
 *
 * @param queues - of the project, as they were made
 */
export function pageQueues(
  queues: readonly AnnotationQueue[],
  { name, sort_by, limit, offset }: Omit<AnnotationQueuesQueryRequest, 'project_id'>,
): AnnotationQueue[] {
  const wanted = name?.toLowerCase() ?? ''
  const terms =
    sort_by && sort_by.length > 0 ? sort_by : [{ field: 'created_at', direction: 'desc' } as const]
  const found = queues.filter((queue) => queue.name.toLowerCase().includes(wanted))
  const sorted = found.sort((left, right) => {
    for (const { field, direction } of terms) {
      const [one, other] = [FIELDS[field](left), FIELDS[field](right)]
      if (one !== other) return one < other === (direction === 'asc') ? -1 : 1
    }
    return 0
  })
  const from = offset ?? 0
  return sorted.slice(from, from + (limit ?? sorted.length))
}
