/** Latencies and failures of each model since the server started, from its last answers, kept in memory. */
import { ApiError } from '../../errors.ts'

/** Limit: answers per model that its figures are computed from; 500 answers take 8 KB. */
const ANSWERS_KEPT = 500
/** Limit: models in memory; the one that answered longest ago is removed first. */
const MODELS_KEPT = 1_000

/** How a model answered once it had a slot. */
interface ModelAnswer {
  /** Null for a complete answer. */
  readonly error: unknown
  /** Milliseconds until the answer began and until it ended. */
  readonly firstMs: number
  readonly totalMs: number
}

export interface ModelStatistics {
  /** Complete answers and failures since the server started. */
  readonly answers: number
  readonly failures: number
  /** Milliseconds until the last answers began and until they ended; both lists sorted and of equal length. */
  readonly firstMs: readonly number[]
  readonly totalMs: readonly number[]
  /** Milliseconds since the epoch. */
  readonly lastResponseMs: number | null
  readonly lastFailure: { readonly code: string; readonly atMs: number } | null
}

export interface ModelLatencies {
  /** Counts an answer of a model. Failures that the client caused do not count. */
  add(modelId: string, answer: ModelAnswer): void
  /** Returns the figures of the models that have answered or failed, by model id. */
  read(): ReadonlyMap<string, ModelStatistics>
}

interface Sums {
  answers: number
  failures: number
  readonly times: { readonly firstMs: number; readonly totalMs: number }[]
  lastResponseMs: number | null
  lastFailure: ModelStatistics['lastFailure']
}

/** @param wallMs - milliseconds since the epoch */
export function createModelLatencies(wallMs: () => number): ModelLatencies {
  const models = new Map<string, Sums>()

  function sumsOf(modelId: string): Sums {
    const sums = models.get(modelId) ?? newSums()
    models.delete(modelId)
    models.set(modelId, sums)
    if (models.size > MODELS_KEPT) models.delete(models.keys().next().value ?? '')
    return sums
  }

  return {
    add(modelId, { error, firstMs, totalMs }) {
      const code = error === null ? null : failureOf(error)
      if (error !== null && code === null) return
      const sums = sumsOf(modelId)
      if (code !== null) {
        sums.failures += 1
        sums.lastFailure = { code, atMs: wallMs() }
        return
      }
      sums.times[sums.answers % ANSWERS_KEPT] = { firstMs, totalMs }
      sums.answers += 1
      sums.lastResponseMs = wallMs()
    },
    read: () => new Map([...models].map(([id, sums]) => [id, toFigures(sums)])),
  }
}

function newSums(): Sums {
  return { answers: 0, failures: 0, times: [], lastResponseMs: null, lastFailure: null }
}

function toFigures({ times, ...sums }: Sums): ModelStatistics {
  const sorted = (values: number[]) => values.sort((a, b) => a - b)
  return {
    ...sums,
    firstMs: sorted(times.map(({ firstMs }) => firstMs)),
    totalMs: sorted(times.map(({ totalMs }) => totalMs)),
  }
}

/** Returns the error code if the model or its upstream failed; null if the client was at fault or disconnected. */
function failureOf(error: unknown): string | null {
  if (!(error instanceof ApiError)) return null
  return /^(?:upstream_|internal_error$)/.test(error.code) ? error.code : null
}
