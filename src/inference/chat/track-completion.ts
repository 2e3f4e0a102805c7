/** Reports each completion to the metrics of the server, and the latency of each model, which is kept in memory. */
import { ApiError, type ErrorCode } from '../../errors.ts'
import type { ModelRegistry } from '../models/registry.ts'
import type { CompletionObserver } from './try-models.ts'

/** One shared name for all models trained here: clients can create any number of them. */
const TRAINED = 'trained'

export interface CompletionWatch {
  /** Called when an answer is over. */
  completed(answer: FinishedCompletion): void
  /** Called when a model has failed and the next one is tried. */
  fellBack(model: string): void
  /** Called before a request to an upstream. @param isRetry - whether it repeats an earlier try of the same request */
  upstreamRequested(model: string, isRetry: boolean): void
  streamBegan(): void
  streamEnded(): void
}

export interface FinishedCompletion {
  /** Id in the models file, or `trained`. */
  readonly model: string
  /** The error that ended it; client_closed_request when the client disconnected; null for a complete answer. */
  readonly failure: ErrorCode | null
  readonly seconds: number
  /** Time until the answer began, streamed or whole; null if it never did. */
  readonly firstSeconds: number | null
  readonly isStream: boolean
  /** The part of `firstSeconds` not spent waiting for upstreams; null if no upstream was asked. */
  readonly ownSeconds: number | null
  /** As reported; estimated for a stream that reported none. */
  readonly promptTokens: number
  readonly outputTokens: number
}

interface TrackOptions {
  readonly watch: CompletionWatch
  readonly latencies: ModelLatencies
  readonly models: ModelRegistry
  readonly isStream: boolean
  /** Returns the tokens used so far. */
  readonly tokens: () => { readonly prompt: number; readonly output: number }
}

/** Starts to follow one completion, and its clock. */
export function trackCompletion(options: TrackOptions): Partial<CompletionObserver> {
  const { watch, latencies, models, isStream, tokens } = options
  const beganMs = performance.now()
  const secondsSince = (ms: number) => (ms - beganMs) / 1000
  let first: string | null = null
  let model: string | null = null
  let modelId = ''
  let isRetry = false
  /** When the model got its slot, and when its answer began. */
  let admittedMs: number | null = null
  let modelBeganMs: number | null = null
  let firstSeconds: number | null = null
  /** Time spent waiting for upstreams before the answer began. */
  let upstreamMs: number | null = null

  return {
    onModel({ id }) {
      if (model !== null) watch.fellBack(model)
      model = models.findModel(id)?.id === id ? id : TRAINED
      first ??= model
      modelId = id
      isRetry = false
      admittedMs = null
      modelBeganMs = null
    },
    onAdmitted() {
      admittedMs = performance.now()
    },
    onUpstream() {
      watch.upstreamRequested(model ?? TRAINED, isRetry)
      isRetry = true
    },
    onTried(ms) {
      upstreamMs = (upstreamMs ?? 0) + ms
    },
    onDelta({ type }) {
      if (firstSeconds !== null) return
      modelBeganMs ??= performance.now()
      if (type === 'prompt') return
      firstSeconds = secondsSince(performance.now())
      if (isStream) watch.streamBegan()
    },
    onModelEnd(error) {
      if (admittedMs === null) return
      const totalMs = performance.now() - admittedMs
      const firstMs = modelBeganMs === null ? totalMs : modelBeganMs - admittedMs
      latencies.add(modelId, { error, firstMs, totalMs })
    },
    onAllFailed() {
      model = first
    },
    onEnd(error) {
      if (isStream && firstSeconds !== null) watch.streamEnded()
      const ownSeconds =
        firstSeconds === null || upstreamMs === null ? null : firstSeconds - upstreamMs / 1000
      const { prompt, output } = tokens()
      watch.completed({
        model: model ?? TRAINED,
        failure: failureOf(error),
        seconds: secondsSince(performance.now()),
        isStream,
        firstSeconds,
        ownSeconds: ownSeconds === null ? null : Math.max(0, ownSeconds),
        promptTokens: prompt,
        outputTokens: output,
      })
    },
  }
}

function failureOf(error: unknown): ErrorCode | null {
  if (error === null) return null
  return error instanceof ApiError ? error.code : 'internal_error'
}

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
      const code = error === null ? null : modelFailureOf(error)
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
function modelFailureOf(error: unknown): string | null {
  if (!(error instanceof ApiError)) return null
  return /^(?:upstream_|internal_error$)/.test(error.code) ? error.code : null
}
