/** Batches of calls: prepares items one by one and returns their results in the order of the request. Pure. */
import { ApiError, type PlainError } from '../../errors.ts'
import { toRefusedItem } from '../../schemas/batch-item-error.ts'
import type {
  CallBatchResponse,
  CompletedCallSchemaForInsert,
} from '../../schemas/calls/call-batch.ts'
import type { PartResult } from './call-state.ts'
import { type CallParts, resolveCallEnd, resolveCallStart, type StartDefaults } from './new-call.ts'

/** A prepared batch, as data that threads can pass on: the items to store, and the position of every item's result. */
export interface PreparedBatch {
  readonly parts: readonly CallParts[]
  /** For each item its index in `parts`, or the error that refused it. */
  readonly places: readonly (number | PlainError)[]
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
  const places: (number | PlainError)[] = []
  let items = 0
  let bytes = 0
  for (const item of batch) {
    if (items === PAUSE_ITEMS || bytes >= PAUSE_BYTES) {
      await pause()
      items = 0
      bytes = 0
    }
    items += 1
    try {
      const part = prepare(item)
      bytes += (part.start?.start_size_bytes ?? 0) + (part.end?.end_size_bytes ?? 0)
      places.push(parts.push(part) - 1)
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      const { code, message, param } = error
      places.push({ code, message, param })
    }
  }
  return { parts, places }
}

/**
 * Returns the response of a batch: the outcome of each item, in their order.
 *
 * @param results - of the parts that were stored, in the order of `parts`
 * @param pathOf - the path within an item of a part's field, as `end.id`
 */
export function renderBatch(
  { places }: PreparedBatch,
  results: readonly PartResult[],
  pathOf: (field: string) => string,
): CallBatchResponse {
  const errors: CallBatchResponse['errors'] = []
  const res = places.map((place, index): CallBatchResponse['res'][number] => {
    const result = typeof place === 'number' ? results[place] : { error: place }
    if (!result?.error) return result?.started ?? {}
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
