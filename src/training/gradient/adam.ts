/**
 * The optimizer: Adam with bias correction over a gradient clipped to a norm. Its state is saved with
 * the checkpoint, so that the next job continues where this one stopped.
 */
import { PROJECTIONS } from '../../inference/tiny/lora/adapter.ts'
import { tensorNames } from '../../inference/tiny/lora/artifact.ts'
import type { Safetensors, Tensor } from '../../inference/tiny/lora/safetensors.ts'
import { createGradient, type Gradient } from './backward.ts'
import type { Network } from './network.ts'

const BETA_1 = 0.9
/** Remembers about 100 steps: one job is often one step. */
const BETA_2 = 0.99
const EPSILON = 1e-8
/** Limit: guards against a single odd batch; ordinary gradients are below it. */
const GRADIENT_NORM_MAX = 1
const STEP_KEY = 'step'

/** An optimizer of one network. */
interface Adam {
  /**
   * Updates the adapter by one step; the network must be refreshed afterwards.
   *
   * @param gradient - not modified
   * @returns the gradient's norm before clipping
   */
  step(gradient: Gradient, learningRate: number): number
  /** Returns the state for a checkpoint. */
  save(): Safetensors
}

/**
 * Creates an optimizer that continues from a saved state.
 *
 * @param saved - if null, or of an adapter of another shape, the optimizer starts fresh
 */
export function createAdam(network: Network, saved: Safetensors | null): Adam {
  const parameters = listNumbers(network.adapter.layers)
  const means = listNumbers(createGradient(network))
  const squares = listNumbers(createGradient(network))
  let steps = restore(saved, means, squares)

  return {
    step(gradient, learningRate) {
      const slopes = listNumbers(gradient)
      const norm = Math.sqrt(
        slopes.reduce((sum, { values }) => sum + values.reduce((s, g) => s + g * g, 0), 0),
      )
      const scale = norm > GRADIENT_NORM_MAX ? GRADIENT_NORM_MAX / norm : 1
      steps++
      const size = learningRate / (1 - BETA_1 ** steps)
      const correction = 1 / (1 - BETA_2 ** steps)
      for (const [place, { values }] of parameters.entries()) {
        const slope = slopes[place]?.values
        const mean = means[place]?.values
        const square = squares[place]?.values
        if (!slope || !mean || !square) throw new RangeError('a gradient of another shape')
        for (let i = 0; i < values.length; i++) {
          const g = scale * (slope[i] as number)
          const m = BETA_1 * (mean[i] as number) + (1 - BETA_1) * g
          const v = BETA_2 * (square[i] as number) + (1 - BETA_2) * g * g
          mean[i] = m
          square[i] = v
          values[i] = (values[i] as number) - (size * m) / (Math.sqrt(v * correction) + EPSILON)
        }
      }
      return norm
    },
    save() {
      const tensors = new Map<string, Tensor>()
      for (const { name, values } of means) {
        tensors.set(meanName(name), { shape: [values.length], values })
      }
      for (const { name, values } of squares) {
        tensors.set(squareName(name), { shape: [values.length], values })
      }
      return { tensors, metadata: { [STEP_KEY]: String(steps) } }
    },
  }
}

const meanName = (name: string): string => `exp_avg.${name}`
const squareName = (name: string): string => `exp_avg_sq.${name}`

interface Named {
  readonly name: string
  readonly values: Float64Array
}

/** Returns all matrices of an adapter or a gradient, in the order and with the names of the file. */
function listNumbers(layers: Gradient): Named[] {
  return layers.flatMap((layer, index) =>
    PROJECTIONS.flatMap((projection) => {
      const [nameA, nameB] = tensorNames(index, projection)
      return [
        { name: nameA, values: layer[projection].a },
        { name: nameB, values: layer[projection].b },
      ]
    }),
  )
}

/** Fills the lists from the saved state. @returns the steps so far */
function restore(
  saved: Safetensors | null,
  means: readonly Named[],
  squares: readonly Named[],
): number {
  const steps = Number(saved?.metadata[STEP_KEY] ?? Number.NaN)
  if (saved === null || !Number.isSafeInteger(steps) || steps < 0) return 0
  const wanted = [
    ...means.map(({ name, values }) => ({ name: meanName(name), values })),
    ...squares.map(({ name, values }) => ({ name: squareName(name), values })),
  ]
  const found = wanted.map(({ name }) => saved.tensors.get(name)?.values)
  const fits = wanted.every(({ values }, place) => values.length === found[place]?.length)
  if (!fits) return 0
  for (const [place, { values }] of wanted.entries()) values.set(found[place] ?? [])
  return steps
}
