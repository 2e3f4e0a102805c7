/**
 * Experiments of Langfuse's SDKs as runs of evaluations: the span of an item becomes a trial of its run. Pure.
 *
 * Spec: §2.5 (evaluations are not shown). Choice: the calls that the Weave SDKs write; the scores of a trial come as
 * feedback about it or a call below it.
 */
import { ClientId } from '../../schemas/primitives.ts'
import {
  EVALUATION_OPS,
  marksOf,
  PREDICT_AND_SCORE_OP,
} from '../calls/evaluations/evaluation-calls.ts'
import {
  type CallParts,
  resolveTimedEnd,
  resolveTimedStart,
  type TimedEnd,
  type TimedStart,
} from '../calls/new-call.ts'
import { filledTextOrNull } from '../json/json-values.ts'
import type { Span } from './span.ts'
import { parseText } from './span-reader.ts'

const ITEM_SPAN = 'experiment-item-run'
const PREFIX = 'langfuse.experiment.'
const NAME_CHARS_MAX = 256
const NS_PER_US = 1000n

/** A run, as each span of its items describes it. */
export interface ExperimentRun {
  readonly project_id: string
  readonly id: string
  readonly name: string
  readonly description: string | null
  readonly metadata: unknown
  /** Name of the object of the dataset; null: the items are of none. */
  readonly dataset_id: string | null
  readonly started_at_us: number
  readonly ended_at_us: number
}

interface SpanCall {
  readonly start: TimedStart
  readonly end: TimedEnd
}

/** The run of the span of an item; null for any other span. */
export function readExperimentRun(span: Span, project_id: string): ExperimentRun | null {
  if (span.name !== ITEM_SPAN) return null
  const text = (name: string) => filledTextOrNull(span.attributes[PREFIX + name])
  const { data: id } = ClientId.safeParse(text('id'))
  if (id === undefined || text('item.id') === null) return null
  return {
    project_id,
    id,
    name: (text('name') ?? id).slice(0, NAME_CHARS_MAX).toWellFormed(),
    description: text('description'),
    metadata: parseText(text('metadata')) ?? null,
    dataset_id: text('dataset.id'),
    started_at_us: Number(span.start_ns / NS_PER_US),
    ended_at_us: Number((span.end_ns > span.start_ns ? span.end_ns : span.start_ns) / NS_PER_US),
  }
}

/** Converts the call of such a span to a trial below its run. */
export function toTrialCall<Call extends SpanCall>(
  { attributes }: Span,
  call: Call,
  run: ExperimentRun,
  refScheme: string,
): Call {
  const { start, end } = call
  const value = (name: string) => parseText(attributes[name]) ?? null
  const example = {
    id: attributes[`${PREFIX}item.id`],
    input: value('langfuse.observation.input'),
    expected_output: value(`${PREFIX}item.expected_output`),
  }
  const inputs = { self: subjectOf(run, refScheme), model: run.name, example }
  return {
    ...call,
    start: { ...start, parent_id: run.id, op_name: PREDICT_AND_SCORE_OP, inputs },
    end: { ...end, output: { output: end.output } },
  }
}

/** What a run evaluates: the dataset, or the run itself. */
function subjectOf({ project_id, dataset_id, name }: ExperimentRun, refScheme: string): string {
  return dataset_id === null
    ? name
    : `${refScheme}:///${project_id}/object/${encodeURIComponent(dataset_id)}:latest`
}

/**
 * The call of a run. Nothing says when a run has ended, so that its call ends with the items that announce it.
 *
 * @param user - who records it
 */
export function toRunParts(
  run: ExperimentRun,
  refScheme: string,
  user: { readonly svc_user_id: string; readonly svc_username: string },
): CallParts {
  const { project_id, id, name: model, description, metadata, dataset_id } = run
  const evaluation = subjectOf(run, refScheme)
  const marks = marksOf('evaluation_run', { evaluation, model })
  const start = {
    project_id,
    id,
    trace_id: id,
    op_name: EVALUATION_OPS.evaluation_run,
    display_name: model,
    started_at_us: run.started_at_us,
    attributes: { ...marks, langfuse: { description, metadata, dataset_id } },
    inputs: { self: evaluation, model },
  }
  const end = { project_id, id, ended_at_us: run.ended_at_us, output: null, summary: {} }
  return {
    start: resolveTimedStart(start, { id, trace_id: id, ...user }, refScheme),
    end: resolveTimedEnd(end, refScheme),
  }
}
