/** Checkpoints: the list query from texts to values, and a page as it is shown. Pure. */
import {
  CHECKPOINT_LIMIT_DEFAULT,
  type CheckpointListQuery,
  type CheckpointListResponse,
  type CheckpointOrder,
} from '../schemas/checkpoint.ts'
import type { JsonObject } from '../schemas/primitives.ts'
import { toPage } from './page.ts'

/** The weights of a model after a step. */
export interface Checkpoint {
  /** A UUID in lower case. */
  readonly id: string
  readonly model_id: string
  /** >= 0; unique in its model, deleted checkpoints included. */
  readonly step: number
  readonly metrics: JsonObject
  readonly created_at_us: number
}

export interface CheckpointQuery {
  /** Id of the checkpoint that the page follows, or null for the beginning. */
  readonly after: string | null
  /** Items of the page. */
  readonly limit: number
  readonly order: CheckpointOrder
}

/**
 * Resolves a checked query.
 *
 * Spec: §4.9 after, limit, order. Choice: an empty cursor is the beginning, because that is what the
 * last_id of an empty page says.
 */
export function resolveCheckpointQuery(query: CheckpointListQuery): CheckpointQuery {
  return {
    after: query.after ? query.after.toLowerCase() : null,
    limit: query.limit === undefined ? CHECKPOINT_LIMIT_DEFAULT : Number(query.limit),
    order: query.order ?? 'asc',
  }
}

/** A page as the API shows it. Spec: §4.9. */
export function renderCheckpointPage(
  rows: readonly Checkpoint[],
  limit: number,
): CheckpointListResponse {
  const { data, ...page } = toPage(rows, limit)
  return {
    object: 'list',
    data: data.map(({ id, step, metrics }) => ({ id, step, metrics })),
    ...page,
  }
}
