/** Queues new calls for the evaluators and annotation queues that they are for. */
import type { AnnotationQueue } from '../domain/annotation/annotation-queue.ts'
import { shareOf } from '../domain/annotation/queue-rules.ts'
import { definitionOf, type Evaluator, isSampled } from '../domain/evaluators/evaluator.ts'
import { JUDGE_OP_NAME } from '../inference/scorers/judge.ts'
import type { EvaluatorDefinition } from '../schemas/evaluators/evaluator.ts'
import type { FeedCall } from '../store/api/calls/call-feed.ts'
import type { NewTask } from '../store/api/evaluators/evaluators.ts'
import type { Stores } from '../store/api/stores.ts'
import { CALL_PREFIX } from './subjects.ts'

const US_PER_S = 1_000_000

/** What new calls are queued for, under its id. */
interface Subscriber
  extends Pick<Evaluator, 'id' | 'project_id' | 'from_position'>,
    Pick<EvaluatorDefinition, 'target' | 'sampling' | 'rest_seconds'> {}

export function toSubscriber(evaluator: Evaluator): Subscriber {
  const { id, project_id, from_position } = evaluator
  const { target, sampling, rest_seconds } = definitionOf(evaluator)
  return { id, project_id, from_position, target, sampling, rest_seconds }
}

/** A queue is fed with new calls only by the rule of a random share. */
export function toSubscribers(queues: readonly AnnotationQueue[]): Subscriber[] {
  return queues.flatMap((queue) => {
    const { id, project_id, rules_position: from_position } = queue
    const sampling = shareOf(queue)
    const calls = { target: 'call', rest_seconds: 0 } as const
    return sampling === 0 ? [] : [{ id, project_id, from_position, sampling, ...calls }]
  })
}

/**
 * Queues the next calls. Nothing is read where nothing is queued for.
 *
 * @returns whether there may be more
 */
export async function runFeedRound(
  { evaluators, callFeed }: Pick<Stores, 'evaluators' | 'callFeed'>,
  active: readonly Subscriber[],
  nowUs: number,
): Promise<boolean> {
  const from = await evaluators.readPosition()
  if (from === -1) {
    // A copied store has its own positions: what was copied is not new.
    if (active.length > 0) await evaluators.queueTasks([], from, await callFeed.findEnd(), nowUs)
    return false
  }
  if (active.length === 0) return false
  const after = Math.max(from, Math.min(...active.map(({ from_position }) => from_position)))
  const byProject = Map.groupBy(active, ({ project_id }) => project_id)
  const { calls, position } = await callFeed.readFeed(after, [...byProject.keys()])
  if (position === from) return false
  const tasks = calls.flatMap((call) =>
    (byProject.get(call.project_id) ?? []).flatMap((one) => toTask(call, one, nowUs)),
  )
  const isMoved = await evaluators.queueTasks(tasks, from, position, nowUs)
  return isMoved && position > after
}

/** Returns the task of a call, or nothing. The rest of the condition is checked once the call has ended. */
function toTask(call: FeedCall, subscriber: Subscriber, nowUs: number): NewTask[] {
  const { id, position, trace_id, thread_id, op_name } = call
  if (op_name === JUDGE_OP_NAME || position <= subscriber.from_position) return []
  const { target, sampling, rest_seconds } = subscriber
  const group = { call: trace_id, trace: trace_id, conversation: thread_id }[target]
  const isKnown = trace_id !== null
  if (isKnown && (group === null || !isSampled(group, sampling))) return []
  const subject_id = target === 'call' ? id : isKnown ? (group ?? '') : `${CALL_PREFIX}${id}`
  const due_at_us = target === 'call' ? nowUs : nowUs + rest_seconds * US_PER_S
  return [{ evaluator_id: subscriber.id, subject_id, due_at_us }]
}
