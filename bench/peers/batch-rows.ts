/** The calls that bench/batch.ts sends and inserts: each with 1 KB of bodies, half in inputs, half in the output. */
import { randomUUID } from 'node:crypto'

/** Calls of one batch. */
export const BATCH_CALLS = 100
const BODY_CHARACTERS = 512
const TEXT = 'The quick brown fox jumps over the lazy dog. '.repeat(12).slice(0, BODY_CHARACTERS)
const FIRST_US = Date.UTC(2026, 0, 1) * 1000

/** One call, as the client sends it and as it lies in the tables. */
export interface BenchCall {
  readonly start: Record<string, unknown>
  readonly end: Record<string, unknown>
  readonly row: Record<string, unknown>
}

/** The call of a number; numbers give ids, times and usage of their own. */
export function buildCall(project_id: string, number: number): BenchCall {
  const id = randomUUID()
  const started_at_us = FIRST_US + number * 1000
  const timeOf = (us: number) => `${new Date(us / 1000).toISOString().slice(0, -1)}000Z`
  const attributes = { number }
  const inputs = { prompt: TEXT }
  const output = { text: TEXT }
  const summary = { usage: { 'gpt-4o': { prompt_tokens: number % 1000, completion_tokens: 100 } } }
  const started = { project_id, id, trace_id: id, op_name: 'predict' }
  return {
    start: { ...started, started_at: timeOf(started_at_us), attributes, inputs },
    end: { project_id, id, ended_at: timeOf(started_at_us + 1_000_000), output, summary },
    row: {
      ...started,
      started_at_us,
      ended_at_us: started_at_us + 1_000_000,
      attributes_json: JSON.stringify(attributes),
      inputs_json: JSON.stringify(inputs),
      output_json: JSON.stringify(output),
      summary_json: JSON.stringify(summary),
      model: 'gpt-4o',
      input_tokens: number % 1000,
      output_tokens: 100,
      total_tokens: (number % 1000) + 100,
      storage_size_bytes: 2 * BODY_CHARACTERS,
    },
  }
}

/** The body of `/call/upsert_batch`. */
export function buildBody(calls: readonly BenchCall[]): Buffer {
  const batch = calls.flatMap(({ start, end }) => [
    { mode: 'start', req: { start } },
    { mode: 'end', req: { end } },
  ])
  return Buffer.from(JSON.stringify({ batch }))
}
