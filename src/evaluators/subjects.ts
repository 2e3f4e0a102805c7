/** Reads what tasks of an evaluator are about, and whether it is to be scored. */
import { type CallTexts, latencyMs } from '../domain/calls/call-view.ts'
import {
  type CallsSelection,
  resolveCallsSelection,
  resolveCallsShape,
  usesCosts,
} from '../domain/calls/calls-query.ts'
import { definitionOf, type Evaluator, isSampled } from '../domain/evaluators/evaluator.ts'
import type { ScoredSubject } from '../domain/evaluators/score.ts'
import { objectOrEmpty } from '../domain/json/json-values.ts'
import { priceUsage, totalUsd } from '../domain/prices/cost.ts'
import type { PriceTable } from '../domain/prices/price-table.ts'
import { layerPrices } from '../domain/prices/project-prices.ts'
import { JUDGE_OP_NAME } from '../inference/scorers/judge.ts'
import type { CallsFilter } from '../schemas/calls/calls-filter.ts'
import { renderTimestamp, renderTimestampOrNull } from '../schemas/timestamp.ts'
import type { Stores } from '../store/api/stores.ts'

/** Limits: calls of a trace or conversation, and characters of their bodies. */
const CALLS_MAX = 500
const CHARS_MAX = 8 * 1024 * 1024
/** How long a call that does not end, and one that is not found, are waited for. */
const END_US_MAX = 24 * 3_600_000_000
const ARRIVAL_US_MAX = 600_000_000

export type SubjectStores = Pick<Stores, 'callsQuery' | 'prices'>

interface SubjectReader {
  readonly stores: SubjectStores
  readonly refScheme: string
  readonly signal: AbortSignal
  readonly nowUs: number
}

/** A task that is about to be scored. */
interface Waiting {
  readonly subject_id: string
  readonly queued_at_us: number
}

/** What chooses calls by its definition. */
type Selecting = Pick<Evaluator, 'id' | 'project_id' | 'definition_json'>

/** What is to be done about a task: score it, wait, or pass it over. */
export type SubjectState =
  | { readonly is: 'ready'; readonly call: CallTexts; readonly subject: ScoredSubject }
  | { readonly is: 'waiting' }
  | { readonly is: 'passed_over' }

const WAITING: SubjectState = { is: 'waiting' }
const PASSED_OVER: SubjectState = { is: 'passed_over' }

/** Subject of a trace or conversation that is known only by the id of a call whose start has not arrived. */
export const CALL_PREFIX = 'call '

/** Reads the subjects of tasks of one evaluator, in their order. */
export async function readSubjects(
  evaluator: Evaluator,
  tasks: readonly Waiting[],
  reader: SubjectReader,
): Promise<SubjectState[]> {
  const { target } = definitionOf(evaluator)
  if (target !== 'call') {
    const states: SubjectState[] = []
    for (const task of tasks) states.push(await readGroup(evaluator, task, reader))
    return states
  }
  const call_ids = tasks.map(({ subject_id }) => subject_id)
  const calls = new Map<string, CallTexts>()
  for await (const call of readCalls(evaluator, { call_ids }, reader)) calls.set(call.id, call)
  const ended = [...calls.values()].filter(({ ended_at_us }) => ended_at_us !== null)
  const matching = await findMatching(evaluator, ended, reader)
  const table = layerPrices(await reader.stores.prices.listPrices(evaluator.project_id))
  return tasks.map((task) => {
    const call = calls.get(task.subject_id)
    if (mayEnd(call, task, reader.nowUs)) return WAITING
    if (call === undefined || !matching.has(call.id)) return PASSED_OVER
    return { is: 'ready', call, subject: toSubject(call, table) }
  })
}

/** Whether a call may still arrive, or end. */
export function mayEnd(
  call: CallTexts | undefined,
  task: Pick<Waiting, 'queued_at_us'>,
  nowUs: number,
): boolean {
  if (call === undefined) return nowUs - task.queued_at_us < ARRIVAL_US_MAX
  return call.ended_at_us === null && nowUs - task.queued_at_us < END_US_MAX
}

/** @param columns - with bodies that are read; none: all */
export async function* readCalls(
  { id, project_id }: Omit<Selecting, 'definition_json'>,
  filter: CallsFilter,
  { stores, refScheme, signal }: Omit<SubjectReader, 'nowUs'>,
  columns: string[] = [],
): AsyncGenerator<CallTexts> {
  const request = { project_id, filter, limit: CALLS_MAX }
  const selection = resolveCallsSelection(request, { refScheme, projects: [project_id] })
  const caller = { keyId: `evaluator-${id}`, project_id, signal }
  const shape = resolveCallsShape({ ...request, columns })
  let chars = 0
  for await (const page of stores.callsQuery.pages(selection, shape, caller)) {
    for (const { call } of page) {
      chars += (call.inputs_json?.length ?? 0) + (call.output_json?.length ?? 0)
      yield call
    }
    if (chars > CHARS_MAX && filter.call_ids === undefined) return
  }
}

