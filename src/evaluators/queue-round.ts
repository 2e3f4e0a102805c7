/** Adds the calls to an annotation queue that its rules find. */
import { toQueuedCall } from '../domain/annotation/annotation-item.ts'
import type { AnnotationQueue } from '../domain/annotation/annotation-queue.ts'
import { adderOf, findRule, readTask, rulesOf } from '../domain/annotation/queue-rules.ts'
import { callRef } from '../domain/calls/call-ref.ts'
import type { CallTexts } from '../domain/calls/call-view.ts'
import type { FeedbackRow } from '../domain/feedback/feedback-view.ts'
import type { QueueRules } from '../schemas/annotation/queue-rules.ts'
import type { RuledCall } from '../store/api/annotation/annotation-queues.ts'
import type { Stores } from '../store/api/stores.ts'
import { findMatching, mayEnd, readCalls, type SubjectStores } from './subjects.ts'

/** Pause before a call that has not ended is checked again. */
const WAIT_US = 10_000_000

interface QueueRoundOptions {
  readonly stores: Pick<Stores, 'annotation' | 'feedback'> & SubjectStores
  readonly refScheme: string
  readonly signal: AbortSignal
  readonly nowUs: () => number
}

/** Checks what is due for the rules of a queue. Another process may do the same at the same time. */
export async function runQueueRound(
  queue: AnnotationQueue,
  options: QueueRoundOptions,
): Promise<void> {
  const { id, project_id } = queue
  const { annotation } = options.stores
  const rules = rulesOf(queue)
  const now_us = options.nowUs()
  const due = rules === null ? [] : await annotation.listRuleTasks(id, now_us)
  if (rules === null || due.length === 0) return
  const tasks = due.map((task) => ({ ...task, ...readTask(task.subject_id) }))
  const call_ids = [...new Set(tasks.map(({ call_id }) => call_id))]
  const calls = new Map<string, CallTexts>()
  for await (const call of readCalls(queue, { call_ids }, options, ['ended_at'])) {
    calls.set(call.id, call)
  }
  const waiting = tasks.filter((task) => mayEnd(calls.get(task.call_id), task, now_us))
  const over = tasks.filter((task) => !waiting.includes(task))
  const found: RuledCall[] = []
  const ofFeedback = over.filter(({ isOfFeedback }) => isOfFeedback)
  const about = await listAbout(queue, ofFeedback, options)
  for (const [part, sampling] of [
    [ofFeedback, 1],
    [over.filter(({ isOfFeedback }) => !isOfFeedback), rules.random ?? 0],
  ] as const) {
    const ended = part.flatMap(({ call_id }) => calls.get(call_id) ?? [])
    const matching = await findMatching(toSelecting(queue, rules, sampling), ended, options)
    for (const { subject_id, call_id, isOfFeedback } of part) {
      const rule = isOfFeedback ? findRule(rules, about.get(call_id) ?? []) : 'random'
      const call = calls.get(call_id)
      if (call === undefined || rule === null || !matching.has(call_id)) continue
      found.push({ subject_id, added_by: adderOf(rule), ...toQueuedCall(call) })
    }
  }
  const names = (some: typeof tasks) => some.map(({ subject_id }) => subject_id)
  const ends = { over: names(over), waiting: names(waiting), due_at_us: now_us + WAIT_US }
  await annotation.settleRules({ project_id, id, calls: found, now_us, ...ends })
}

/** Returns the feedback about the calls of tasks, by call. */
async function listAbout(
  { id, project_id }: AnnotationQueue,
  tasks: readonly { readonly call_id: string }[],
  { stores, refScheme, signal }: QueueRoundOptions,
): Promise<ReadonlyMap<string, readonly FeedbackRow[]>> {
  const ids = [...new Set(tasks.map(({ call_id }) => call_id))]
  if (ids.length === 0) return new Map()
  const refs = ids.map((call_id) => callRef(refScheme, project_id, call_id))
  const caller = { keyId: `queue-${id}`, project_id, signal }
  const rows = await stores.feedback.listAbout(refs, caller)
  return new Map(ids.map((call_id, index) => [call_id, rows[index] ?? []]))
}

/** Calls are chosen as those of evaluators are. */
function toSelecting({ id, project_id }: AnnotationQueue, rules: QueueRules, sampling: number) {
  const { filter, query } = rules
  const definition_json = JSON.stringify({ target: 'call', sampling, filter, query })
  return { id, project_id, definition_json }
}
