/** Opens the record of a response, and records the completion as a call where a project is named. */
import type { Principal } from '../../../domain/access/permissions.ts'
import { ApiError } from '../../../errors.ts'
import type { JsonObject } from '../../../schemas/primitives.ts'
import { findUpstreamModel, type ServedModel } from '../../models/registry.ts'
import type { GuardReport } from '../guard/guarded-completion.ts'
import type { CompletionObserver } from '../try-models.ts'
import type { ResponseEnvelope } from '../whole-completion.ts'
import { type CompletionRecord, createCompletionRecord } from './completion-record.ts'
import type { CompletionRecorder, RecordedAs } from './completion-recorder.ts'

interface RecordedCall {
  readonly body: string
  readonly requestId: string
  readonly request: {
    readonly stream?: boolean | null | undefined
    readonly user?: string | null | undefined
  }
}

/** What of an exchange is recorded. */
interface RecordedExchange {
  readonly caller: Principal
  readonly call: RecordedCall
  readonly model: ServedModel
  /** Project to record in, or null. */
  readonly projectId: string | null
  readonly recordAs?: RecordedAs
  readonly setHeaders: (headers: Readonly<Record<string, string | null>>) => void
}

interface RecordOptions {
  readonly recorder: CompletionRecorder
  /** Microseconds since the epoch. */
  readonly nowUs: () => number
}

interface OpenedRecord {
  readonly record: CompletionRecord
  readonly observer: Partial<CompletionObserver>
  /** @param body - of the request that the guard has redacted, or null */
  readonly onVerdict: (report: GuardReport, body: string | null) => void
}

/**
 * Opens the record of an answer. With a project, an observer records the completion as a call there, whose id is sent
 * with the answer.
 *
 * Spec: §4.7 (project of a request).
 * Choice: the scope inference is enough: the server records, not the key, and usage must not depend on the
 * key's other rights.
 */
export function openRecord(
  { caller, call, model: asked, projectId, setHeaders, recordAs }: RecordedExchange,
  { recorder, nowUs }: RecordOptions,
  envelope: ResponseEnvelope | undefined,
): OpenedRecord {
  const isStream = call.request.stream === true
  const keepsOutput = projectId !== null && recordAs?.output === undefined
  const record = createCompletionRecord({ isStream, envelope, keepsOutput, now: nowUs })
  if (projectId === null) return { record, observer: {}, onVerdict: () => undefined }
  const recording = recorder.begin({ projectId, caller, body: call.body, record, recordAs })
  setHeaders({ 'x-weft-call-id': recording.callId })
  let answering = asked
  let isReplayed = false
  let guard: GuardReport | null = null
  let redactedBody: string | null = null
  const observer: Partial<CompletionObserver> = {
    onModel(model) {
      answering = model
    },
    onReplay() {
      isReplayed = true
    },
    onAllFailed(first) {
      answering = first
    },
    onEnd(error) {
      recording.end({
        error: error === null ? null : toApiError(error),
        model: answering.id,
        upstreamModel: findUpstreamModel(answering),
        redactedBody,
        attributes: {
          ...toAttributes(call, asked, answering),
          ...(isReplayed ? { cache: 'hit' } : {}),
          ...(guard === null ? {} : { guard: guard as JsonObject }),
        },
      })
    },
  }
  const onVerdict: OpenedRecord['onVerdict'] = (report, body) => {
    guard = report
    redactedBody = body ?? redactedBody
  }
  return { record, observer, onVerdict }
}

function toApiError(error: unknown): ApiError {
  return error instanceof ApiError ? error : new ApiError('internal_error', { cause: error })
}

function toAttributes(
  { request, requestId }: RecordedCall,
  asked: ServedModel,
  answering: ServedModel,
): JsonObject {
  const provider = answering.backend.findProvider?.() ?? null
  return {
    model: answering.id,
    backend: answering.backend.kind,
    ...(provider === null ? {} : { provider }),
    request_id: requestId,
    stream: request.stream === true,
    ...(asked.chosenBy === undefined
      ? {}
      : { alias: asked.chosenBy.alias, alias_arm: asked.chosenBy.arm }),
    ...(answering === asked ? {} : { fallback_of: asked.id }),
    ...(request.user ? { user: request.user } : {}),
  }
}
