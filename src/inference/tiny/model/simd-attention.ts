/**
 * Attention as WebAssembly, four floats at a time. Each sum has one order, whatever else is computed
 * beside it.
 */
import {
  addProduct,
  exponential,
  FLOAT,
  joinLanes,
  move,
  scaled,
  times,
  VECTOR,
} from './simd-expressions.ts'
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

/** Floats behind the last score, and positions behind the last key, that are touched. */
export const SPARE_POSITIONS = 4
/** Vectors of a value that are summed together, so that no addition waits for the one before. */
const MIXED_AT_ONCE = 4

/**
 * One head of one token: out = the values of all positions, weighted by how well the keys fit. `scores`
 * is working memory for a float per position and four more; three positions behind the last key may be
 * read. Positions are `stride` bytes apart; a head has `bytes`, in whole vectors.
 */
export const ATTEND = defineFunction(
  'attend',
  {
    out: 'i32',
    query: 'i32',
    keys: 'i32',
    values: 'i32',
    scores: 'i32',
    positions: 'i32',
    bytes: 'i32',
    stride: 'i32',
    scale: 'f32',
  },
  (p, local) => {
    const [at, end, done] = [local('i32'), local('i32'), local('i32')]
    const [max, sum, weight] = [local('v128'), local('v128'), local('v128')]
    const power = exponential(f32x4.subtract(f32x4.load(at.get), max.get), local)
    /** Goes over all positions, four at a time where the step is a vector. */
    const overScores = (step: number, body: Code): Code => [
      ...at.set(p.scores.get),
      ...repeat([...body, ...move(at, step)], i32.isLess(at.get, end.get)),
    ]
    const mix = (vectors: number): Code => {
      const value = local('i32')
      const sums = times(vectors, () => local('v128'))
      return [
        ...value.set(i32.add(p.values.get, done.get)),
        ...sums.flatMap((one) => one.set(f32x4.constant(0))),
        ...overScores(FLOAT, [
          ...weight.set(f32x4.loadSplat(at.get)),
          ...sums.flatMap((one, i) =>
            addProduct(one, weight.get, f32x4.load(value.get, i * VECTOR)),
          ),
          ...move(value, p.stride.get),
        ]),
        ...sums.flatMap((one, i) =>
          f32x4.store(i32.add(p.out.get, done.get), f32x4.divide(one.get, sum.get), i * VECTOR),
        ),
        ...move(done, vectors * VECTOR),
      ]
    }
    const left = i32.subtract(p.bytes.get, done.get)
    return [
      ...end.set(i32.add(p.scores.get, scaled(p.positions.get, FLOAT))),
      ...overScores(VECTOR, scoreFour(p, at, local)),
      // What stands behind the last position weighs nothing beside it.
      ...f32x4.store(end.get, f32x4.constant(Number.NEGATIVE_INFINITY)),
      ...max.set(f32x4.constant(Number.NEGATIVE_INFINITY)),
      ...overScores(VECTOR, max.set(f32x4.max(max.get, f32x4.load(at.get)))),
      ...joinLanes(max, f32x4.max),
      ...overScores(VECTOR, [
        ...power.code,
        ...f32x4.store(at.get, power.value),
        ...sum.set(f32x4.add(sum.get, power.value)),
      ]),
      ...joinLanes(sum, f32x4.add),
      ...loopWhile(i32.isLess(i32.constant(MIXED_AT_ONCE * VECTOR - 1), left), mix(MIXED_AT_ONCE)),
      ...loopWhile(left, mix(1)),
    ]
  },
)

/** The scores of four positions, stored at `at`; moves the keys on. */
function scoreFour(
  p: Readonly<Record<'query' | 'keys' | 'bytes' | 'stride' | 'scale', Variable>>,
  at: Variable,
  local: DeclareLocal,
): Code {
  const [within, part] = [local('i32'), local('v128')]
  const keys = times(4, () => local('i32'))
  const sums = times(4, () => local('v128'))
  const of = (lane: number): Code => sums[lane]?.get ?? []
  const pairs = ([a, b]: readonly [number, number]): Code =>
    f32x4.add(f32x4.shuffle(of(a), of(b), [0, 4, 1, 5]), f32x4.shuffle(of(a), of(b), [2, 6, 3, 7]))
  const [low, high] = [pairs([0, 1]), pairs([2, 3])]
  return [
    ...within.set(i32.constant(0)),
    ...sums.flatMap((sum) => sum.set(f32x4.constant(0))),
    ...keys.flatMap((key) => [...key.set(p.keys.get), ...move(p.keys, p.stride.get)]),
    ...repeat(
      [
        ...part.set(f32x4.load(i32.add(p.query.get, within.get))),
        ...sums.flatMap((sum, position) =>
          addProduct(sum, part.get, f32x4.load(keys[position]?.get ?? [])),
        ),
        ...keys.flatMap((key) => move(key, VECTOR)),
        ...move(within, VECTOR),
      ],
      i32.isLess(within.get, p.bytes.get),
    ),
    ...f32x4.store(
      at.get,
      f32x4.multiply(
        f32x4.add(f32x4.shuffle(low, high, [0, 1, 4, 5]), f32x4.shuffle(low, high, [2, 3, 6, 7])),
        f32x4.splat(p.scale.get),
      ),
    ),
  ]
}
