/** Encodes named arrays of numbers and a little JSON in one blob, in the smallest array type that fits. Pure. */
import { crc32 } from 'node:zlib'
import type { Integers } from '../../../base/stats/sums.ts'

export type Numbers = Integers | Float64Array

const TYPES = { u8: Uint8Array, u16: Uint16Array, u32: Uint32Array, f64: Float64Array } as const
type TypeName = keyof typeof TYPES

/** The version in each blob; a reader treats another version as broken. */
const FORMAT = 1
/** The format, the checksum of everything after it, and the length of the JSON. */
const HEAD_BYTES = 12
const CHECKED_FROM = 8
const ALIGNMENT = 8

interface Frame<Meta> {
  readonly meta: Meta
  readonly arrays: readonly (readonly [name: string, type: TypeName, length: number])[]
}

/** A decoded blob. */
export interface Segment<Meta> {
  readonly meta: Meta
  /** Returns an array of integers; empty when it was not written. */
  integers(name: string): Integers
  /** The same for an array of doubles. */
  doubles(name: string): Float64Array
}

/** Copies values into the smallest array type that holds all of them. */
export function narrow(values: Integers): Integers {
  let max = 0
  for (let index = 0; index < values.length; index++) {
    if ((values[index] as number) > max) max = values[index] as number
  }
  if (max < 2 ** 8) return Uint8Array.from(values)
  return max < 2 ** 16 ? Uint16Array.from(values) : Uint32Array.from(values)
}

export function encodeSegment(
  meta: unknown,
  arrays: Readonly<Record<string, Numbers>>,
): Uint8Array {
  const entries = Object.entries(arrays)
  const frame: Frame<unknown> = {
    meta,
    arrays: entries.map(([name, values]) => [name, typeName(values), values.length]),
  }
  const json = new TextEncoder().encode(JSON.stringify(frame))
  const size = entries.reduce(
    (total, [, { byteLength }]) => align(total) + byteLength,
    HEAD_BYTES + json.length,
  )
  const blob = new Uint8Array(size)
  blob.set(json, HEAD_BYTES)
  let at = HEAD_BYTES + json.length
  for (const [, { buffer, byteOffset, byteLength }] of entries) {
    at = align(at)
    blob.set(new Uint8Array(buffer, byteOffset, byteLength), at)
    at += byteLength
  }
  const head = new DataView(blob.buffer)
  head.setUint32(0, FORMAT, true)
  head.setUint32(8, json.length, true)
  head.setUint32(4, crc32(blob.subarray(CHECKED_FROM)), true)
  return blob
}

/** Decodes a blob without copying it; returns null when it is broken, truncated or of another format. */
export function decodeSegment<Meta>(bytes: Uint8Array): Segment<Meta> | null {
  if (bytes.length < HEAD_BYTES) return null
  const blob = bytes.byteOffset % ALIGNMENT === 0 ? bytes : Uint8Array.from(bytes)
  const { buffer, byteOffset } = blob
  const head = new DataView(buffer, byteOffset, HEAD_BYTES)
  if (head.getUint32(0, true) !== FORMAT) return null
  if (head.getUint32(4, true) !== crc32(blob.subarray(CHECKED_FROM))) return null
  const jsonEnd = HEAD_BYTES + head.getUint32(8, true)
  const json = new TextDecoder().decode(blob.subarray(HEAD_BYTES, jsonEnd))
  const { meta, arrays } = JSON.parse(json) as Frame<Meta>
  const places: Record<string, ColumnLayout> = {}
  let at = byteOffset + jsonEnd
  for (const [name, type, length] of arrays) {
    at = byteOffset + align(at - byteOffset)
    places[name] = { type, length, at }
    at += length * TYPES[type].BYTES_PER_ELEMENT
  }
  // Created on demand: most are never read, and an array takes more memory than its position.
  function open(name: string): Numbers | null {
    const place = places[name]
    return place ? new TYPES[place.type](buffer as ArrayBuffer, place.at, place.length) : null
  }
  return {
    meta,
    integers: (name) => (open(name) ?? new Uint8Array()) as Integers,
    doubles: (name) => (open(name) ?? new Float64Array()) as Float64Array,
  }
}

interface ColumnLayout {
  readonly type: TypeName
  readonly length: number
  /** The offset in the buffer, in bytes. */
  readonly at: number
}

function typeName(values: Numbers): TypeName {
  if (values instanceof Float64Array) return 'f64'
  if (values instanceof Uint32Array) return 'u32'
  return values instanceof Uint16Array ? 'u16' : 'u8'
}

function align(bytes: number): number {
  return Math.ceil(bytes / ALIGNMENT) * ALIGNMENT
}
