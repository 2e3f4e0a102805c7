/** Creates the adapter for a model's first job, and prepares a parent's adapter for training. */
import {
  type Adapter,
  PROJECTIONS,
  type Projection,
  projectionSize,
} from '../../inference/tiny/lora/adapter.ts'
import type { ModelShape } from '../../inference/tiny/model/model.ts'
import { createRandom, type Random } from '../../inference/tiny/sampling/random.ts'
import { type FullAdapter, type FullLayer, mapProjections } from './network.ts'

/** Size of a new adapter; `alpha` is above 0. */
export type AdapterSize = Pick<Adapter, 'rank' | 'alpha'>

/** A fixed seed, since the same job must produce the same bytes. */
const SEED = 0n

/** Creates an adapter without effect yet: `a` is random, `b` is 0. */
export function createAdapter(shape: ModelShape, size: AdapterSize): FullAdapter {
  const layers = Array.from({ length: shape.layers }, () => ({}))
  return completeAdapter(shape, { ...size, layers })
}

/** Returns the parent's adapter with pairs added for missing projections. Its arrays are reused, not copied. */
export function completeAdapter(shape: ModelShape, adapter: Adapter): FullAdapter {
  const layers = adapter.layers.map(
    (layer, index): FullLayer =>
      mapProjections(
        (projection) => layer[projection] ?? newPair(shape, index, projection, adapter.rank),
      ),
  )
  return { ...adapter, layers }
}

function newPair(shape: ModelShape, layer: number, projection: Projection, rank: number) {
  const { inputs, outputs } = projectionSize(shape, projection)
  const random = createRandom(SEED, layer * PROJECTIONS.length + PROJECTIONS.indexOf(projection))
  return { a: spread(random, rank * inputs, inputs), b: new Float64Array(outputs * rank) }
}

/** Uniform from -1/sqrt(inputs) to 1/sqrt(inputs), a common initialization of adapters. */
function spread(random: Random, count: number, inputs: number): Float64Array {
  const bound = 1 / Math.sqrt(inputs)
  return Float64Array.from({ length: count }, () => (2 * random.next() - 1) * bound)
}
