/** Scores one subject, and stores the result. */
import { toNanos } from '../domain/access/budgets.ts'
import type { Principal } from '../domain/access/permissions.ts'
import { callRef } from '../domain/calls/call-ref.ts'
import {
  definitionOf,
  type Evaluator,
  principalOf,
  resultId,
} from '../domain/evaluators/evaluator.ts'
import type { Score } from '../domain/evaluators/score.ts'
import type { FeedbackRow } from '../domain/feedback/feedback-view.ts'
import { type Feedback, resolveFeedback } from '../domain/feedback/new-feedback.ts'
import { objectOrEmpty } from '../domain/json/json-values.ts'
import { parseRef } from '../domain/objects/refs.ts'
import { ApiError } from '../errors.ts'
import { UnusableResponseError } from '../inference/scorers/judge.ts'
import { mayPass, type Scorers } from '../inference/scorers/scorers.ts'
import type { ClaimedTask, TaskOutcome } from '../store/api/evaluators/evaluators.ts'
import type { Stores } from '../store/api/stores.ts'
import type { SubjectState } from './subjects.ts'

export interface ScoringOptions {
  readonly stores: Pick<Stores, 'feedback'>
  readonly scorers: Pick<Scorers, 'score'>
  readonly refScheme: string
  readonly payloadBytesMax: number
  readonly nowUs: () => number
}

type Ready = Extract<SubjectState, { is: 'ready' }>
type Read = Exclude<SubjectState, { is: 'unread' }>

/** The state of a subject, with the id of its result, or with what the judge of the stored result cost. */
export type JudgedState =
  | Exclude<Read, Ready>
  | (Ready & { readonly id: string })
  | { readonly is: 'scored'; readonly spent_nanos: number }

/** An evaluator, and who pays for its judges. */
interface Payed {
  readonly evaluator: Evaluator
  readonly caller: Principal
}

/** What settles a try, without the names of its task. */
type Outcome = Omit<TaskOutcome, 'evaluator_id' | 'subject_id' | 'token' | 'now_us'>

/** Waits: of a subject that has not ended, of a failed score, and of an evaluator whose model fails. */
const WAIT_US = 1_000_000
const WAIT_US_MAX = 60_000_000
const REST_US_MAX = 300_000_000
/** Limits: tries of a subject whose scorer fails, and of one whose model does. */
const FAILURES_MAX = 3
const TRIES_MAX = 50

const OVER = { due_at_us: 0, spent_nanos: 0, error: null, retry_at_us: null } as const

/** Returns the outcome of one try; never throws but the reason of the signal. */
export async function scoreTask(
  { evaluator, caller }: Payed,
  task: ClaimedTask,
  state: JudgedState,
  signal: AbortSignal,
  options: ScoringOptions,
): Promise<Outcome> {
  const { nowUs } = options
  if (state.is === 'passed_over') return { ...OVER, result: 'passed_over' }
  if (state.is === 'scored') {
    return { ...OVER, result: 'scored', spent_nanos: state.spent_nanos }
  }
  if (state.is === 'waiting') {
    const wait = Math.min(WAIT_US_MAX, WAIT_US * 2 ** Math.min(task.attempts - 1, 10))
    return { ...OVER, result: 'waits', due_at_us: nowUs() + wait }
  }
  const { scorer } = definitionOf(evaluator)
  const { id } = state
  let spent_nanos = 0
  try {
    const score = await options.scorers.score(scorer, state.subject, {
      project_id: evaluator.project_id,
      caller,
      attributes: {
        evaluator: evaluator.name,
        evaluator_id: evaluator.id,
        evaluator_version: evaluator.version,
        scored_call_id: state.call.id,
      },
      signal,
    })
    spent_nanos = toNanos(score.cost_usd ?? 0)
    const isStored = await store(toResult(evaluator, state, { id, score }, options), options)
    if (isStored) return { ...OVER, result: 'scored', spent_nanos }
    const [earlier] = await findResults(evaluator, [task], [state], signal, options)
    if (earlier?.is !== 'scored') return { ...OVER, result: 'passed_over', spent_nanos }
    return { ...OVER, result: 'scored', spent_nanos: spent_nanos + earlier.spent_nanos }
  } catch (error) {
    signal.throwIfAborted()
    if (error instanceof UnusableResponseError) spent_nanos = toNanos(error.cost_usd)
    return { ...toFailure(evaluator, task, error, nowUs()), spent_nanos }
  }
}

/**
 * Finds the results that are stored already. One that is newer than its task was made by a try that nobody has settled:
 * it counts as scored, with its cost. An older one was counted with an earlier task.
 */
