/**
 * Calls serialized for transfer between threads. A thread that only forwards them neither parses nor copies them, and
 * they wait outside the heap.
 */
import { deserialize, serialize } from 'node:v8'
import type { CallParts } from './new-call.ts'

/** Of packParts, in the same version of Node. */
export type PackedParts = Uint8Array

export function packParts(parts: readonly CallParts[]): PackedParts {
  return serialize(parts)
}

export function unpackParts(packed: PackedParts): readonly CallParts[] {
  return deserialize(packed)
}
