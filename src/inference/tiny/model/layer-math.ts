/**
 * Normalization, activation and rotary embedding of a llama layer, shared by inference and training. Pure except for
 * their outputs; each row is computed independently.
 */
import { dot, type Floats } from './matrix.ts'

/** Each of the first rows divided by its root mean square, times the weights. */
export function normalize(
  out: Floats,
  x: Floats,
  weights: Floats,
  rows: number,
  epsilon: number,
): void {
  const width = weights.length
  for (let from = 0; from < rows * width; from += width) {
    const scale = 1 / Math.sqrt(dot(x, from, x, from, width) / width + epsilon)
    for (let i = 0; i < width; i++) {
      out[from + i] = (x[from + i] as number) * scale * (weights[i] as number)
    }
  }
}

/** SwiGLU of the first numbers: out = silu(gate) * up. */
export function activate(out: Floats, gate: Floats, up: Floats, count: number): void {
  for (let i = 0; i < count; i++) {
    const g = gate[i] as number
    out[i] = (g / (1 + Math.exp(-g))) * (up[i] as number)
  }
}

/** Cosines and sines of all positions and pairs of a head. */
export interface Angles {
  /** positions x (headSize / 2). */
  readonly cos: Float32Array
  readonly sin: Float32Array
}

/**
 * The angles by which neighbouring pairs are turned.
 *
 * @param positions - how many, from 0
 */
export function makeAngles(positions: number, headSize: number, ropeBase: number): Angles {
  const half = headSize / 2
  const cos = new Float32Array(positions * half)
  const sin = new Float32Array(positions * half)
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
 * Turns each pair of neighbours of one row by the angles of its position.
 *
 * @param from - where the row of `width` numbers begins
 * @param direction - 1 forward; -1 undoes it, which is also its derivative
 */
export function rotate(
  rows: Floats,
  from: number,
  width: number,
  headSize: number,
  position: number,
  { cos, sin }: Angles,
  direction: 1 | -1,
): void {
  const half = headSize / 2
  for (let i = 0; i < width; i += 2) {
    const angle = position * half + ((i % headSize) >> 1)
    const c = cos[angle] as number
    const s = direction * (sin[angle] as number)
    const even = rows[from + i] as number
    const odd = rows[from + i + 1] as number
    rows[from + i] = even * c - odd * s
    rows[from + i + 1] = even * s + odd * c
  }
}
