/** How fast and how well models answer: the last answers of each, in memory, since the server began. */
import { ApiError } from '../../errors.ts'

/** Limit: answers of a model that its figures are made of; 500 answers are 8 KB. */
const ANSWERS_KEPT = 500
/** Limit: models that are known; the one that answered longest ago is forgotten first. */
const MODELS_KEPT = 1_000

export interface AnswerTimer {
  /** The answer begins. */
  first(): void
  /** The answer is whole (null) or broke. Answers whose reader left are not told of. */
  end(error: unknown): void
}

export interface ModelFigures {
  /** Whole answers and failures since the server began. */
  readonly answers: number
  readonly failures: number
  /** Milliseconds of the last answers to their beginning and to their end, sorted; as long as each other. */
  readonly firstMs: readonly number[]
  readonly totalMs: readonly number[]
  /** Milliseconds since the epoch. */
  readonly lastAnswerMs: number | null
  readonly lastFailure: { readonly code: string; readonly atMs: number } | null
}

export interface ModelMeter {
  /** An answer of a model is asked for now. */
  begin(modelId: string): AnswerTimer
  /** What is known of the models that have answered or failed, by their ids. */
  read(): ReadonlyMap<string, ModelFigures>
}

interface Sums {
  answers: number
  failures: number
  readonly times: { readonly firstMs: number; readonly totalMs: number }[]
  lastAnswerMs: number | null
  lastFailure: ModelFigures['lastFailure']
}

/**
 * @param steadyMs - a clock that nobody can set, in milliseconds
 * @param wallMs - milliseconds since the epoch
 */
export function createModelMeter(steadyMs: () => number, wallMs: () => number): ModelMeter {
  const models = new Map<string, Sums>()

  function sumsOf(modelId: string): Sums {
    const sums = models.get(modelId) ?? newSums()
    models.delete(modelId)
    models.set(modelId, sums)
    if (models.size > MODELS_KEPT) models.delete(models.keys().next().value ?? '')
    return sums
  }

  return {
    begin(modelId) {
      const begunMs = steadyMs()
      let firstMs: number | null = null
      return {
        first() {
          firstMs ??= steadyMs() - begunMs
        },
        end(error) {
          const code = error === null ? null : failureOf(error)
          if (error !== null && code === null) return
          const sums = sumsOf(modelId)
          if (code !== null) {
            sums.failures += 1
            sums.lastFailure = { code, atMs: wallMs() }
            return
          }
          const totalMs = steadyMs() - begunMs
          sums.times[sums.answers % ANSWERS_KEPT] = { firstMs: firstMs ?? totalMs, totalMs }
          sums.answers += 1
          sums.lastAnswerMs = wallMs()
        },
      }
    },
    read: () => new Map([...models].map(([id, sums]) => [id, toFigures(sums)])),
  }
}

function newSums(): Sums {
  return { answers: 0, failures: 0, times: [], lastAnswerMs: null, lastFailure: null }
}

function toFigures({ times, ...sums }: Sums): ModelFigures {
  const sorted = (values: number[]) => values.sort((a, b) => a - b)
  return {
    ...sums,
    firstMs: sorted(times.map(({ firstMs }) => firstMs)),
    totalMs: sorted(times.map(({ totalMs }) => totalMs)),
  }
}

/** The code of a failure of the model or its upstream; null for a fault of the client, who may also have left. */
function failureOf(error: unknown): string | null {
  if (!(error instanceof ApiError)) return null
  return /^(?:upstream_|internal_error$)/.test(error.code) ? error.code : null
}
