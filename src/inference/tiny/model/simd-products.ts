/**
 * Matrix products and the activation as WebAssembly, four floats at a time. Each sum has one order,
 * whatever else is computed beside it.
 */
import { addProduct, exponential, FLOAT, move, scaled, times, VECTOR } from './simd-expressions.ts'
import {
  type Code,
  type DeclareLocal,
  defineFunction,
  f32x4,
  i32,
  loopWhile,
  repeat,
  type Variable,
} from './wasm-assembler.ts'

/** Rows of a matrix that lie side by side, column by column, and are computed together. */
export const GROUP_ROWS = 16

/** Bytes of a column of a group. */
const GROUP = GROUP_ROWS * FLOAT
/** Why: two tokens by four vectors of rows leave the processor's sixteen registers just enough room. */
const TOKENS_AT_ONCE = 2

/**
 * out[token][row] = matrix[row] . x[token]. The matrix is in groups of rows; all but the numbers of
 * groups, columns and tokens are bytes. Two tokens share what is read of the matrix; the sum of a row and
 * a token goes from the first column to the last with one as with two.
 */
export const MULTIPLY = defineFunction(
  'multiply',
  {
    out: 'i32',
    x: 'i32',
    matrix: 'i32',
    groups: 'i32',
    columns: 'i32',
    tokens: 'i32',
    outStride: 'i32',
    xStride: 'i32',
  },
  (p, local) => {
    const [left, x, out] = [local('i32'), local('i32'), local('i32')]
    const tile = (tokens: number): Code => [
      ...multiplyTile(tokens, { ...p, x, out }, local),
      ...move(x, scaled(p.xStride.get, tokens)),
      ...move(out, scaled(p.outStride.get, tokens)),
      ...left.set(i32.subtract(left.get, i32.constant(tokens))),
    ]
    return loopWhile(p.groups.get, [
      ...left.set(p.tokens.get),
      ...x.set(p.x.get),
      ...out.set(p.out.get),
      ...loopWhile(i32.isLess(i32.constant(TOKENS_AT_ONCE - 1), left.get), tile(TOKENS_AT_ONCE)),
      ...loopWhile(left.get, tile(1)),
      ...move(p.matrix, scaled(p.columns.get, GROUP)),
      ...move(p.out, GROUP),
      ...p.groups.set(i32.subtract(p.groups.get, i32.constant(1))),
    ])
  },
)

/** One group of rows by one or more tokens; `x` and `out` point to the first of them. */
function multiplyTile(
  tokens: number,
  p: Readonly<Record<'out' | 'x' | 'matrix' | 'columns' | 'outStride' | 'xStride', Variable>>,
  local: DeclareLocal,
): Code {
  const [column, end, weights] = [local('i32'), local('i32'), local('v128')]
  const lanes = times(tokens, (token) => ({
    at: local('i32'),
    value: local('v128'),
    sums: times(GROUP / VECTOR, () => local('v128')),
    start: i32.add(p.x.get, scaled(p.xStride.get, token)),
    out: i32.add(p.out.get, scaled(p.outStride.get, token)),
  }))
  const addColumn: Code = [
    ...lanes.flatMap(({ value, at }) => value.set(f32x4.loadSplat(at.get))),
    ...times(GROUP / VECTOR, (vector) => [
      ...weights.set(f32x4.load(column.get, vector * VECTOR)),
      ...lanes.flatMap(({ sums, value }) =>
        sums.slice(vector, vector + 1).flatMap((sum) => addProduct(sum, weights.get, value.get)),
      ),
    ]).flat(),
    ...lanes.flatMap(({ at }) => move(at, FLOAT)),
    ...move(column, GROUP),
  ]
  return [
    ...column.set(p.matrix.get),
    ...end.set(i32.add(p.matrix.get, scaled(p.columns.get, GROUP))),
    ...lanes.flatMap(({ at, start, sums }) => [
      ...at.set(start),
      ...sums.flatMap((sum) => sum.set(f32x4.constant(0))),
    ]),
    ...repeat(addColumn, i32.isLess(column.get, end.get)),
    ...lanes.flatMap(({ out, sums }) =>
      sums.flatMap((sum, vector) => f32x4.store(out, sum.get, vector * VECTOR)),
    ),
  ]
}

/** SwiGLU: gate = silu(gate) * up, for `bytes` of both, in whole vectors. */
export const ACTIVATE = defineFunction(
  'activate',
  { gate: 'i32', up: 'i32', bytes: 'i32' },
  (p, local) => {
    const [end, g] = [local('i32'), local('v128')]
    const power = exponential(f32x4.negate(g.get), local)
    return [
      ...end.set(i32.add(p.gate.get, p.bytes.get)),
      ...repeat(
        [
          ...g.set(f32x4.load(p.gate.get)),
          ...power.code,
          ...f32x4.store(
            p.gate.get,
            f32x4.multiply(
              f32x4.divide(g.get, f32x4.add(f32x4.constant(1), power.value)),
              f32x4.load(p.up.get),
            ),
          ),
          ...move(p.gate, VECTOR),
          ...move(p.up, VECTOR),
        ],
        i32.isLess(p.gate.get, end.get),
      ),
    ]
  },
)
