/**
 * A model with an adapter in training: its weights in 64 bits, ready for forward and backward passes.
 * The base model's weights must never change.
 */
import {
  type Adapter,
  addProduct,
  type LowRank,
  PROJECTIONS,
  type Projection,
  projectionSize,
} from '../../inference/tiny/lora/adapter.ts'
import type { Model, ModelShape } from '../../inference/tiny/model/model.ts'

/** An adapter that covers every projection, since all of them are trained. */
export type FullLayer = Readonly<Record<Projection, LowRank>>
export interface FullAdapter extends Adapter {
  readonly layers: readonly FullLayer[]
}

/** A projection with its adapter's product added. */
interface Weights {
  readonly inputs: number
  readonly outputs: number
  /** outputs x inputs. */
  readonly merged: Float64Array
  /** inputs x outputs. */
  readonly transposed: Float64Array
}

export interface NetworkLayer {
  readonly attentionNorm: Float64Array
  readonly hiddenNorm: Float64Array
  readonly weights: Readonly<Record<Projection, Weights>>
}

/** A model under training. */
export interface Network {
  readonly shape: ModelShape
  readonly adapter: FullAdapter
  readonly embedding: Float32Array
  readonly layers: readonly NetworkLayer[]
  readonly outputNorm: Float64Array
  /** vocab x width. */
  readonly output: Float64Array
  /** width x vocab. */
  readonly outputTransposed: Float64Array
  /** Updates the weights after the adapter has changed. */
  refresh(): void
}

/** Creates a network whose adapter may be changed in place, followed by `refresh`. */
export function createNetwork(model: Model, adapter: FullAdapter): Network {
  const { shape } = model
  const layers = model.layers.map((layer) => ({
    attentionNorm: Float64Array.from(layer.attentionNorm),
    hiddenNorm: Float64Array.from(layer.hiddenNorm),
    weights: mapProjections((projection) => {
      const { inputs, outputs } = projectionSize(shape, projection)
      const size = inputs * outputs
      return {
        inputs,
        outputs,
        merged: new Float64Array(size),
        transposed: new Float64Array(size),
      }
    }),
  }))
  const output = Float64Array.from(model.output)
  const outputTransposed = new Float64Array(output.length)
  transpose(outputTransposed, output, shape.vocab)

  function refresh(): void {
    for (const [index, { weights }] of layers.entries()) {
      for (const projection of PROJECTIONS) {
        const { merged, transposed, inputs, outputs } = weights[projection]
        const [base, pair] = [model.layers[index], adapter.layers[index]]
        if (base === undefined || pair === undefined) throw new RangeError('no such layer')
        merged.set(base[projection])
        addProduct(merged, pair[projection], inputs, adapter.rank, adapter.alpha / adapter.rank)
        transpose(transposed, merged, outputs)
      }
    }
  }

  refresh()
  return {
    shape,
    adapter,
    embedding: model.embedding,
    layers,
    outputNorm: Float64Array.from(model.outputNorm),
    output,
    outputTransposed,
    refresh,
  }
}

/** Builds a record of all projections. */
export function mapProjections<T>(make: (projection: Projection) => T): Record<Projection, T> {
  return {
    query: make('query'),
    key: make('key'),
    value: make('value'),
    attentionOut: make('attentionOut'),
    gate: make('gate'),
    up: make('up'),
    down: make('down'),
  }
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
