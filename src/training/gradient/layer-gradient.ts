/** Rotation of whole batches, and the derivatives of norm and activation. Pure except for the output arrays. */
import { type Angles, rotate } from '../../inference/tiny/model/layer-math.ts'
import { dot } from '../../inference/tiny/model/matrix.ts'

/**
 * Rotates each row by the angles of its position.
 *
 * @param positions - of the rows
 * @param direction - 1 forward; -1 undoes it, which is also its derivative
 */
export function rotateRows(
  rows: Float64Array,
  width: number,
  headSize: number,
  positions: readonly number[],
  angles: Angles,
  direction: 1 | -1,
): void {
  for (const [row, position] of positions.entries()) {
    rotate(rows, row * width, width, headSize, position, angles, direction)
  }
}

/** Adds to `dx` the derivative by a norm's input `x`, given `dy`, the derivative by its output. */
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

/** Computes the derivatives by SwiGLU's inputs from `dOut`, the derivative by its output. */
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
