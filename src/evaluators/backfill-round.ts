/** Queues old calls for an evaluator, a part at a time. */

import type { ReadCaller } from '../domain/access/read-caller.ts'
import { resolveCallsShape } from '../domain/calls/calls-query.ts'
import {
  type Backfill,
  type BackfillCursor,
  backfillOf,
  definitionOf,
  type Evaluator,
  isSampled,
} from '../domain/evaluators/evaluator.ts'
import type { ScoredSubject } from '../domain/evaluators/score.ts'
import { layerPrices } from '../domain/prices/project-prices.ts'
import { JUDGE_OP_NAME } from '../inference/scorers/judge.ts'
import type { NewTask } from '../store/api/evaluators/evaluators.ts'
import type { Stores } from '../store/api/stores.ts'
import { type CallsCondition, type SubjectStores, selectCalls, toSubject } from './subjects.ts'

/** Limits: calls that one part looks at, and tasks that may wait before the next part. */
const PART_MAX = 500
const WAITING_MAX = 1_000
/** Limits: calls from which a cost is estimated, and calls whose conversations are counted. */
const SAMPLE_MAX = 20
const COUNTED_CALLS_MAX = 100_000

const NO_JUDGE: CallsCondition = {
  $not: [{ $eq: [{ $getField: 'op_name' }, { $literal: JUDGE_OP_NAME }] }],
}
const IN_CONVERSATION: CallsCondition = {
  $not: [{ $eq: [{ $getField: 'thread_id' }, { $literal: null }] }],
}

interface BackfillOptions {
  readonly stores: Pick<Stores, 'evaluators'> & SubjectStores
  readonly refScheme: string
  readonly signal: AbortSignal
  readonly nowUs: () => number
}

type BackfillReading = Pick<BackfillOptions, 'refScheme'> & { readonly stores: SubjectStores }

/** The window of a backfill of an evaluator. */
type BackfillWindow = Pick<Backfill, 'from_us' | 'until_us'>

/** Returns the calls that a backfill looks at, oldest first; null: none can match. */
async function selectBackfill(
  evaluator: Pick<Evaluator, 'project_id' | 'definition_json'>,
  { from_us, until_us }: BackfillWindow,
  options: BackfillReading,
  ...conditions: CallsCondition[]
) {
  const selection = await selectCalls(evaluator, options, null, conditions)
  if (selection === null) return null
  const { from, to } = selection.startedUs
  return {
    ...selection,
    startedUs: { from: Math.max(from, from_us ?? from), to: Math.min(to, until_us - 1) },
  }
}

/** The calls, traces or conversations that a backfill would score, before sampling. */
export async function countSubjects(
  evaluator: Evaluator,
  window: BackfillWindow,
  caller: ReadCaller,
  options: BackfillReading,
): Promise<number> {
  const { target } = definitionOf(evaluator)
  if (target === 'conversation') return countConversations(evaluator, window, caller, options)
  const selection = await selectBackfill(evaluator, window, options)
  if (selection === null) return 0
  const { callsQuery } = options.stores
  const filter = { ...selection.filter, ...(target === 'trace' ? { trace_roots_only: true } : {}) }
  const { count: calls } = await callsQuery.count({ ...selection, filter }, caller)
  // Counted by their op: a condition on each call would take long.
  const { op_names } = selection.filter
  if (op_names?.length && !op_names.includes(JUDGE_OP_NAME)) return calls
  const judges = { ...selection, filter: { ...filter, op_names: [JUDGE_OP_NAME] } }
  return Math.max(0, calls - (await callsQuery.count(judges, caller)).count)
}

/** Counts the conversations of the first calls; of more calls as many conversations are expected. */
async function countConversations(
  evaluator: Evaluator,
  window: BackfillWindow,
  caller: ReadCaller,
  options: BackfillReading,
): Promise<number> {
  const selection = await selectBackfill(evaluator, window, options, IN_CONVERSATION)
  if (selection === null) return 0
  const { callsQuery } = options.stores
  const { project_id } = evaluator
  const shape = resolveCallsShape({ project_id, columns: ['thread_id'] })
  const found = new Set<string | null>()
  let read = 0
  const part = { ...selection, limit: COUNTED_CALLS_MAX }
  for await (const page of callsQuery.pages(part, shape, caller)) {
    for (const { call } of page) found.add(call.thread_id)
    read += page.length
  }
  if (read < COUNTED_CALLS_MAX) return found.size
  const { count: calls } = await callsQuery.count(selection, caller)
  return Math.round((found.size * calls) / read)
}

