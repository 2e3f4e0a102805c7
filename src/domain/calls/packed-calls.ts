/**
 * Calls serialized for transfer between threads: as bytes they wait outside the heap, and a thread that only forwards
 * them neither parses nor copies them.
 */
import { deserialize, serialize } from 'node:v8'
import type { PartResult } from './call-state.ts'
import type { CallParts } from './new-call.ts'

/** The result of packCalls, in the same version of Node. */
export interface PackedCalls<Call> extends Uint8Array {
  /** Never set: it carries the type. */
  readonly calls?: readonly Call[]
}

export function packCalls<Call>(calls: readonly Call[]): PackedCalls<Call> {
  return serialize(calls)
}

export function unpackCalls<Call>(packed: PackedCalls<Call>): readonly Call[] {
  return deserialize(packed)
}

/** The outcome of a packed batch, without the results that follow from its parts. */
export interface PackedOutcome<Result = PartResult> {
  /** The number of starts that were acknowledged, including repeats. */
  readonly starts: number
  /** The number of ends that were acknowledged, including repeats. */
  readonly ends: number
  /** Results by the index of the part: of refused ones, and of repeated starts with another trace than the first. */
  readonly exceptions: readonly (readonly [index: number, result: Result])[]
}

/** @param results - of the parts, in order */
export function toPackedOutcome(
  parts: readonly CallParts[],
  results: readonly PartResult[],
): PackedOutcome {
  let [starts, ends] = [0, 0]
  const exceptions: (readonly [number, PartResult])[] = []
  results.forEach((result, index) => {
    const { start = null, end = null } = parts[index] ?? {}
    const trace = result.started?.trace_id ?? start?.trace_id
    if (result.error || trace !== start?.trace_id) exceptions.push([index, result])
    if (result.error) return
    if (start) starts += 1
    if (end) ends += 1
  })
  return { starts, ends, exceptions }
}
