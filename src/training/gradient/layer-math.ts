/** Norm, activation and turning of a llama layer, each with its derivative. Pure but for their outputs. */
import { dot } from './matrix.ts'

/** Cosines and sines of all positions and pairs of a head. */
export interface Angles {
  /** positions x (headSize / 2). */
  readonly cos: Float64Array
  readonly sin: Float64Array
}

/**
 * The angles by which neighbouring pairs are turned.
 *
 * @param positions - how many, from 0
 */
export function makeAngles(positions: number, headSize: number, ropeBase: number): Angles {
  const half = headSize / 2
  const cos = new Float64Array(positions * half)
  const sin = new Float64Array(positions * half)
  for (let position = 0; position < positions; position++) {
    for (let i = 0; i < half; i++) {
      const angle = position * ropeBase ** (-i / half)
      cos[position * half + i] = Math.cos(angle)
      sin[position * half + i] = Math.sin(angle)
    }
  }
  return { cos, sin }
}

/**
 * Turns each pair of neighbours of each row by the angles of its position.
 *
 * @param positions - of the rows
 * @param direction - 1 forward; -1 undoes it, which is also its derivative
 */
export function rotate(
  rows: Float64Array,
  width: number,
  headSize: number,
  positions: readonly number[],
  { cos, sin }: Angles,
  direction: 1 | -1,
): void {
  const half = headSize / 2
  for (const [row, position] of positions.entries()) {
    for (let i = 0; i < width; i += 2) {
      const angle = position * half + ((i % headSize) >> 1)
      const c = cos[angle] as number
      const s = direction * (sin[angle] as number)
      const at = row * width + i
      const even = rows[at] as number
      const odd = rows[at + 1] as number
      rows[at] = even * c - odd * s
      rows[at + 1] = even * s + odd * c
    }
  }
}

/** Each row divided by its root mean square, times the weights. */
export function normalize(
  out: Float64Array,
  x: Float64Array,
  weights: Float64Array,
  epsilon: number,
): void {
  const width = weights.length
  for (let from = 0; from < x.length; from += width) {
    const scale = 1 / Math.sqrt(dot(x, from, x, from, width) / width + epsilon)
    for (let i = 0; i < width; i++) {
      out[from + i] = (x[from + i] as number) * scale * (weights[i] as number)
    }
  }
}

/** Adds to `dx` what `dy`, the derivative of a norm's output, means for its input `x`. */
export function addNormGradient(
  dx: Float64Array,
  dy: Float64Array,
  x: Float64Array,
  weights: Float64Array,
  epsilon: number,
): void {
  const width = weights.length
  for (let from = 0; from < x.length; from += width) {
    const scale = 1 / Math.sqrt(dot(x, from, x, from, width) / width + epsilon)
    let along = 0
    for (let i = 0; i < width; i++) {
      along += (x[from + i] as number) * (weights[i] as number) * (dy[from + i] as number)
    }
    const pull = (along * scale ** 3) / width
    for (let i = 0; i < width; i++) {
      const direct = scale * (weights[i] as number) * (dy[from + i] as number)
      dx[from + i] = (dx[from + i] as number) + direct - pull * (x[from + i] as number)
    }
  }
}

/** SwiGLU: out = silu(gate) * up. */
export function activate(out: Float64Array, gate: Float64Array, up: Float64Array): void {
  for (let i = 0; i < out.length; i++) {
    const g = gate[i] as number
    out[i] = (g / (1 + Math.exp(-g))) * (up[i] as number)
  }
}

/** Turns `dOut`, the derivative of SwiGLU's output, into those of its inputs. */
export function activateGradient(
  dGate: Float64Array,
  dUp: Float64Array,
  dOut: Float64Array,
  gate: Float64Array,
  up: Float64Array,
): void {
  for (let i = 0; i < dOut.length; i++) {
    const g = gate[i] as number
    const d = dOut[i] as number
    const sigmoid = 1 / (1 + Math.exp(-g))
    dGate[i] = d * (up[i] as number) * sigmoid * (1 + g * (1 - sigmoid))
    dUp[i] = d * g * sigmoid
  }
}
