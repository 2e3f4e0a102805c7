/** A request of logs, from its bytes to records that belong to spans. Runs on the main thread or beside it. */
import type { SpanLog } from '../domain/calls/call-logs.ts'
import { EVENT_LOOP_LIMITS, type JsonLimits } from '../domain/json/json-limits.ts'
import type { LogRecord, OtlpEncoding } from '../domain/otel/otlp-fields.ts'
import { readJsonRecord } from '../domain/otel/otlp-json.ts'
import { readProtobufRecord } from '../domain/otel/otlp-protobuf.ts'
import { requireLogIds, toSpanLog } from '../domain/otel/span-logs.ts'
import { ApiError } from '../errors.ts'
import { openRequest, projectOf, type ReadRequest, reasonOf } from './read-request.ts'

/** The messages of a request of logs; other records are left out. */
export interface ReadLogs {
  /** All projects that are written to. */
  readonly projects: readonly string[]
  readonly logs: readonly SpanLog[]
  /** Records that cannot be read. */
  readonly rejected: number
  /** Why the first of them cannot; with none, what of the request was not read. */
  readonly message: string | null
}

/** The project of messages that name none; it is no valid one. */
const NO_PROJECT = ''

/**
 * @param limits - of JSON
 * @throws ApiError invalid_otlp, request_too_large, otlp_project_missing when there are messages and none has a project
 */
export function readLogRequest(
  request: ReadRequest,
  limits: JsonLimits = EVENT_LOOP_LIMITS,
): ReadLogs {
  const { groups, unread } = openRequest(request, 'logs', limits)
  const found: SpanLog[] = []
  const refusals: string[] = []
  for (const { source, spans: records } of groups) {
    const named = request.project_id ?? projectOf(source) ?? request.default_project_id
    for (const item of records) {
      try {
        const log = toSpanLog(readOne(request.encoding, item), named ?? NO_PROJECT)
        if (log !== null) found.push(log)
      } catch (error) {
        refusals.push(reasonOf(error))
      }
    }
  }
  const logs = found.filter(({ project_id }) => project_id !== NO_PROJECT)
  const unrouted = found.length - logs.length
  if (unrouted > 0 && logs.length === 0) throw new ApiError('otlp_project_missing')
  if (unrouted > 0) refusals.push('no project is named for some records')
  return {
    projects: [...new Set(logs.map(({ project_id }) => project_id))],
    logs,
    rejected: refusals.length + Math.max(0, unrouted - 1),
    message: refusals[0] ?? unread,
  }
}

function readOne(encoding: OtlpEncoding, item: unknown): LogRecord {
  const record =
    encoding === 'protobuf' ? readProtobufRecord(item as Uint8Array) : readJsonRecord(item)
  requireLogIds(record)
  return record
}
