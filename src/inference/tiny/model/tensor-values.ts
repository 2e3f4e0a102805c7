/**
 * Turns the stored bytes of a tensor (F32, F16 or Q8_0) into floats.
 * It must not allocate before it knows that the file really holds the bytes.
 */
import { type GgufTensor, ModelFileError } from './gguf.ts'

const TYPE_F32 = 0
const TYPE_F16 = 1
const TYPE_Q8_0 = 8
/** Q8_0: an F16 scale, then 32 signed bytes. */
const Q8_ITEMS = 32
const Q8_BYTES = 34

/** All halves, by their bits: looking one up is much faster than computing it. */
const HALVES = Float32Array.from({ length: 65_536 }, (_, bits) => decodeHalf(bits))

/**
 * The values of a tensor in the order of the file, as a new array that the caller owns.
 *
 * @param bytes - the whole file
 * @throws ModelFileError for an unknown type or when the file ends inside the tensor
 */
export function tensorValues(bytes: Uint8Array, tensor: GgufTensor): Float32Array {
  const count = tensor.shape.reduce((product, size) => product * size, 1)
  const size = byteSize(tensor, count)
  if (!Number.isSafeInteger(count) || tensor.offset + size > bytes.byteLength) {
    throw new ModelFileError(`the file ends inside tensor ${tensor.name}`)
  }
  const view = new DataView(bytes.buffer, bytes.byteOffset + tensor.offset, size)
  const values = new Float32Array(count)
  if (tensor.type === TYPE_F32) {
    for (let i = 0; i < count; i++) values[i] = view.getFloat32(i * 4, true)
  } else if (tensor.type === TYPE_F16) {
    for (let i = 0; i < count; i++) values[i] = HALVES[view.getUint16(i * 2, true)] ?? 0
  } else {
    readQ8(view, values)
  }
  return values
}

/**
 * The value of an IEEE 754 half-precision number.
 *
 * @param bits - 0..65535
 */
export function decodeHalf(bits: number): number {
  const sign = bits & 0x8000 ? -1 : 1
  const exponent = (bits >> 10) & 0x1f
  const fraction = bits & 0x3ff
  if (exponent === 0) return sign * fraction * 2 ** -24
  if (exponent === 31) return fraction === 0 ? sign * Number.POSITIVE_INFINITY : Number.NaN
  return sign * (1 + fraction / 1024) * 2 ** (exponent - 15)
}

function byteSize(tensor: GgufTensor, count: number): number {
  if (tensor.type === TYPE_F32) return count * 4
  if (tensor.type === TYPE_F16) return count * 2
  if (tensor.type !== TYPE_Q8_0) {
    throw new ModelFileError(`tensor ${tensor.name} has type ${tensor.type}; F32, F16, Q8_0 work`)
  }
  if ((tensor.shape[0] ?? 0) % Q8_ITEMS !== 0) {
    throw new ModelFileError(`the rows of tensor ${tensor.name} are not whole blocks`)
  }
  return (count / Q8_ITEMS) * Q8_BYTES
}

function readQ8(view: DataView, values: Float32Array): void {
  for (let block = 0; block * Q8_ITEMS < values.length; block++) {
    const scale = decodeHalf(view.getUint16(block * Q8_BYTES, true))
    for (let i = 0; i < Q8_ITEMS; i++) {
      values[block * Q8_ITEMS + i] = scale * view.getInt8(block * Q8_BYTES + 2 + i)
    }
  }
}
