/**
 * Lists of calls in SQLite: a reader finds the keys, batch by batch as the client consumes them; the bodies are then
 * read a few calls at a time between other work. Never holds more than a batch of keys and a slice of bodies, and
 * keeps no read transaction open for a slow client.
 */
import type { CallTexts, PreviewedBody } from '../../../../domain/calls/call-view.ts'
import { bodiesOfShape, type CallsShape } from '../../../../domain/calls/calls-query.ts'
import type { CallsQueryStore, ListedCall } from '../../../api/calls/calls.ts'
import type { Arrivals } from '../../../base/recordings/recordings.ts'
import type { Connection } from '../../db/connection.ts'
import { openNextSlice } from '../../db/next-slice.ts'
import { orStoreError } from '../../db/store-error.ts'
import type { ReadPool } from '../../read/read-pool.ts'
import { SUM_TRACE_SIZE } from '../calls.sql.ts'
import { findCallsByKey } from './calls-query.sql.ts'
import type { CallsBatch, CallsCursor } from './calls-scan.ts'
import type { ScannedRow } from './calls-walk.ts'

/** Limit: calls of one slice, which takes some 1 ms on the event loop. */
const SLICE_ROWS = 100
/** Limit: characters after which a slice ends. */
const SLICE_CHARACTERS = 1024 * 1024

/**
 * @param db - for reads on this thread
 * @param arrivals - recorded calls that are not stored yet
 */
export function createCallsQueryStore(
  db: Connection,
  reads: Pick<ReadPool, 'run'>,
  arrivals: Pick<Arrivals, 'wait'>,
): CallsQueryStore {
  return {
    async *pages(selection, shape, caller) {
      await arrivals.wait(selection.project_id, selection.filter.call_ids ?? [])
      const readSlice = createSliceReader(db, shape)
      let cursor: CallsCursor | null = null
      do {
        const { keys, next }: CallsBatch = await reads.run(
          'select_calls',
          { selection, cursor },
          caller,
        )
        let at = 0
        while (at < keys.length) {
          await openNextSlice(caller)
          const slice = readSlice(keys.subarray(at, at + SLICE_ROWS))
          at += slice.read
          if (slice.calls.length > 0) yield slice.calls
        }
        cursor = next
      } while (cursor !== null)
    },
    count: (selection, caller) => reads.run('count_calls', selection, caller),
  }
}

/** Limit: traces whose sizes a list remembers. */
const TRACE_SIZES_MAX = 10_000

/** With columns of shortBodyText. */
interface PreviewedRow extends CallTexts {
  readonly inputs_is_long?: 0 | 1
  readonly output_is_long?: 0 | 1
  readonly otel_dump_is_long?: 0 | 1
}

interface Slice {
  readonly calls: readonly ListedCall[]
  /** The number of keys read; at least one. */
  readonly read: number
}

/** Returns a function that reads the calls of keys, fewer when they are large. */
function createSliceReader(db: Connection, shape: CallsShape): (keys: Float64Array) => Slice {
  const isPreview = shape.previewed !== null
  const findCalls = db.prepare(findCallsByKey(new Set(bodiesOfShape(shape)), undefined, isPreview))
  const traceSizeOf = createTraceSizes(db)

  function toListed({ call_key: _key, ...row }: ScannedRow): ListedCall {
    const { call, unread } = isPreview ? takeUnread(row) : { call: row, unread: [] }
    const totalStorageSizeBytes = shape.withTotalStorageSize ? traceSizeOf(call) : null
    return { call, totalStorageSizeBytes, unread }
  }

  return (keys) => {
    return orStoreError(() => {
      const rows: ScannedRow[] = []
      let characters = 0
      let isCut = false
      for (const row of findCalls.iterate({ keys: `[${keys.join()}]` })) {
        rows.push(row as ScannedRow)
        characters += charactersOf(row as ScannedRow)
        isCut = characters > SLICE_CHARACTERS
        if (isCut) break
      }
      const lastKey = rows.at(-1)?.call_key
      const read = isCut && lastKey !== undefined ? keys.indexOf(lastKey) + 1 : keys.length
      return { calls: rows.map(toListed), read }
    })
  }
}

/** Returns which bodies are stored, but were too long for a preview. */
function takeUnread(row: PreviewedRow): Pick<ListedCall, 'call' | 'unread'> {
  const { inputs_is_long, output_is_long, otel_dump_is_long, ...call } = row
  const unread: PreviewedBody[] = []
  if (otel_dump_is_long && call.otel_dump_json === null) unread.push('attributes')
  if (inputs_is_long && call.inputs_json === null) unread.push('inputs')
  if (output_is_long && call.output_json === null) unread.push('output')
  return { call, unread }
}

/** Sums each trace of a list once: a long one would be summed for each of its calls. */
function createTraceSizes(db: Connection): (call: CallTexts) => number {
  const sumTraceSize = db.prepare(SUM_TRACE_SIZE).pluck()
  const sizes = new Map<string, number>()
  return ({ project_id, trace_id }) => {
    const size = sizes.get(trace_id) ?? (sumTraceSize.get({ project_id, trace_id }) as number)
    if (sizes.size === TRACE_SIZES_MAX) sizes.clear()
    sizes.set(trace_id, size)
    return size
  }
}

function charactersOf(call: CallTexts): number {
  const { attributes_json, inputs_json, output_json, summary_json, otel_dump_json } = call
  const texts = [attributes_json, inputs_json, output_json, summary_json, otel_dump_json]
  return texts.reduce((sum, text) => sum + (text?.length ?? 0), 0)
}
