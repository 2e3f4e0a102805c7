/** One trace request, whichever way it came: read, authorized, stored durably. */
import { type Principal, requireAccess, requireScope } from '../domain/access/permissions.ts'
import { type Feedback, resolveFeedback } from '../domain/feedback/new-feedback.ts'
import { type ExperimentRun, toRunParts } from '../domain/otel/experiments.ts'
import type { OtlpEncoding } from '../domain/otel/otlp-fields.ts'
import {
  type HeaderValues,
  onlyProjectOf,
  projectOfHeaders,
} from '../domain/projects/named-project.ts'
import { ApiError } from '../errors.ts'
import type { CallStore } from '../store/api/calls/calls.ts'
import type { FeedbackStore } from '../store/api/feedback/feedback.ts'
import type { OpenSpans, TraceReader } from './span-reader.ts'

export interface SpanRecorderOptions {
  readonly calls: CallStore
  readonly feedback: FeedbackStore
  readonly reader: TraceReader
  readonly refScheme: string
  readonly feedbackPayloadBytesMax: number
  readonly nowUs: () => number
  /** Called with the number of spans of an export after all were stored; not called when it failed midway. */
  readonly onStored: (spans: number) => void
}

interface ExportRequest {
  readonly encoding: OtlpEncoding
  /** The whole body, not compressed. */
  readonly bytes: Uint8Array
  readonly headers: HeaderValues
  readonly caller: Principal | null
}

/** What was not stored: spans or records of logs, or none and only their evaluations; and why the first was not. */
interface NotStored {
  readonly rejected: number
  readonly message: string
}

/**
 * Resolves after the durable commit, with null when everything is stored.
 *
 * @throws ApiError missing_api_key, scope_missing, project_forbidden, invalid_header, invalid_otlp,
 * otlp_project_missing, server_overloaded, store_unavailable
 */
export type RecordExport = (request: ExportRequest) => Promise<NotStored | null>

export function createSpanRecorder(options: SpanRecorderOptions): RecordExport {
  return async ({ encoding, bytes, headers, caller: sender }) => {
    const caller = requireScope(sender, 'traces:write')
    const { svc_user_id, svc_username } = caller
    const spans = await options.reader.read({
      encoding,
      bytes,
      refScheme: options.refScheme,
      svc_user_id,
      svc_username,
      project_id: projectOfHeaders(headers),
      default_project_id: onlyProjectOf(caller),
    })
    try {
      for (const project_id of spans.projects) requireAccess(caller, 'traces:write', project_id)
      const refused = await writeCalls(spans, options.calls)
      options.onStored(spans.count - refused.count)
      await writeRuns(spans.runs, caller, options)
      const left = await writeFeedback(spans, svc_user_id, options)
      const message = spans.message ?? refused.message ?? left?.message
      return message === undefined ? null : { rejected: spans.rejected + refused.count, message }
    } finally {
      spans.close()
    }
  }
}

/** Writes in several commits, each durable. After a failure the client resends all; stored calls are recognized. */
async function writeCalls(spans: OpenSpans, store: CallStore) {
  let count = 0
  let message: string | null = null
  for await (const batch of spans.batches()) {
    const { exceptions } = await store.writePacked(batch, spans.projects)
    const refused = exceptions.flatMap(([, { error }]) => error ?? [])
    count += refused.length
    message ??= refused[0]?.message ?? null
  }
  return { count, message }
}

/** Writes the calls of runs that are not stored. Runs whose id another call has are left out. */
export async function writeRuns(
  runs: readonly ExperimentRun[],
  user: Pick<Principal, 'svc_user_id' | 'svc_username'>,
  { calls, refScheme }: Pick<SpanRecorderOptions, 'calls' | 'refScheme'>,
): Promise<void> {
  for (const run of runs) {
    if ((await calls.findCall(run.project_id, run.id)) !== null) continue
    await calls.writeParts([toRunParts(run, refScheme, user)])
  }
}

/** @returns why the first evaluation that is too large was left out */
async function writeFeedback(
  { feedback }: OpenSpans,
  svc_user_id: string,
  { feedback: store, feedbackPayloadBytesMax, nowUs }: SpanRecorderOptions,
): Promise<ApiError | undefined> {
  if (feedback.length === 0) return
  const created_at_us = nowUs()
  const resolved: Feedback[] = []
  let refusal: ApiError | undefined
  for (const item of feedback) {
    try {
      const defaults = { id: item.id, svc_user_id, created_at_us }
      resolved.push(resolveFeedback(item, defaults, feedbackPayloadBytesMax))
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      refusal ??= error
    }
  }
  await store.createFeedbackBatch(resolved)
  return refusal
}
