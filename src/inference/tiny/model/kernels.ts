/**
 * The small arithmetic of a forward pass, on vectors within the model's memory. Each vector is computed
 * alone, so that a sequence gets the same numbers whatever else is in the pass.
 */
import type { Rows } from './simd-memory.ts'

/** Each vector divided by its root mean square, times the weights. */
export function normalize(
  floats: Float32Array,
  out: Rows,
  x: Rows,
  weights: Float32Array,
  tokens: number,
  epsilon: number,
): void {
  const width = weights.length
  for (let token = 0; token < tokens; token++) {
    const from = x.at + token * x.stride
    const to = out.at + token * out.stride
    const scale = 1 / Math.sqrt(sumOfSquares(floats, from, width) / width + epsilon)
    for (let i = 0; i < width; i++) {
      floats[to + i] = (floats[from + i] as number) * scale * (weights[i] as number)
    }
  }
}

/** Four sums at once, so that no addition waits for the one before. `size` is a multiple of four. */
function sumOfSquares(floats: Float32Array, from: number, size: number): number {
  let s0 = 0
  let s1 = 0
  let s2 = 0
  let s3 = 0
  for (let i = from; i < from + size; i += 4) {
    const a = floats[i] as number
    const b = floats[i + 1] as number
    const c = floats[i + 2] as number
    const d = floats[i + 3] as number
    s0 += a * a
    s1 += b * b
    s2 += c * c
    s3 += d * d
  }
  return s0 + s1 + (s2 + s3)
}

/** Adds vectors to others of the same stride. */
export function addTo(floats: Float32Array, x: Rows, added: Rows, tokens: number): void {
  const length = tokens * x.stride
  for (let i = 0; i < length; i++) {
    floats[x.at + i] = (floats[x.at + i] as number) + (floats[added.at + i] as number)
  }
}

/** Cosines and sines by position and pair. */
export interface Angles {
  readonly cos: Float32Array
  readonly sin: Float32Array
}

/** Turns each pair of neighbours of one vector's heads by the angles of its position. */
export function rotate(
  floats: Float32Array,
  from: number,
  length: number,
  position: number,
  headSize: number,
  { cos, sin }: Angles,
): void {
  const half = headSize / 2
  for (let head = from; head < from + length; head += headSize) {
    for (let pair = 0; pair < half; pair++) {
      const c = cos[position * half + pair] as number
      const s = sin[position * half + pair] as number
      const even = floats[head + 2 * pair] as number
      const odd = floats[head + 2 * pair + 1] as number
      floats[head + 2 * pair] = even * c - odd * s
      floats[head + 2 * pair + 1] = even * s + odd * c
    }
  }
}

/** The angles of all positions of a context. */
export function makeAngles(context: number, headSize: number, ropeBase: number): Angles {
  const half = headSize / 2
  const cos = new Float32Array(context * half)
  const sin = new Float32Array(context * half)
  for (let position = 0; position < context; position++) {
    for (let i = 0; i < half; i++) {
      const angle = position * ropeBase ** (-i / half)
      cos[position * half + i] = Math.cos(angle)
      sin[position * half + i] = Math.sin(angle)
    }
  }
  return { cos, sin }
}
