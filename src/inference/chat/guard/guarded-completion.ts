/** Runs a chat under the guard of its model. A response is passed on only after the guard has seen the whole of it. */
import { isObject } from '../../../domain/json/is-object.ts'
import { parseLossless } from '../../../domain/json/json-text.ts'
import { ApiError } from '../../../errors.ts'
import { ChatCompletionRequest } from '../../../schemas/chat/chat-request.ts'
import type { CompletionCall, Delta, RelayedDelta, RelayedText } from '../../backend.ts'
import { editMembers } from '../../openai/request.ts'
import { joinRelayed, replayWhole, toResponseShape } from '../cache/cached-response.ts'
import { createCollector, type ResponseEnvelope } from '../whole-completion.ts'
import {
  type GuardPhase,
  type GuardSettings,
  requestVerdict,
  type Verdict,
} from './guard-callback.ts'

type ChatCall = Pick<CompletionCall, 'request' | 'body' | 'requestId'>

/** What the guard said at each phase, for the record. */
export type GuardReport = Partial<
  Record<GuardPhase, { readonly action: string; readonly annotations?: object }>
>

/** Returns the report as a header, such as `request=allow, response=redact`. */
export function renderReport(report: GuardReport): string {
  return Object.entries(report)
    .map(([phase, { action }]) => `${phase}=${action}`)
    .join(', ')
}

interface GuardedRun {
  readonly guard: GuardSettings
  /** Names the completion to the guard. */
  readonly about: { readonly model: string; readonly project_id: string | null }
  readonly call: ChatCall
  readonly envelope: ResponseEnvelope
  readonly signal: AbortSignal
  /** Starts the model with the request that the guard lets pass. */
  readonly start: (call: Pick<ChatCall, 'request' | 'body'>) => AsyncIterable<Delta>
  /** Notes the usage of a response that the client does not get: its tokens are used. */
  readonly noteWithheld: (delta: RelayedDelta) => void
  /** @param body - the redacted request, if it is */
  readonly onVerdict: (report: GuardReport, body: string | null) => void
}

/** @throws ApiError guard_refused, guard_unavailable; what the model throws */
export async function* runGuarded(run: GuardedRun): AsyncGenerator<Delta> {
  const { guard, about, signal, onVerdict } = run
  const { requestId } = run.call
  let { request, body } = run.call
  const report: GuardReport = {}
  const ask = async (phase: GuardPhase, seen: object): Promise<Verdict | null> => {
    const question = { ...about, request_id: requestId, ...seen }
    const verdict = await requestVerdict(guard, phase, question, signal)
    const annotations = verdict?.annotations ?? {}
    const action = verdict?.action ?? 'failed'
    report[phase] = Object.keys(annotations).length > 0 ? { action, annotations } : { action }
    return verdict
  }

  if (guard.phases.includes('request')) {
    const verdict = await ask('request', { request: parseLossless(body) })
    const redacted = verdict?.action === 'redact' ? redactRequest(body, verdict, guard) : null
    if (verdict?.action === 'redact' && redacted === null) report.request = { action: 'failed' }
    onVerdict(report, redacted?.body ?? null)
    if (verdict?.action === 'refuse') throw refusal(verdict)
    if (redacted !== null) ({ request, body } = redacted)
  }
  if (!guard.phases.includes('response')) {
    yield* run.start({ request, body })
    return
  }
  const deltas: Delta[] = []
  for await (const delta of run.start({ request, body })) deltas.push(delta)
  const whole = joinResponse(deltas, request.stream === true, run.envelope)
  const cost = deltas.find((delta) => delta.type === 'relayed' && delta.cost !== undefined)
  const priced = cost?.type === 'relayed' ? { cost: cost.cost } : {}
  let passed: readonly Delta[] = deltas
  try {
    const seen = { request: parseLossless(body), response: parseLossless(whole.json) }
    const verdict = await ask('response', seen)
    onVerdict(report, null)
    if (verdict?.action === 'refuse') throw refusal(verdict)
    if (verdict?.action === 'redact') {
      passed = [{ ...redactResponse(whole, verdict, request), ...priced }]
    }
  } catch (error) {
    run.noteWithheld({ ...usageOnly(whole), ...priced })
    throw error
  }
  yield* passed
}

/** @throws ApiError guard_unavailable for choices that make no completion */
function redactResponse(
  { json }: RelayedText,
  { replacement }: Verdict,
  request: ChatCompletionRequest,
): RelayedDelta {
  const edited = editMembers(json, { set: new Map([['choices', JSON.stringify(replacement)]]) })
  const redacted = replayWhole(edited, toResponseShape({ service: 'chat', request }))
  if (redacted === null) throw new ApiError('guard_unavailable')
  return redacted
}

/** @throws ApiError guard_unavailable for messages that are none, unless the guard is open */
function redactRequest(body: string, { replacement }: Verdict, { isOpen }: GuardSettings) {
  const set = new Map([['messages', JSON.stringify(replacement)]])
  const edited = editMembers(body, { set })
  const parsed = ChatCompletionRequest.safeParse(JSON.parse(edited))
  if (parsed.success) return { request: parsed.data, body: edited }
  if (isOpen) return null
  throw new ApiError('guard_unavailable', { cause: parsed.error })
}

function joinResponse(
  deltas: readonly Delta[],
  isStream: boolean,
  envelope: ResponseEnvelope,
): RelayedText {
  const texts = deltas.flatMap((delta) => (delta.type === 'relayed' ? delta.texts : []))
  if (texts.length > 0) return joinRelayed(texts, isStream)
  const collector = createCollector(envelope)
  for (const delta of deltas) collector.add(delta)
  const json = collector.render()
  return { json, value: JSON.parse(json) }
}

function usageOnly({ value: { usage, service_tier } }: RelayedText): RelayedDelta {
  const value = isObject(usage) ? { usage, service_tier } : {}
  return { type: 'relayed', texts: [{ json: JSON.stringify(value), value }] }
}

function refusal({ message }: Verdict): ApiError {
  return new ApiError('guard_refused', message === null ? {} : { message })
}
