/** Reads what tasks of an evaluator are about, and whether it is to be scored. */
import type { z } from 'zod'
import type { CallTexts } from '../domain/calls/call-view.ts'
import {
  type CallsSelection,
  resolveCallsSelection,
  resolveCallsShape,
  usesCosts,
} from '../domain/calls/calls-query.ts'
import { definitionOf, type Evaluator, isSampled } from '../domain/evaluators/evaluator.ts'
import type { ScoredSubject } from '../domain/evaluators/score.ts'
import { toScoredSubject } from '../domain/evaluators/subject.ts'
import { parseLossless } from '../domain/json/json-text.ts'
import { objectOrEmpty } from '../domain/json/json-values.ts'
import type { PriceTable } from '../domain/prices/price-table.ts'
import { layerPrices } from '../domain/prices/project-prices.ts'
import { JUDGE_OP_NAME } from '../inference/scorers/judge.ts'
import type { CallsFilter } from '../schemas/calls/calls-filter.ts'
import type { Query } from '../schemas/query/query-expression.ts'
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

/** The expression of a query over calls. */
export type CallsCondition = z.infer<typeof Query>['$expr']

/** What is to be done about a task: score it, wait, pass it over, or read its call later, as others have long bodies. */
export type SubjectState =
  | { readonly is: 'ready'; readonly call: CallTexts; readonly subject: ScoredSubject }
  | { readonly is: 'waiting' }
  | { readonly is: 'passed_over' }
  | { readonly is: 'unread' }

const WAITING: SubjectState = { is: 'waiting' }
const PASSED_OVER: SubjectState = { is: 'passed_over' }
const UNREAD: SubjectState = { is: 'unread' }

/** Begins the subject of a trace or conversation that is known only by the id of a call whose start has not arrived; no id has it. */
export const CALL_PREFIX = 'call\n'

/** Reads the subjects of tasks of one evaluator, in their order; for a rule only the first ones that have CHARS_MAX. */
export async function readSubjects(
  evaluator: Evaluator,
  tasks: readonly Waiting[],
  reader: SubjectReader,
): Promise<SubjectState[]> {
  const { target, scorer } = definitionOf(evaluator)
  // Of judges and webhooks few tasks are claimed at once, which must not wait for each other.
  const charsMax = scorer.kind === 'rule' ? CHARS_MAX : Number.POSITIVE_INFINITY
  let chars = 0
  if (target !== 'call') {
    const states: SubjectState[] = []
    for (const task of tasks) {
      const onRead = (read: number) => {
        chars += read
      }
      states.push(chars > charsMax ? UNREAD : await readGroup(evaluator, task, onRead, reader))
    }
    return states
  }
  const call_ids = tasks.map(({ subject_id }) => subject_id)
  const calls = new Map<string, CallTexts>()
  for await (const call of readCalls(evaluator, { call_ids }, reader)) {
    calls.set(call.id, call)
    chars += charsOf(call)
    if (chars > charsMax) break
  }
  const ended = [...calls.values()].filter(({ ended_at_us }) => ended_at_us !== null)
  const matching = await findMatching(evaluator, ended, reader)
  const table = layerPrices(await reader.stores.prices.listPrices(evaluator.project_id))
  return tasks.map((task) => {
    const call = calls.get(task.subject_id)
    if (call === undefined && chars > charsMax) return UNREAD
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
      chars += charsOf(call)
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

function charsOf(call: CallTexts): number {
  const { attributes_json, inputs_json, output_json, summary_json, otel_dump_json } = call
  const texts = [attributes_json, inputs_json, output_json, summary_json, otel_dump_json]
  return texts.reduce((sum, text) => sum + (text?.length ?? 0), 0)
}

/**
 * Returns the calls that meet the condition of an evaluator.
 *
 * @param ids - only these calls; null: all
 * @param conditions - further ones, as of a query
 * @returns null when no call can
 */
export async function selectCalls(
  evaluator: Omit<Selecting, 'id'>,
  { stores, refScheme }: Pick<SubjectReader, 'stores' | 'refScheme'>,
  ids: readonly string[] | null,
  conditions: readonly CallsCondition[] = [],
): Promise<CallsSelection | null> {
  const { project_id } = evaluator
  const { filter, query: own = null } = definitionOf(evaluator)
  const all = own === null ? conditions : [own.$expr, ...conditions]
  const query = conditions.length === 0 ? own : { $expr: { $and: all } }
  const given = filter?.call_ids ?? []
  const call_ids =
    ids === null ? given : ids.filter((id) => given.length === 0 || given.includes(id))
  if (ids !== null && call_ids.length === 0) return null
  const request = { project_id, filter: { ...filter, call_ids: [...call_ids] }, query }
  const selection = resolveCallsSelection(request, { refScheme, projects: [project_id] })
  if (!usesCosts(selection)) return selection
  return { ...selection, prices: await stores.prices.listPrices(project_id) }
}

/**
 * A trace or conversation is scored once all of its calls have ended; the condition is on its root.
 *
 * @param onRead - gets the characters of what is to be scored
 */
async function readGroup(
  evaluator: Evaluator,
  task: Waiting,
  onRead: (chars: number) => void,
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
  onRead(shown.reduce((sum, one) => sum + charsOf(one), 0))
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
  const { inputs_json, output_json, summary_json, attributes_json } = call
  const bodies = {
    inputs: objectOrEmpty(parse(inputs_json)),
    output: parse(output_json),
    summary: objectOrEmpty(parse(summary_json)),
    attributes: objectOrEmpty(parse(attributes_json)),
  }
  return toScoredSubject({ ...call, ...bodies }, table)
}

function parse(json: string | null): unknown {
  return json === null ? null : parseLossless(json)
}
