/**
 * The safetensors format: a JSON header, then the numbers of all tensors. The same tensors give the same
 * bytes. It must not trust a length or an offset of the file.
 */

import { isObject } from '../../../domain/json/is-object.ts'
import { decodeHalf } from '../model/tensor-values.ts'
import { AdapterFileError } from './adapter.ts'

/** A named block of numbers. */
export interface Tensor {
  /** Sizes from the outermost axis to the innermost. */
  readonly shape: readonly number[]
  readonly values: Float64Array
}

/** What a file holds. */
export interface Safetensors {
  readonly tensors: ReadonlyMap<string, Tensor>
  readonly metadata: Readonly<Record<string, string>>
}

/** Limit: an adapter of 256 layers with all seven projections has 3,584 tensors. */
const TENSORS_MAX = 8_192
const HEADER_BYTES_MAX = 4_194_304
const AXES_MAX = 4
const LENGTH_BYTES = 8
const ALIGNMENT_BYTES = 8
const NAME_CHARS_SHOWN = 200
const METADATA_KEY = '__metadata__'

/** Bytes and reader of a number, by the format's name for it. */
const READERS: Readonly<Record<string, readonly [number, (view: DataView, at: number) => number]>> =
  {
    F32: [4, (view, at) => view.getFloat32(at, true)],
    F16: [2, (view, at) => decodeHalf(view.getUint16(at, true))],
    BF16: [2, (view, at) => decodeBrainFloat(view.getUint16(at, true))],
  }
const BITS = new DataView(new ArrayBuffer(4))

/**
 * Reads a file. Tensors of other types than F32, F16 and BF16 are refused.
 *
 * @throws AdapterFileError when it is damaged
 */
export function readSafetensors(bytes: Uint8Array): Safetensors {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const headerBytes = bytes.length < LENGTH_BYTES ? -1 : Number(view.getBigUint64(0, true))
  const start = LENGTH_BYTES + headerBytes
  if (headerBytes < 0 || headerBytes > HEADER_BYTES_MAX || start > bytes.length) {
    throw new AdapterFileError('the safetensors header does not fit into the file')
  }
  const header = readJsonObject(bytes.subarray(LENGTH_BYTES, start), 'the safetensors header')
  const { [METADATA_KEY]: metadata, ...entries } = header
  const names = Object.keys(entries)
  if (names.length > TENSORS_MAX) throw new AdapterFileError('the file has too many tensors')
  const data = new DataView(bytes.buffer, bytes.byteOffset + start, bytes.length - start)
  const places = names.map((name) => readPlace(name, entries[name], data.byteLength))
  // Tensors that share bytes could ask for far more memory than the file has.
  if (places.reduce((sum, { from, to }) => sum + to - from, 0) > data.byteLength) {
    throw new AdapterFileError('tensors of the file overlap')
  }
  return {
    tensors: new Map(places.map((place) => [place.name, readTensor(place, data)])),
    metadata: readMetadata(metadata),
  }
}

/** A file of F32 tensors, in the order of the map. */
export function writeSafetensors({ tensors, metadata }: Safetensors): Uint8Array {
  const header: Record<string, unknown> = { [METADATA_KEY]: metadata }
  let size = 0
  for (const [name, { shape, values }] of tensors) {
    header[name] = { dtype: 'F32', shape, data_offsets: [size, size + values.length * 4] }
    size += values.length * 4
  }
  const json = new TextEncoder().encode(JSON.stringify(header))
  const headerBytes = Math.ceil(json.length / ALIGNMENT_BYTES) * ALIGNMENT_BYTES
  const out = new Uint8Array(LENGTH_BYTES + headerBytes + size)
  const view = new DataView(out.buffer)
  view.setBigUint64(0, BigInt(headerBytes), true)
  // The format pads its header with blanks.
  out.fill(0x20, LENGTH_BYTES, LENGTH_BYTES + headerBytes)
  out.set(json, LENGTH_BYTES)
  let at = LENGTH_BYTES + headerBytes
  for (const { values } of tensors.values()) {
    for (const value of values) {
      view.setFloat32(at, value, true)
      at += 4
    }
  }
  return out
}

/** Parses a JSON object of a file. @throws AdapterFileError that names `what` */
export function readJsonObject(bytes: Uint8Array, what: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
    if (isObject(value)) return value
  } catch {
    // Told below.
  }
  throw new AdapterFileError(`${what} is not a JSON object`)
}

/** Where a tensor lies in the data, and how its numbers are read. */
interface TensorLayout {
  readonly name: string
  readonly shape: readonly number[]
  readonly from: number
  readonly to: number
  readonly itemBytes: number
  readonly read: (view: DataView, at: number) => number
}

function readPlace(name: string, entry: unknown, dataBytes: number): TensorLayout {
  const shown = name.slice(0, NAME_CHARS_SHOWN)
  const damaged = () => new AdapterFileError(`tensor ${shown} is damaged`)
  if (!isObject(entry)) throw damaged()
  const { dtype, shape, data_offsets: offsets } = entry
  const reader = typeof dtype === 'string' && Object.hasOwn(READERS, dtype) ? READERS[dtype] : null
  if (!reader) throw new AdapterFileError(`tensor ${shown} is not F32, F16 or BF16`)
  const [itemBytes, read] = reader
  if (!areSizes(shape) || shape.length > AXES_MAX || !areSizes(offsets)) throw damaged()
  const [from = 0, to = -1] = offsets
  const bytes = shape.reduce((product, size) => product * size, itemBytes)
  if (to > dataBytes || to - from !== bytes) throw damaged()
  return { name, shape, from, to, itemBytes, read }
}

function readTensor(
  { name, shape, from, to, itemBytes, read }: TensorLayout,
  data: DataView,
): Tensor {
  const values = new Float64Array((to - from) / itemBytes)
  for (let i = 0; i < values.length; i++) values[i] = read(data, from + i * itemBytes)
  if (values.every(Number.isFinite)) return { shape, values }
  throw new AdapterFileError(`tensor ${name.slice(0, NAME_CHARS_SHOWN)} is not finite`)
}

function readMetadata(metadata: unknown): Record<string, string> {
  const entries = isObject(metadata) ? Object.entries(metadata) : []
  return Object.fromEntries(
    entries.filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  )
}

function decodeBrainFloat(bits: number): number {
  BITS.setUint32(0, bits * 65_536)
  return BITS.getFloat32(0)
}

function areSizes(value: unknown): value is number[] {
  return Array.isArray(value) && value.every((item) => Number.isSafeInteger(item) && item >= 0)
}
