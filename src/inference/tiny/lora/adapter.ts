/**
 * A low-rank adapter (LoRA): for each projection of each layer a pair of thin matrices whose product is
 * added to the projection. It must never change the model that it is merged into.
 */
import type { LayerWeights, Model, ModelShape } from '../model/model.ts'

/** The matrices of a layer that an adapter may change. */
export const PROJECTIONS = ['query', 'key', 'value', 'attentionOut', 'gate', 'up', 'down'] as const
export type Projection = (typeof PROJECTIONS)[number]

/** One pair. Matrices lie row by row: one row per output. */
export interface LowRank {
  /** rank x inputs. */
  readonly a: Float64Array
  /** outputs x rank. */
  readonly b: Float64Array
}

/** The part of an adapter for one layer; a missing projection is left unchanged. */
export type AdapterLayer = Readonly<Partial<Record<Projection, LowRank>>>

/** An adapter of one model shape. Its rows have the order of the model's own rows. */
export interface Adapter {
  /** 1..RANK_MAX. */
  readonly rank: number
  /** The product is scaled by alpha / rank. */
  readonly alpha: number
  /** As many as the model has. */
  readonly layers: readonly AdapterLayer[]
}

/** Limit: a higher rank than this has more numbers than the small model's matrices. */
export const RANK_MAX = 256

/** An artifact that is not an adapter of the model; the message says why. */
export class AdapterFileError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'AdapterFileError'
  }
}

/** Rows and columns of a projection. */
export function projectionSize(
  shape: ModelShape,
  projection: Projection,
): { readonly outputs: number; readonly inputs: number } {
  const { width, hidden } = shape
  const queries = shape.heads * shape.headSize
  const keys = shape.kvHeads * shape.headSize
  const sizes = {
    query: { outputs: queries, inputs: width },
    key: { outputs: keys, inputs: width },
    value: { outputs: keys, inputs: width },
    attentionOut: { outputs: width, inputs: queries },
    gate: { outputs: hidden, inputs: width },
    up: { outputs: hidden, inputs: width },
    down: { outputs: width, inputs: hidden },
  }
  return sizes[projection]
}

/**
 * A model with the adapter's products added to its projections. Embedding, norms and vocabulary are
 * shared with the given model, which stays as it was.
 *
 * @throws AdapterFileError when the adapter has another number of layers
 */
export function mergeAdapter(model: Model, adapter: Adapter): Model {
  if (adapter.layers.length !== model.layers.length) {
    throw new AdapterFileError('the adapter has another number of layers than the model')
  }
  const layers = model.layers.map((layer, index) => {
    const changed: Partial<Record<Projection, Float32Array>> = {}
    for (const projection of PROJECTIONS) {
      const pair = adapter.layers[index]?.[projection]
      if (pair === undefined) continue
      const { inputs } = projectionSize(model.shape, projection)
      const merged = Float64Array.from(layer[projection])
      addProduct(merged, pair, inputs, adapter.rank, adapter.alpha / adapter.rank)
      changed[projection] = Float32Array.from(merged)
    }
    return { ...layer, ...changed } satisfies LayerWeights
  })
  return { ...model, layers }
}

/** Adds scale * b * a to a matrix of rows with `inputs` numbers. */
export function addProduct(
  matrix: Float64Array,
  { a, b }: LowRank,
  inputs: number,
  rank: number,
  scale: number,
): void {
  const outputs = matrix.length / inputs
  for (let row = 0; row < outputs; row++) {
    const at = row * inputs
    for (let r = 0; r < rank; r++) {
      const factor = scale * (b[row * rank + r] as number)
      if (factor === 0) continue
      const from = r * inputs
      for (let i = 0; i < inputs; i++) {
        matrix[at + i] = (matrix[at + i] as number) + factor * (a[from + i] as number)
      }
    }
  }
}
