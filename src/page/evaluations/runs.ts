/** Runs of evaluations: the calls by which the SDKs and the routes of evaluation runs record them. */
import { requestJson, requestLines } from '../api/client.ts'
import { refScheme } from '../api/ref-scheme.ts'
import {
  type Call,
  type CallsQueryBody,
  factsOf,
  membersOf,
  type Status,
  usageOf,
} from '../api/wire.ts'
import { parseRef, refLabel } from '../parts/values/refs.ts'
import { type Scores, scoresOf, secondsAsMs } from './scores.ts'

/** Limit: runs that are listed, the newest. */
export const RUNS_MAX = 1000
/** Prefix of the names that the Python SDK makes up. */
const DATED = /^eval-\d{4}-\d{2}-\d{2}-(?=.)/

export interface Run {
  readonly id: string
  readonly name: string
  /** The name without the prefix that generated names share. */
  readonly shortName: string
  readonly status: Status
  readonly started_at: string
  /** Refs, or the values in place of them. */
  readonly evaluation: unknown
  readonly model: unknown
  /** Scores of the summary; empty while it runs. */
  readonly scores: Scores
  readonly latencyMs: number | null
  /** Mean latency of the model alone. */
  readonly modelLatencyMs: number | null
  readonly tokens: number | null
  readonly cost: number | null
}

/** Matches an op in all versions, and by the plain name that the routes of evaluation runs use. */
export function opNames(project: string, ...names: readonly string[]): string[] {
  return names.flatMap((name) => [`${refScheme()}:///${project}/op/${name}:*`, name])
}

/** @param refs - of evaluations or models, of which a run has one, or such that end in `:*`; none for all runs */
export async function readRuns(
  project_id: string,
  refs: readonly string[],
  signal: AbortSignal,
): Promise<{ readonly runs: readonly Run[]; readonly count: number }> {
  const question = {
    project_id,
    filter: {
      op_names: opNames(project_id, 'Evaluation.evaluate'),
      ...(refs.length === 0 ? {} : { input_refs: [...refs] }),
    },
  }
  const [{ count }, runs] = await Promise.all([
    requestJson<{ count: number }>('/calls/query_stats', question, { signal }),
    listRuns({ ...question, limit: RUNS_MAX }, signal),
  ])
  return { runs, count }
}

/** Runs by their ids, in this order. @throws when one is missing */
export async function readRunsOf(
  project_id: string,
  ids: readonly string[],
  signal: AbortSignal,
): Promise<readonly Run[]> {
  const found = await listRuns({ project_id, filter: { call_ids: [...ids] } }, signal)
  return ids.map((id) => {
    const run = found.find((each) => each.id === id)
    if (run === undefined) throw new Error(`There is no run ${id}; it may have been deleted.`)
    return run
  })
}

async function listRuns(question: CallsQueryBody, signal: AbortSignal): Promise<readonly Run[]> {
  const body = {
    ...question,
    columns: ['display_name', 'inputs', 'output', 'summary'],
    sort_by: [{ field: 'started_at', direction: 'desc' }],
    include_costs: true,
    include_tree_usage: true,
  }
  const calls = await Array.fromAsync(requestLines<Call>('/calls/stream_query', body, { signal }))
  return calls.map(runOf)
}

function runOf(call: Call): Run {
  const { self, model } = call.inputs as { self?: unknown; model?: unknown }
  const { status, latency_ms = null, tree_total_tokens, tree_total_cost } = factsOf(call)
  // Runs of the SDKs report what the calls below them used, those of the server and of spans do not.
  const own = usageOf(call)
  const { model_latency, output, model_output, ...scores } = membersOf(call.output)
  const { mean } = (model_latency ?? {}) as { mean?: unknown }
  return {
    id: call.id,
    status,
    started_at: call.started_at,
    tokens: tree_total_tokens || own.tokens,
    cost: tree_total_cost ?? own.cost,
    name: call.display_name ?? call.id,
    shortName: (call.display_name ?? call.id).replace(DATED, ''),
    evaluation: self,
    model,
    // The scores of scorers first, then those of the outputs themselves.
    scores: { ...scoresOf(scores), ...scoresOf({ output: output ?? model_output }) },
    latencyMs: latency_ms,
    modelLatencyMs: secondsAsMs(mean),
  }
}

/** Returns the label of an evaluation or a model. */
export function subjectLabel(value: unknown): string {
  const ref = parseRef(value)
  if (ref !== null) return refLabel(ref)
  const { name } = (value ?? {}) as { name?: unknown }
  return typeof name === 'string' ? name : typeof value === 'string' ? value : ''
}