/** Returns the ids of those calls that are sampled, made by no judge, and meet the condition of the evaluator. */
export async function findMatching(
  evaluator: Selecting,
  calls: readonly CallTexts[],
  { stores, refScheme, signal }: Omit<SubjectReader, 'nowUs'>,
): Promise<ReadonlySet<string>> {
  const { id, project_id } = evaluator
  const { sampling, target, query, filter } = definitionOf(evaluator)
  const sampled = calls
    .filter(({ op_name }) => op_name !== JUDGE_OP_NAME)
    .filter((call) =>
      isSampled(target === 'conversation' ? (call.thread_id ?? '') : call.trace_id, sampling),
    )
    .map((call) => call.id)
  const conditions = [query, ...Object.values(filter ?? {})]
  const hasCondition = conditions.some((one) => one !== null && one !== undefined)
  if (sampled.length === 0 || !hasCondition) return new Set(sampled)
  const selection = await selectCalls(evaluator, { stores, refScheme }, sampled)
  if (selection === null) return new Set()
  const shape = resolveCallsShape({ project_id, columns: ['id'] })
  const caller = { keyId: `evaluator-${id}`, project_id, signal }
  const found = new Set<string>()
  for await (const page of stores.callsQuery.pages(selection, shape, caller)) {
    for (const { call } of page) found.add(call.id)
  }
  return found
}

/**
 * Returns the calls that meet the condition of an evaluator.
 *
 * @param ids - only these calls; null: all
 * @returns null when no call can
 */
export async function selectCalls(
  evaluator: Omit<Selecting, 'id'>,
  { stores, refScheme }: Pick<SubjectReader, 'stores' | 'refScheme'>,
  ids: readonly string[] | null,
): Promise<CallsSelection | null> {
  const { project_id } = evaluator
  const { filter, query = null } = definitionOf(evaluator)
  const given = filter?.call_ids ?? []
  const call_ids =
    ids === null ? given : ids.filter((id) => given.length === 0 || given.includes(id))
  if (ids !== null && call_ids.length === 0) return null
  const request = { project_id, filter: { ...filter, call_ids: [...call_ids] }, query }
  const selection = resolveCallsSelection(request, { refScheme, projects: [project_id] })
  if (!usesCosts(selection)) return selection
  return { ...selection, prices: await stores.prices.listPrices(project_id) }
}

/** A trace or conversation is scored once all of its calls have ended; the condition is on its root. */
async function readGroup(
  evaluator: Evaluator,
  task: Waiting,
  reader: SubjectReader,
): Promise<SubjectState> {
  const { target } = definitionOf(evaluator)
  const isTrace = target === 'trace'
  const group = await findGroup(evaluator, task, reader)
  if (group === null) return mayEnd(undefined, task, reader.nowUs) ? WAITING : PASSED_OVER
  const filter = isTrace ? { trace_ids: [group] } : { thread_ids: [group] }
  const calls: CallTexts[] = []
  for await (const call of readCalls(evaluator, filter, reader)) calls.push(call)
  const roots = calls.filter(({ parent_id, id, turn_id }) =>
    isTrace ? parent_id === null : turn_id === id || parent_id === null,
  )
  const call = (isTrace ? (roots[0] ?? calls[0]) : (roots.at(-1) ?? calls.at(-1))) ?? undefined
  const open = calls.find(({ ended_at_us }) => ended_at_us === null)
  if (mayEnd(open ?? call, task, reader.nowUs)) return WAITING
  if (call === undefined) return PASSED_OVER
  const matching = await findMatching(evaluator, [call], reader)
  if (!matching.has(call.id)) return PASSED_OVER
  const table = layerPrices(await reader.stores.prices.listPrices(evaluator.project_id))
  const shown = isTrace ? calls : roots
  const subject = { ...toSubject(call, table), calls: shown.map((one) => toSubject(one, table)) }
  return { is: 'ready', call, subject }
}

async function findGroup(
  evaluator: Evaluator,
  { subject_id }: Waiting,
  reader: SubjectReader,
): Promise<string | null> {
  if (!subject_id.startsWith(CALL_PREFIX)) return subject_id
  const call_ids = [subject_id.slice(CALL_PREFIX.length)]
  const isTrace = definitionOf(evaluator).target === 'trace'
  for await (const call of readCalls(evaluator, { call_ids }, reader)) {
    return isTrace ? call.trace_id : call.thread_id
  }
  return null
}

export function toSubject(call: CallTexts, table: PriceTable): ScoredSubject {
  const { id, trace_id, thread_id, op_name, started_at_us, ended_at_us, exception } = call
  const summary = objectOrEmpty(parse(call.summary_json))
  const attributes = objectOrEmpty(parse(call.attributes_json))
  return {
    id,
    trace_id,
    thread_id,
    op_name,
    inputs: parse(call.inputs_json) ?? {},
    output: parse(call.output_json),
    exception,
    attributes,
    summary,
    started_at: renderTimestamp(started_at_us),
    ended_at: renderTimestampOrNull(ended_at_us),
    latency_ms: ended_at_us === null ? null : latencyMs(started_at_us, ended_at_us),
    cost_usd: totalUsd(priceUsage({ summary, attributes, started_at_us }, table)),
  }
}

function parse(json: string | null): unknown {
  return json === null ? null : JSON.parse(json)
}
