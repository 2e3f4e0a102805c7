/** The examples of a run, read from the calls that predicted and scored. */
import { requestJson, requestLines } from '../api/client.ts'
import { isExactNumber } from '../api/exact-json.ts'
import { type Call, factsOf, membersOf } from '../api/wire.ts'
import { preview } from '../parts/format.ts'
import type { Example } from './example.ts'
import { opNames, type Run } from './runs.ts'
import { scoresOf, secondsAsMs } from './scores.ts'

/** Limit: examples of a run that are read. */
export const EXAMPLES_MAX = 10_000
const PREVIEW_CHARS = 300
/** Keys next to `scores` in the output of a call. Older clients put the scores themselves there. */
const NO_SCORES = new Set(['output', 'model_output', 'model_latency', 'model_success', 'scores'])

export interface Examples {
  readonly examples: readonly Example[]
  /** Whether the run has more examples than were read. */
  readonly hasMore: boolean
}

export async function readExamples(
  project_id: string,
  { id }: Pick<Run, 'id'>,
  signal: AbortSignal,
): Promise<Examples> {
  const names = ['Evaluation.predict_and_score', 'Evaluation.predictAndScore']
  const body = {
    project_id,
    filter: { parent_ids: [id], op_names: opNames(project_id, ...names) },
    columns: ['inputs', 'output', 'summary'],
    expand_columns: ['inputs.example'],
    limit: EXAMPLES_MAX + 1,
  }
  const examples: Example[] = []
  for await (const call of requestLines<Call>('/calls/stream_query', body, { signal }))
    examples.push(exampleOf(call))
  return { examples: examples.slice(0, EXAMPLES_MAX), hasMore: examples.length > EXAMPLES_MAX }
}

/** The complete calls of examples; those not found are left out. */
export async function readExampleCalls(
  project_id: string,
  ids: readonly string[],
  signal: AbortSignal,
): Promise<readonly Call[]> {
  const body = {
    project_id,
    filter: { call_ids: [...ids] },
    expand_columns: ['inputs.example'],
  }
  return Array.fromAsync(requestLines<Call>('/calls/stream_query', body, { signal }))
}

/** The ref of the dataset of an evaluation; null where there is none. */
export async function readDataset(
  project_id: string,
  name: string,
  digest: string,
  signal: AbortSignal,
): Promise<unknown> {
  const body = { project_id, object_id: name, digest }
  const { obj } = await requestJson<{ obj: { val: unknown } }>('/obj/read', body, { signal })
  return (obj.val as { dataset?: unknown } | null)?.dataset ?? null
}

function exampleOf(call: Call): Example {
  const example = exampleIn(call)
  const output = membersOf(call.output)
  const { _ref, ...inputs } = asRecord(example)
  const { model_latency } = output
  return {
    key: typeof _ref === 'string' ? keyOfRef(_ref) : keyOfValue(example),
    callId: call.id,
    status: factsOf(call).status,
    inputs: Object.fromEntries(
      Object.entries(inputs).map(([name, value]) => [name, preview(value, PREVIEW_CHARS)]),
    ),
    output: call.exception ?? preview(output.output ?? output.model_output, PREVIEW_CHARS),
    scores: scoresOf(scoresIn(output)),
    latencyMs: latencyOf(model_latency),
  }
}

/** Returns the input of a prediction. */
export function exampleIn(call: Call): unknown {
  return (call.inputs as { example?: unknown }).example ?? call.inputs
}

function scoresIn(output: Readonly<Record<string, unknown>>): unknown {
  if (typeof output.scores === 'object') return output.scores
  return Object.fromEntries(Object.entries(output).filter(([name]) => !NO_SCORES.has(name)))
}

/** Seconds, or a mean of seconds. */
function latencyOf(value: unknown): number | null {
  return secondsAsMs(value) ?? secondsAsMs(membersOf(value).mean)
}

/** Depends on the row only, so that it is the same in other versions of the dataset. */
function keyOfRef(ref: string): string {
  return /\/attr\/rows\/id\/([0-9a-zA-Z]+)$/.exec(ref)?.[1] ?? ref
}

function keyOfValue(value: unknown): string {
  const members = Object.entries(asRecord(value)).sort(([left], [right]) => (left < right ? -1 : 1))
  return hashOf(JSON.stringify(members))
}

/** A hash of 64 bits, two halves of FNV-1a: short enough for an address. */
function hashOf(text: string): string {
  let [left, right] = [0x811c9dc5, 0x01000193]
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    left = Math.imul(left ^ code, 0x01000193)
    right = Math.imul(right ^ code ^ (left >>> 13), 0x5bd1e995)
  }
  return [left, right].map((half) => (half >>> 0).toString(36)).join('')
}

function asRecord(value: unknown): Record<string, unknown> {
  const isRecord = typeof value === 'object' && value !== null && !Array.isArray(value)
  return isRecord && !isExactNumber(value) ? (value as Record<string, unknown>) : { example: value }
}
