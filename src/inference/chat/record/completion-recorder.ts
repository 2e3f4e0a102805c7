/**
 * Records completions as calls. Recording never delays or fails an answer. Completions that could not be recorded
 * are reported; those still queued are written when the store is closed.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Principal } from '../../../domain/access/permissions.ts'
import type { RecordedCall } from '../../../domain/calls/recorded-call.ts'
import { renderJson } from '../../../domain/json/json-text.ts'
import type { ApiError } from '../../../errors.ts'
import type { JsonObject } from '../../../schemas/primitives.ts'
import type { RecordingLoss, RecordingStore } from '../../../store/api/chat/recordings.ts'
import { type CompletionRecord, RECORDED_CHARS_MAX } from './completion-record.ts'

/** Operation name of a completion's call. */
export const COMPLETION_OP_NAME = 'chat.completions'
/** Limit: characters kept of a request, images included; 4 Mi. */
export const INPUT_CHARS_MAX = 4 * 1024 * 1024
/** How long a closing server waits for answers that are about to end. */
const CLOSE_MS_MAX = 300
const POLL_MS = 10
/** The store's limit for model names in a usage. */
const USAGE_NAME_MAX = 256

/** How to record a completion that was not requested as a chat. */
export interface RecordedAs {
  /** Name of the operation. */
  readonly opName: string
  /** The request verbatim: JSON text of an object. */
  readonly body: string
  /** Returns the answer received so far as JSON text; called when the completion ends. Default: the answer verbatim. */
  output?(): string
  /** Whether something was left out of that answer. Default: nothing was. */
  isCut?(): boolean
  /** Position of the call. Default: the root of its own trace, in no thread. */
  readonly place?: {
    readonly traceId: string
    readonly parentId: string | null
    readonly threadId: string | null
  }
  /** In addition to those of all completions. */
  readonly attributes?: JsonObject
  /** Ref of the version of a published prompt that the request was made from; recorded as the input `prompt`. */
  readonly promptRef?: string | null
}

/** A completion that is starting. */
interface Completion {
  readonly projectId: string
  readonly caller: Principal
  /** The request verbatim. */
  readonly body: string
  readonly record: CompletionRecord
  /** Default: recorded as a chat. */
  readonly recordAs?: RecordedAs | undefined
}

/** The outcome of a completion. */
interface CompletionEnd {
  /** The error that ended the answer, or null. */
  readonly error: ApiError | null
  /** Id of the model that answered; its tokens are counted under this id. */
  readonly model: string
  /** Its name at a provider that is in the price list, if another one; null: none. */
  readonly upstreamModel: string | null
  readonly attributes: JsonObject
  /** The request that a guard has redacted, which is recorded in place of the received one. Default: null. */
  readonly redactedBody?: string | null
}

interface Recording {
  /** Id of the call, sent to the client before the call is written. */
  readonly callId: string
  /** Ends the recording; without this call nothing is recorded. */
  end(end: CompletionEnd): void
}

export interface CompletionRecorder {
  begin(completion: Completion): Recording
  /** Waits briefly for answers that are about to end, then hands all calls to the store, which is closed later. */
  close(): Promise<void>
}

interface CompletionRecorderOptions {
  readonly recordings: RecordingStore
  readonly refScheme: string
  /** Microseconds since the epoch. */
  readonly nowUs: () => number
  /** Makes the ids of calls and traces. */
  readonly newId: () => string
  /** Called for each completion that could not be recorded. */
  readonly onLoss: (loss: RecordingLoss) => void
}

/**
 * Spec: §4.3, §4.7 (project of a completion).
 * Choice: one call per completion, written when it ends. A completion rejected by admission never began and
 * makes no call. No answer claims to be stored, so nothing waits for the disk.
 */
