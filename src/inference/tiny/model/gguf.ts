/**
 * Reads the header of a GGUF file: metadata and the offset of each tensor. It must not trust any count or length in the
 * file: all are checked before memory is allocated.
 */

/** A file that is not a usable model; the message says why. */
export class ModelFileError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'ModelFileError'
  }
}

/** Limit: real files have about 30 keys and 10 tensors per layer. */
const METADATA_KEYS_MAX = 4_096
const TENSORS_MAX = 4_096
/** Limit: the longest real string is a chat template of some 10 kB. */
export const STRING_BYTES_MAX = 1_048_576
const TENSOR_AXES_MAX = 4

/** A value of the metadata; 64-bit integers are bigints. */
type GgufScalar = string | number | boolean | bigint
/** A value or a list of values; lists of lists are refused. */
export type GgufValue = GgufScalar | readonly GgufScalar[]

/** Where a tensor lies. `shape` has the innermost axis first, as the file writes it. */
export interface GgufTensor {
  readonly name: string
  readonly type: number
  readonly shape: readonly number[]
  /** Bytes from the start of the file. */
  readonly offset: number
}

/** The head of a file. Nothing of the tensors themselves has been read. */
export interface Gguf {
  readonly metadata: ReadonlyMap<string, GgufValue>
  readonly tensors: ReadonlyMap<string, GgufTensor>
}

interface Cursor {
  readonly bytes: Uint8Array
  readonly view: DataView
  at: number
}

const TYPE_STRING = 8
const TYPE_ARRAY = 9

/** Bytes and reader of each scalar type, by the number that the file uses for it. */
const SCALARS: ReadonlyMap<number, readonly [number, (view: DataView, at: number) => GgufScalar]> =
  new Map([
    [0, [1, (view, at) => view.getUint8(at)]],
    [1, [1, (view, at) => view.getInt8(at)]],
    [2, [2, (view, at) => view.getUint16(at, true)]],
    [3, [2, (view, at) => view.getInt16(at, true)]],
    [4, [4, (view, at) => view.getUint32(at, true)]],
    [5, [4, (view, at) => view.getInt32(at, true)]],
    [6, [4, (view, at) => view.getFloat32(at, true)]],
    [7, [1, (view, at) => view.getUint8(at) !== 0]],
    [10, [8, (view, at) => view.getBigUint64(at, true)]],
    [11, [8, (view, at) => view.getBigInt64(at, true)]],
    [12, [8, (view, at) => view.getFloat64(at, true)]],
  ] as const)

/**
 * The head of a GGUF file of version 2 or 3, little endian.
 *
 * @param bytes - the whole file; tensors are not copied, only located
 * @throws ModelFileError when the file is truncated, malformed or beyond a limit
 */
export function readGguf(bytes: Uint8Array): Gguf {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const cursor: Cursor = { bytes, view, at: 0 }
  need(cursor, 4, 'magic')
  if (view.getUint32(0, true) !== 0x46554747) throw new ModelFileError('not a GGUF file')
  cursor.at = 4
  const version = Number(readScalar(cursor, 4, 'version'))
  if (version !== 2 && version !== 3) {
    throw new ModelFileError(`GGUF version ${version} is not supported`)
  }
  const tensorCount = readCount(cursor, TENSORS_MAX, 'tensor count')
  const keyCount = readCount(cursor, METADATA_KEYS_MAX, 'metadata count')
  const metadata = new Map<string, GgufValue>()
  for (let i = 0; i < keyCount; i++) {
    const key = readString(cursor, 'metadata key')
    if (metadata.has(key)) throw new ModelFileError(`metadata key ${key} occurs twice`)
    metadata.set(key, readValue(cursor, key))
  }
  const tensors = readTensors(cursor, tensorCount, alignmentOf(metadata))
  return { metadata, tensors }
}

function readTensors(cursor: Cursor, count: number, alignment: number): Map<string, GgufTensor> {
  const found: GgufTensor[] = []
  for (let i = 0; i < count; i++) {
    const name = readString(cursor, 'tensor name')
    const axes = Number(readScalar(cursor, 4, name))
    if (axes < 1 || axes > TENSOR_AXES_MAX) {
      throw new ModelFileError(`tensor ${name} has ${axes} axes`)
    }
    const shape: number[] = []
    for (let axis = 0; axis < axes; axis++) {
      shape.push(readCount(cursor, Number.MAX_SAFE_INTEGER, name))
    }
    const type = Number(readScalar(cursor, 4, name))
    found.push({ name, type, shape, offset: readCount(cursor, Number.MAX_SAFE_INTEGER, name) })
  }
  const start = Math.ceil(cursor.at / alignment) * alignment
  const tensors = new Map<string, GgufTensor>()
  for (const tensor of found) {
    if (tensors.has(tensor.name)) {
      throw new ModelFileError(`tensor ${tensor.name} occurs twice`)
    }
    tensors.set(tensor.name, { ...tensor, offset: start + tensor.offset })
  }
  return tensors
}

function readValue(cursor: Cursor, key: string): GgufValue {
  const type = Number(readScalar(cursor, 4, key))
  if (type === TYPE_STRING) return readString(cursor, key)
  if (type !== TYPE_ARRAY) return readScalar(cursor, type, key)
  const element = Number(readScalar(cursor, 4, key))
  // Each item takes at least the bytes of its type, so the file's own length bounds the list.
  const itemBytes = element === TYPE_STRING ? 8 : (SCALARS.get(element)?.[0] ?? 0)
  if (itemBytes === 0) throw new ModelFileError(`${key} is a list of unknown type ${element}`)
  const count = readCount(cursor, Math.floor(left(cursor) / itemBytes), key)
  const items: GgufScalar[] = []
  for (let i = 0; i < count; i++) {
    items.push(element === TYPE_STRING ? readString(cursor, key) : readScalar(cursor, element, key))
  }
  return items
}

function readScalar(cursor: Cursor, type: number, what: string): GgufScalar {
  const scalar = SCALARS.get(type)
  if (scalar === undefined) throw new ModelFileError(`${what} has the unknown type ${type}`)
  const [size, read] = scalar
  need(cursor, size, what)
  const value = read(cursor.view, cursor.at)
  cursor.at += size
  return value
}

function readString(cursor: Cursor, what: string): string {
  const length = readCount(cursor, STRING_BYTES_MAX, `length of ${what}`)
  need(cursor, length, what)
  const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(
    cursor.bytes.subarray(cursor.at, cursor.at + length),
  )
  cursor.at += length
  return text
}

function readCount(cursor: Cursor, max: number, what: string): number {
  need(cursor, 8, what)
  const value = cursor.view.getBigUint64(cursor.at, true)
  cursor.at += 8
  if (value > BigInt(max)) throw new ModelFileError(`${what} is ${value}, more than ${max}`)
  return Number(value)
}

function alignmentOf(metadata: ReadonlyMap<string, GgufValue>): number {
  const alignment = metadata.get('general.alignment') ?? 32
  const isPower = typeof alignment === 'number' && [8, 16, 32, 64, 128, 256].includes(alignment)
  if (!isPower) throw new ModelFileError('general.alignment is not a power of two from 8 to 256')
  return alignment
}

function need(cursor: Cursor, bytes: number, what: string): void {
  if (left(cursor) < bytes) throw new ModelFileError(`the file ends inside ${what}`)
}

function left(cursor: Cursor): number {
  return cursor.bytes.byteLength - cursor.at
}
