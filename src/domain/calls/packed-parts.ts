/**
 * Calls as bytes on their way between threads: who only passes them on neither makes them again nor copies them one by
 * one, and they wait outside of the heap.
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
