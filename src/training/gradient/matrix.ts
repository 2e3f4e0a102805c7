/**
 * The arithmetic of training on 64-bit numbers. Matrices and batches lie row by row; a batch has one row
 * per token. Every sum has a fixed order, so that the same job gives the same bytes.
 */

/**
 * out[token][row] = matrix[row] . x[token]. Four rows and two tokens go side by side: each number that
 * is read is used several times, and no addition waits for the one before.
 */
export function multiply(
  out: Float64Array,
  x: Float64Array,
  matrix: Float64Array,
  rows: number,
  columns: number,
  tokens: number,
): void {
  const whole = rows - (rows % 4)
  const paired = tokens - (tokens % 2)
  for (let row = 0; row < whole; row += 4) {
    for (let token = 0; token < paired; token += 2) {
      multiplyBlock(out, x, matrix, rows, columns, row, token)
    }
  }
  for (let token = 0; token < tokens; token++) {
    for (let row = token < paired ? whole : 0; row < rows; row++) {
      out[token * rows + row] = dot(matrix, row * columns, x, token * columns, columns)
    }
  }
}

/** Four rows by two tokens. */
function multiplyBlock(
  out: Float64Array,
  x: Float64Array,
  matrix: Float64Array,
  rows: number,
  columns: number,
  row: number,
  token: number,
): void {
  const r0 = row * columns
  const r1 = r0 + columns
  const r2 = r1 + columns
  const r3 = r2 + columns
  const a = token * columns
  const b = a + columns
  let a0 = 0
  let a1 = 0
  let a2 = 0
  let a3 = 0
  let b0 = 0
  let b1 = 0
  let b2 = 0
  let b3 = 0
  for (let i = 0; i < columns; i++) {
    const va = x[a + i] as number
    const vb = x[b + i] as number
    const m0 = matrix[r0 + i] as number
    const m1 = matrix[r1 + i] as number
    const m2 = matrix[r2 + i] as number
    const m3 = matrix[r3 + i] as number
    a0 += m0 * va
    a1 += m1 * va
    a2 += m2 * va
    a3 += m3 * va
    b0 += m0 * vb
    b1 += m1 * vb
    b2 += m2 * vb
    b3 += m3 * vb
  }
  const at = token * rows + row
  out[at] = a0
  out[at + 1] = a1
  out[at + 2] = a2
  out[at + 3] = a3
  out[at + rows] = b0
  out[at + rows + 1] = b1
  out[at + rows + 2] = b2
  out[at + rows + 3] = b3
}

/** The product of two stretches. */
export function dot(
  a: Float64Array,
  from: number,
  b: Float64Array,
  start: number,
  size: number,
): number {
  let s0 = 0
  let s1 = 0
  let s2 = 0
  let s3 = 0
  let i = 0
  for (; i + 3 < size; i += 4) {
    s0 += (a[from + i] as number) * (b[start + i] as number)
    s1 += (a[from + i + 1] as number) * (b[start + i + 1] as number)
    s2 += (a[from + i + 2] as number) * (b[start + i + 2] as number)
    s3 += (a[from + i + 3] as number) * (b[start + i + 3] as number)
  }
  for (; i < size; i++) s0 += (a[from + i] as number) * (b[start + i] as number)
  return s0 + s1 + (s2 + s3)
}

/** out[row][column] += scale * the sum over tokens of left[token][row] * right[token][column]. */
export function addOuter(
  out: Float64Array,
  left: Float64Array,
  right: Float64Array,
  rows: number,
  columns: number,
  tokens: number,
  scale: number,
): void {
  for (let token = 0; token < tokens; token++) {
    for (let row = 0; row < rows; row++) {
      const factor = scale * (left[token * rows + row] as number)
      addScaled(out, row * columns, right, token * columns, columns, factor)
    }
  }
}

/** out[at + i] += factor * x[from + i] for a stretch. */
export function addScaled(
  out: Float64Array,
  at: number,
  x: Float64Array,
  from: number,
  size: number,
  factor: number,
): void {
  for (let i = 0; i < size; i++) {
    out[at + i] = (out[at + i] as number) + factor * (x[from + i] as number)
  }
}

/** Adds one batch to another of the same size. */
export function addTo(out: Float64Array, x: Float64Array): void {
  addScaled(out, 0, x, 0, out.length, 1)
}

/** Writes the transposed matrix of `rows` rows into `out`. */
export function transpose(out: Float64Array, matrix: Float64Array, rows: number): void {
  const columns = matrix.length / rows
  for (let row = 0; row < rows; row++) {
    for (let column = 0; column < columns; column++) {
      out[column * rows + row] = matrix[row * columns + column] as number
    }
  }
}