export async function findResults(
  evaluator: Evaluator,
  tasks: readonly ClaimedTask[],
  states: readonly Read[],
  signal: AbortSignal,
  { stores, refScheme }: Pick<ScoringOptions, 'stores' | 'refScheme'>,
): Promise<JudgedState[]> {
  const { id: evaluatorId, project_id } = evaluator
  const { target } = definitionOf(evaluator)
  const refOf = ({ call }: Ready) => callRef(refScheme, project_id, call.id)
  const ready = states.filter((state) => state.is === 'ready')
  const caller = { keyId: `evaluator-${evaluatorId}`, project_id, signal }
  const refs = [...new Set(ready.map(refOf))]
  const found = refs.length === 0 ? [] : await stores.feedback.listAbout(refs, caller)
  const results = new Map(found.flat().map((row) => [row.id, row]))
  return states.map((state, index) => {
    if (state.is !== 'ready') return state
    const { id, trace_id, thread_id } = state.call
    const about = { call: id, trace: trace_id, conversation: thread_id ?? '' }[target]
    const resultKey = resultId(evaluator, about)
    const result = results.get(resultKey)
    if (result === undefined) return { ...state, id: resultKey }
    const isUncounted = result.created_at_us >= (tasks[index]?.queued_at_us ?? Infinity)
    return isUncounted ? { is: 'scored', spent_nanos: costOf(result) } : { is: 'passed_over' }
  })
}

/** Returns what the judge of a stored result cost. */
function costOf({ payload_json }: FeedbackRow): number {
  const { cost_usd } = objectOrEmpty(JSON.parse(payload_json ?? 'null'))
  return typeof cost_usd === 'number' ? toNanos(cost_usd) : 0
}

/** A model that fails makes its evaluator rest, longer each time; another failure is one of the subject. */
function toFailure(
  evaluator: Evaluator,
  { attempts }: ClaimedTask,
  error: unknown,
  nowUs: number,
): Omit<Outcome, 'spent_nanos'> {
  const failure = error instanceof ApiError ? error : new ApiError('internal_error')
  const told = { error: `${failure.code}: ${failure.message}` }
  if (mayPass(error)) {
    const rest = Math.min(REST_US_MAX, WAIT_US * 2 ** Math.min(evaluator.failures, 10))
    const retry_at_us = nowUs + rest
    const result = attempts < TRIES_MAX ? 'waits' : 'failed'
    return { ...told, result, due_at_us: retry_at_us, retry_at_us }
  }
  const isLast = attempts >= FAILURES_MAX || definitionOf(evaluator).scorer.kind === 'rule'
  const due_at_us = nowUs + WAIT_US * 10 ** Math.min(attempts, 2)
  return { ...told, result: isLast ? 'failed' : 'waits', due_at_us, retry_at_us: null }
}

/** @returns false when there is a result already, made by a try whose end was not heard of */
async function store(result: Feedback, { stores }: ScoringOptions): Promise<boolean> {
  try {
    const stored = await stores.feedback.createFeedback(result)
    return stored.created_at_us === result.created_at_us
  } catch (error) {
    if (error instanceof ApiError && error.code === 'feedback_conflict') return false
    throw error
  }
}

function toResult(
  evaluator: Evaluator,
  { call }: Ready,
  { id, score }: { readonly id: string; readonly score: Score },
  { refScheme, payloadBytesMax, nowUs }: ScoringOptions,
): Feedback {
  const { project_id, name, ref, monitor_ref } = evaluator
  const { target } = definitionOf(evaluator)
  const { output, value, reason, cost_usd, call_id } = score
  const { svc_user_id } = principalOf(evaluator)
  const scored = parseRef(ref)?.name ?? name
  return resolveFeedback(
    {
      project_id,
      weave_ref: callRef(refScheme, project_id, call.id),
      feedback_type: `wandb.runnable.${scored}`,
      payload: {
        output,
        ...(reason === null ? {} : { reason }),
        ...(cost_usd === null ? {} : { cost_usd }),
      },
      creator: name,
      runnable_ref: ref,
      call_ref: call_id === null ? null : callRef(refScheme, project_id, call_id),
      trigger_ref: monitor_ref ?? ref,
      scorer_ratings: value === null ? null : { _rating_: value },
      scorer_rating_reasons: reason === null ? null : { _rating_: reason.slice(0, 16_384) },
      span_trace_id: target === 'trace' ? call.trace_id : null,
      span_conversation_id: target === 'conversation' ? call.thread_id : null,
    },
    { id, svc_user_id, created_at_us: nowUs() },
    payloadBytesMax,
  )
}
