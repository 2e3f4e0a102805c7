/**
 * Calls serialized for transfer between threads: as bytes they wait outside the heap, and a thread that only forwards
 * them neither parses nor copies them.
 */
import { deserialize, serialize } from 'node:v8'

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
