/**
 * Products of matrices and vectors, shared by inference (32-bit numbers) and training (64-bit numbers).
 * Matrices and batches lie row by row; a batch has one row per token. Every sum has one order, whatever
 * else is in the batch, so that the same request gives the same bytes.
 */

/** One kind per thread: a loop that meets both kinds runs slower. */
export type Floats = Float32Array | Float64Array

/** Rows of the matrix that are computed side by side, so that no addition waits for the one before. */
const ROWS_AT_ONCE = 4

/** out[token][row] = matrix[row] . x[token], for the first tokens. */
export function multiply(
  out: Floats,
  x: Floats,
  matrix: Floats,
  rows: number,
  columns: number,
  tokens: number,
): void {
  const whole = rows - (rows % ROWS_AT_ONCE)
  const paired = tokens - (tokens % 2)
  for (let row = 0; row < whole; row += ROWS_AT_ONCE) {
    for (let token = 0; token < paired; token += 2) {
      multiplyPair(out, x, matrix, rows, columns, row, token)
    }
    if (paired < tokens) multiplyOne(out, x, matrix, rows, columns, row, paired)
  }
  for (let token = 0; token < tokens; token++) {
    for (let row = whole; row < rows; row++) {
      out[token * rows + row] = dot(matrix, row * columns, x, token * columns, columns)
    }
  }
}

/** Four rows by one token. */
function multiplyOne(
  out: Floats,
  x: Floats,
  matrix: Floats,
  rows: number,
  columns: number,
  row: number,
  token: number,
): void {
  const r0 = row * columns
  const r1 = r0 + columns
  const r2 = r1 + columns
  const r3 = r2 + columns
  const from = token * columns
  let s0 = 0
  let s1 = 0
  let s2 = 0
  let s3 = 0
  for (let i = 0; i < columns; i++) {
    const value = x[from + i] as number
    s0 += (matrix[r0 + i] as number) * value
    s1 += (matrix[r1 + i] as number) * value
    s2 += (matrix[r2 + i] as number) * value
    s3 += (matrix[r3 + i] as number) * value
  }
  const at = token * rows + row
  out[at] = s0
  out[at + 1] = s1
  out[at + 2] = s2
  out[at + 3] = s3
}

/** Four rows by two tokens, each sum as that of one token: what is read of the matrix serves both. */
function multiplyPair(
  out: Floats,
  x: Floats,
  matrix: Floats,
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
export function dot(a: Floats, from: number, b: Floats, start: number, size: number): number {
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

/** out[at + i] += factor * x[from + i] for a stretch. */
export function addScaled(
  out: Floats,
  at: number,
  x: Floats,
  from: number,
  size: number,
  factor: number,
): void {
  for (let i = 0; i < size; i++) {
    out[at + i] = (out[at + i] as number) + factor * (x[from + i] as number)
  }
}

/** Adds the first numbers of one batch to those of another. */
export function addTo(out: Floats, x: Floats, count = out.length): void {
  addScaled(out, 0, x, 0, count, 1)
}