export function createCompletionRecorder(options: CompletionRecorderOptions): CompletionRecorder {
  const { recordings, nowUs, newId, onLoss } = options
  let ended: Ended[] = []
  let openCount = 0

  function record(): void {
    const building = ended
    ended = []
    for (const { build, arrive } of building) {
      try {
        recordings.add(build(), arrive)
      } catch (error) {
        arrive()
        onLoss({ count: 1, error })
      }
    }
  }

  /** Runs after the answers of this turn of the event loop have been sent. */
  function recordSoon(completion: Ended): void {
    ended.push(completion)
    if (ended.length === 1) setImmediate(() => setImmediate(record))
  }

  recordings.onLoss(onLoss)
  return {
    begin(completion) {
      const callId = newId()
      const arrive = recordings.announce(completion.projectId, callId)
      const startedAtUs = nowUs()
      openCount += 1
      return {
        callId,
        end(end) {
          openCount -= 1
          if (end.error !== null && REFUSALS.includes(end.error.code)) return arrive()
          const span = { callId, startedAtUs, endedAtUs: nowUs() }
          recordSoon({ build: () => toRecordedCall(completion, end, span, options), arrive })
        },
      }
    },
    async close() {
      const deadline = performance.now() + CLOSE_MS_MAX
      while (openCount > 0 && performance.now() < deadline) await sleep(POLL_MS)
      record()
    },
  }
}

/** Codes of completions that never began. */
const REFUSALS: readonly string[] = [
  'server_overloaded',
  'rate_limit_exceeded',
  'budget_exceeded',
  'model_unpriced',
]

/** A completion that has ended; `arrive` as of RecordingStore. */
interface Ended {
  readonly build: () => RecordedCall
  readonly arrive: () => void
}

interface Span {
  readonly callId: string
  readonly startedAtUs: number
  readonly endedAtUs: number
}

/** Spec: §2.6. Choice: tokens count under the served model's id, not the alias that was asked for. */
function toRecordedCall(
  { projectId, caller, body, record, recordAs }: Completion,
  { error, model, upstreamModel, attributes, redactedBody = null }: CompletionEnd,
  { callId, startedAtUs, endedAtUs }: Span,
  { refScheme, newId }: Pick<CompletionRecorderOptions, 'refScheme' | 'newId'>,
): RecordedCall {
  const usage = record.usage()
  const upstream = upstreamModel === null ? {} : { upstream_model: upstreamModel }
  const firstTokenAtUs = record.firstTokenAt()
  const other = recordAs?.output?.()
  const place = recordAs?.place
  const allAttributes = {
    ...attributes,
    ...recordAs?.attributes,
    ...(usage?.isEstimated ? { usage_estimated: true } : {}),
  }
  const isTooLong = (other?.length ?? 0) > RECORDED_CHARS_MAX
  const isCut = record.isCut() || isTooLong || recordAs?.isCut?.() === true
  return {
    facts: {
      project_id: projectId,
      id: callId,
      trace_id: place?.traceId ?? newId(),
      parent_id: place?.parentId ?? null,
      thread_id: place?.threadId ?? null,
      op_name: recordAs?.opName ?? COMPLETION_OP_NAME,
      started_at_us: startedAtUs,
      ended_at_us: endedAtUs,
      svc_user_id: caller.svc_user_id,
      svc_username: caller.svc_username,
      attributes: isCut ? { ...allAttributes, output_cut: true } : allAttributes,
      exception: error === null ? null : `${error.code}: ${error.message}`,
      summary: {
        ...(usage === null
          ? {}
          : { usage: { [model.slice(0, USAGE_NAME_MAX)]: { ...usage.counts, ...upstream } } }),
        ...(firstTokenAtUs === null
          ? {}
          : { time_to_first_token_ms: (firstTokenAtUs - startedAtUs) / 1000 }),
      },
      ref_scheme: refScheme,
    },
    inputs_json: toInputs(redactedBody ?? recordAs?.body ?? body, recordAs?.promptRef ?? null),
    output_json: isTooLong ? 'null' : (other ?? record.output()),
  }
}

/** Returns the request verbatim, or only its size if it is too large to keep. Its last member is the prompt, if it has one. */
function toInputs(body: string, prompt: string | null): string {
  const inputs = body.length > INPUT_CHARS_MAX ? renderJson({ omitted_chars: body.length }) : body
  if (prompt === null) return inputs
  return `${inputs.slice(0, inputs.lastIndexOf('}'))},"prompt":${renderJson(prompt)}}`
}