/** Returns subjects of some of the calls, from which the cost of all is estimated. */
export async function readSample(
  evaluator: Evaluator,
  window: BackfillWindow,
  caller: ReadCaller,
  options: BackfillReading,
): Promise<ScoredSubject[]> {
  const { callsQuery, prices } = options.stores
  const { project_id } = evaluator
  const { target } = definitionOf(evaluator)
  const conditions = target === 'conversation' ? [IN_CONVERSATION, NO_JUDGE] : [NO_JUDGE]
  const found = await selectBackfill(evaluator, window, options, ...conditions)
  if (found === null) return []
  const roots = target === 'trace' ? { trace_roots_only: true } : {}
  const selection = { ...found, filter: { ...found.filter, ...roots } }
  const table = layerPrices(await prices.listPrices(project_id))
  const subjects: ScoredSubject[] = []
  const shape = resolveCallsShape({ project_id })
  for await (const page of callsQuery.pages({ ...selection, limit: SAMPLE_MAX }, shape, caller)) {
    for (const { call } of page) subjects.push(toSubject(call, table))
  }
  return subjects
}

/** Queues the next part of a running backfill. */
export async function runBackfillRound(
  evaluator: Evaluator,
  options: BackfillOptions,
): Promise<void> {
  const { stores, signal, nowUs } = options
  const backfill = backfillOf(evaluator)
  if (backfill?.state !== 'running') return
  const { waiting } = await stores.evaluators.countWork(evaluator.id, nowUs())
  if (waiting >= WAITING_MAX) return
  const { after } = backfill
  const window = { ...backfill, from_us: after?.started_at_us ?? backfill.from_us }
  const selection = await selectBackfill(evaluator, window, options)
  const tasks: NewTask[] = []
  const read: CallName[] = []
  const limit = PART_MAX + (after?.calls ?? 0)
  if (selection !== null) {
    const page = { ...selection, limit }
    const { id, project_id } = evaluator
    const caller = { keyId: `evaluator-${id}`, project_id, signal }
    const shape = resolveCallsShape({ project_id, columns: ['id', 'thread_id'] })
    for await (const calls of stores.callsQuery.pages(page, shape, caller)) {
      for (const { call } of calls) {
        const { started_at_us, id } = call
        read.push({ started_at_us, id })
        if (isBehind(call, after)) tasks.push(...toTasks(evaluator, call, nowUs()))
      }
    }
  }
  const next: Backfill = {
    ...backfill,
    state: read.length < limit ? 'done' : 'running',
    queued: backfill.queued + new Set(tasks.map(({ subject_id }) => subject_id)).size,
    after: toCursor(read) ?? after,
  }
  const states = { expected: evaluator.backfill_json, next: JSON.stringify(next) }
  await stores.evaluators.queueBackfill(evaluator.id, states, tasks, nowUs())
}

type CallName = Pick<BackfillCursor, 'started_at_us' | 'id'>

/** Whether a call comes after the cursor, as stores order calls: by start, then by the UTF-8 bytes of the id. */
function isBehind({ started_at_us, id }: CallName, after: BackfillCursor | null): boolean {
  if (after === null || started_at_us !== after.started_at_us) return true
  return Buffer.compare(Buffer.from(id), Buffer.from(after.id)) > 0
}

/** @param read - from the first call of the cursor's start on */
function toCursor(read: readonly CallName[]): BackfillCursor | null {
  const last = read.at(-1)
  if (last === undefined) return null
  const calls = read.filter(({ started_at_us }) => started_at_us === last.started_at_us).length
  return { ...last, calls }
}

interface Described {
  readonly id: string
  readonly trace_id: string
  readonly thread_id: string | null
  readonly op_name: string
}

/** Of a trace or conversation all calls name one task, which is queued once. */
function toTasks(evaluator: Evaluator, call: Described, nowUs: number): NewTask[] {
  const { target, sampling } = definitionOf(evaluator)
  if (call.op_name === JUDGE_OP_NAME) return []
  const { id, trace_id, thread_id } = call
  const subject_id = { call: id, trace: trace_id, conversation: thread_id }[target]
  const sample = target === 'conversation' ? thread_id : trace_id
  if (subject_id === null || sample === null || !isSampled(sample, sampling)) return []
  return [{ evaluator_id: evaluator.id, subject_id, due_at_us: nowUs }]
}
