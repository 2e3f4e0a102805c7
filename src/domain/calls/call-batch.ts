/** Batches of calls: prepares items one by one and returns their results in the order of the request. Pure. */
import { ApiError, type PlainError } from '../../errors.ts'
import { toRefusedItem } from '../../schemas/batch-item-error.ts'
import type {
  CallBatchResponse,
  CompletedCallSchemaForInsert,
} from '../../schemas/calls/call-batch.ts'
import type { StartedIds } from './call-state.ts'
import {
  type CallParts,
  projectOfParts,
  resolveCallEnd,
  resolveCallStart,
  type StartDefaults,
} from './new-call.ts'
import { type PackedCalls, type PackedOutcome, packCalls } from './packed-calls.ts'

/** The result of an item: of a valid one what its parts lead to expect, of another one why it is refused. */
type ItemResult =
  | { readonly started: StartedIds | null; readonly error?: undefined }
  | { readonly error: PlainError; readonly started?: undefined }

/** A prepared batch, as data that threads can pass on. */
export interface PreparedBatch {
  /** The valid items, in order. */
  readonly packed: PackedCalls<CallParts>
  /** All projects of the valid items. */
  readonly projects: readonly string[]
  readonly items: readonly ItemResult[]
}

/** Limits: items, and bytes of their texts, between two pauses: some milliseconds. The batches of SDKs need none. */
const PAUSE_ITEMS = 128
const PAUSE_BYTES = 262_144

/**
 * Prepares items one by one.
 *
 * @param pause - lets other work be done; awaited between items
 * @param prepare - throws ApiError for an item that cannot be stored
 * @throws whatever else `prepare` throws
 */
export async function prepareBatch(
  batch: readonly unknown[],
  pause: () => Promise<void>,
  prepare: (item: unknown) => CallParts,
): Promise<PreparedBatch> {
  const parts: CallParts[] = []
  const items: ItemResult[] = []
  const projects = new Set<string>()
  let count = 0
  let bytes = 0
  for (const item of batch) {
    if (count === PAUSE_ITEMS || bytes >= PAUSE_BYTES) {
      await pause()
      count = 0
      bytes = 0
    }
    count += 1
    try {
      const part = prepare(item)
      bytes += (part.start?.start_size_bytes ?? 0) + (part.end?.end_size_bytes ?? 0)
      parts.push(part)
      projects.add(projectOfParts(part))
      const { start } = part
      items.push({ started: start && { id: start.id, trace_id: start.trace_id } })
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      const { code, message, param } = error
      items.push({ error: { code, message, param } })
    }
  }
  return { packed: packCalls(parts), projects: [...projects], items }
}

/**
 * Returns the response of a batch: the outcome of each item, in their order.
 *
 * @param exceptions - from the store
 * @param pathOf - the path within an item of a part's field, as `end.id`
 */
export function renderBatch(
  { items }: PreparedBatch,
  { exceptions }: PackedOutcome,
  pathOf: (field: string) => string,
): CallBatchResponse {
  const errors: CallBatchResponse['errors'] = []
  const unexpected = new Map(exceptions)
  let packedIndex = 0
  const res = items.map((item, index): CallBatchResponse['res'][number] => {
    const result = item.error ? item : (unexpected.get(packedIndex++) ?? item)
    if (!result.error) return result.started ?? {}
    const { code, message, param } = result.error
    const refused = toRefusedItem(index, { code, message, param: param && pathOf(param) })
    errors.push({ index, ...refused.error })
    return refused
  })
  return { res, errors }
}

/**
 * Resolves both parts of a completed call.
 *
 * @throws ApiError validation_failed when summary.usage is too large
 */
export function resolveCompletedCall(
  call: CompletedCallSchemaForInsert,
  defaults: StartDefaults,
  refScheme: string,
): CallParts {
  return {
    start: resolveCallStart(call, defaults, refScheme),
    end: resolveCallEnd(call, refScheme),
  }
}
