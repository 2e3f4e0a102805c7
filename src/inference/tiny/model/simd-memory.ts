/**
 * The memory that a model's kernels work on. It is planned first and then made in one piece of a fixed
 * size, so that views of it stay good; it is freed when nobody holds it or a view of it.
 */
import { ATTEND, SPARE_POSITIONS } from './simd-attention.ts'
import { ACTIVATE, GROUP_ROWS, MULTIPLY } from './simd-products.ts'
import { assemble } from './wasm-assembler.ts'

const PAGE_BYTES = 65_536
const FLOAT = 4

/** A matrix in groups of rows: of each column sixteen rows side by side, the last ones zeros. */
export interface Matrix {
  /** Where it begins in the memory, in floats. */
  readonly at: number
  readonly rows: number
  readonly columns: number
}

/** Vectors of equal length, one per token of a pass. */
export interface Rows {
  readonly at: number
  /** Floats from one vector to the next: room for whole groups of a matrix's rows. */
  readonly stride: number
}

/** The keys or values of one sequence, for attention. */
export interface History {
  readonly at: number
  /** Floats of one position. */
  readonly stride: number
}

/** What one head of one token looks at; places are in floats. */
export interface Head {
  readonly out: number
  readonly query: number
  readonly keys: number
  readonly values: number
  /** Positions that it sees, 1 or more. */
  readonly positions: number
}

/** Adds up what a model needs. */
export interface MemoryPlan {
  matrix(rows: number, columns: number): Matrix
  rows(width: number, tokens: number): Rows
  history(width: number, positions: number): History
  /** The memory, all zeros. @throws RangeError when the machine does not have it */
  make(): SimdMemory
}

/** One model's memory and what computes in it. */
export interface SimdMemory {
  /** All of it. */
  readonly floats: Float32Array
  /** Puts a matrix that lies row by row into its place. */
  pack(matrix: Matrix, values: Float32Array): void
  /** out[token] = matrix . x[token], for the first tokens. */
  multiply(out: Rows, x: Rows, matrix: Matrix, tokens: number): void
  /** gate = silu(gate) * up, for the first tokens. */
  activate(gate: Rows, up: Rows, tokens: number): void
  /** The values of all positions, weighted by how well the keys fit the query. */
  attend(head: Head): void
}

/** The numbers that all heads of a model share. */
export interface HeadShape {
  /** Floats of a head; a multiple of four. */
  readonly headSize: number
  /** Floats of one position's keys. */
  readonly stride: number
  /** Positions at the most. */
  readonly context: number
}

interface Kernels {
  multiply(...parameters: readonly number[]): void
  activate(...parameters: readonly number[]): void
  attend(...parameters: readonly number[]): void
}

/** What is used of the platform's WebAssembly; the types of Node do not tell of it. */
declare const WebAssembly: {
  readonly Memory: new (limits: { initial: number; maximum: number }) => { buffer: ArrayBuffer }
  readonly Module: new (bytes: Uint8Array<ArrayBuffer>) => object
  readonly Instance: new (module: object, imports: object) => { readonly exports: unknown }
}

/** The same for all models; made when it is first needed. */
let compiled: object | null = null

/** An empty plan. */
export function planMemory({ headSize, stride, context }: HeadShape): MemoryPlan {
  let size = 0
  const take = (length: number): number => {
    const at = size
    size += length
    return at
  }
  const scores = take(toGroups(context + SPARE_POSITIONS))
  return {
    matrix: (rows, columns) => ({ at: take(toGroups(rows) * columns), rows, columns }),
    rows(width, tokens) {
      const wide = toGroups(width)
      return { at: take(wide * tokens), stride: wide }
    },
    history: (width, positions) => ({
      at: take(width * (positions + SPARE_POSITIONS)),
      stride: width,
    }),
    make() {
      const pages = Math.ceil((size * FLOAT) / PAGE_BYTES)
      const memory = new WebAssembly.Memory({ initial: pages, maximum: pages })
      compiled ??= new WebAssembly.Module(assemble([MULTIPLY, ACTIVATE, ATTEND]))
      const { exports } = new WebAssembly.Instance(compiled, { env: { memory } })
      const kernels = exports as Kernels
      const floats = new Float32Array(memory.buffer)
      return {
        floats,
        pack: (matrix, values) => packMatrix(floats, matrix, values),
        multiply(out, x, matrix, tokens) {
          kernels.multiply(
            out.at * FLOAT,
            x.at * FLOAT,
            matrix.at * FLOAT,
            toGroups(matrix.rows) / GROUP_ROWS,
            matrix.columns,
            tokens,
            out.stride * FLOAT,
            x.stride * FLOAT,
          )
        },
        activate(gate, up, tokens) {
          kernels.activate(gate.at * FLOAT, up.at * FLOAT, tokens * gate.stride * FLOAT)
        },
        attend({ out, query, keys, values, positions }) {
          kernels.attend(
            out * FLOAT,
            query * FLOAT,
            keys * FLOAT,
            values * FLOAT,
            scores * FLOAT,
            positions,
            headSize * FLOAT,
            stride * FLOAT,
            1 / Math.sqrt(headSize),
          )
        },
      }
    },
  }
}

function packMatrix(floats: Float32Array, matrix: Matrix, values: Float32Array): void {
  const { at, rows, columns } = matrix
  for (let row = 0; row < rows; row++) {
    const group = at + (row - (row % GROUP_ROWS)) * columns + (row % GROUP_ROWS)
    for (let column = 0; column < columns; column++) {
      floats[group + column * GROUP_ROWS] = values[row * columns + column] ?? 0
    }
  }
}

function toGroups(rows: number): number {
  return Math.ceil(rows / GROUP_ROWS) * GROUP_ROWS
}
