/**
 * The arithmetic of a forward pass: matrix products, norms, the activation. Each row is computed alone,
 * so that a sequence gets the same numbers whatever else is in the pass.
 */

/** Each row divided by its root mean square, times the weights. */
export function normalize(
  out: Float32Array,
  x: Float32Array,
  weights: Float32Array,
  rows: number,
  epsilon: number,
): void {
  const width = weights.length
  for (let row = 0; row < rows; row++) {
    const from = row * width
    const scale = 1 / Math.sqrt(dot(x, from, x, from, width) / width + epsilon)
    for (let i = 0; i < width; i++) out[from + i] = (x[from + i] ?? 0) * scale * (weights[i] ?? 0)
  }
}

/**
 * out[token][row] = matrix[row] . x[token]. Four rows and two tokens go side by side: each number that is
 * read is used several times, and no addition waits for the one before. A row's sum is the same however
 * many tokens there are, so a prompt gives the same logits in passes of any length.
 */
export function multiply(
  out: Float32Array,
  x: Float32Array,
  matrix: Float32Array,
  rows: number,
  columns: number,
  tokens: number,
): void {
  const whole = rows - (rows % 4)
  const paired = tokens - (tokens % 2)
  for (let row = 0; row < whole; row += 4) {
    for (let token = 0; token < paired; token += 2) {
      multiplyPair(out, x, matrix, rows, columns, row, token)
    }
    if (paired < tokens) multiplyOne(out, x, matrix, rows, columns, row, paired)
  }
  for (let row = whole; row < rows; row++) {
    for (let token = 0; token < tokens; token++) {
      out[token * rows + row] = dot(matrix, row * columns, x, token * columns, columns)
    }
  }
}

/** Four rows by one token. */
function multiplyOne(
  out: Float32Array,
  x: Float32Array,
  matrix: Float32Array,
  rows: number,
  columns: number,
  row: number,
  token: number,
): void {
  const r0 = row * columns
  const r1 = r0 + columns
  const r2 = r1 + columns
  const r3 = r2 + columns
  const start = token * columns
  let s0 = 0
  let s1 = 0
  let s2 = 0
  let s3 = 0
  for (let i = 0; i < columns; i++) {
    const value = x[start + i] as number
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

/** Four rows by two tokens, each sum in the same order as by one. */
function multiplyPair(
  out: Float32Array,
  x: Float32Array,
  matrix: Float32Array,
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

/** The product of two stretches. Four sums at once, so that no addition waits for the one before. */
export function dot(
  a: Float32Array,
  from: number,
  b: Float32Array,
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

/** SwiGLU: gate = silu(gate) * up. */
export function activate(gate: Float32Array, up: Float32Array, length: number): void {
  for (let i = 0; i < length; i++) {
    const g = gate[i] ?? 0
    gate[i] = (g / (1 + Math.exp(-g))) * (up[i] ?? 0)
  }
}

/** Adds the first numbers of one vector to another. */
export function addTo(x: Float32Array, added: Float32Array, length: number): void {
  for (let i = 0; i < length; i++) x[i] = (x[i] ?? 0) + (added[i] ?? 0)
}
