/** What is told of completions while they run: plain numbers, once for each answer. */
import { isObject } from '../../domain/json/is-object.ts'
import { ApiError, type ErrorCode } from '../../errors.ts'
import type { Delta } from '../backend.ts'
import type { ModelRegistry, ServedModel } from '../models/registry.ts'
import type { AnswerWatcher } from './answer-run.ts'

/** Name of all models that were trained here, which clients make as many of as they like. */
const TRAINED = 'trained'

export interface CompletionWatch {
  /** An answer is over. */
  completed(answer: CompletedAnswer): void
  /** A model has failed, and the next one is asked. */
  fellBack(model: string): void
  /** A model's upstream is asked. @param isRetry - whether another try of the same request came before */
  upstreamAsked(model: string, isRetry: boolean): void
  streamBegan(): void
  streamEnded(): void
}

export interface CompletedAnswer {
  /** Id in the models file, or `trained`. */
  readonly model: string
  /** What broke it; client_closed_request when its reader left; null: it is whole. */
  readonly failure: ErrorCode | null
  readonly seconds: number
  /** Until it began, as a stream or whole; null: it did not. */
  readonly firstSeconds: number | null
  readonly isStream: boolean
  /** Of `firstSeconds`, what was not spent in waiting for upstreams; null where none was asked. */
  readonly ownSeconds: number | null
  /** As far as they were told. */
  readonly promptTokens: number
  readonly outputTokens: number
}

/** Follows one completion. Its clock begins here. */
interface CompletionTold extends AnswerWatcher {
  /** A model gets its turn. @returns to be told of the tries of its upstreams */
  turnTo(model: ServedModel): UpstreamTold
}

interface UpstreamTold {
  /** It is asked. */
  asked(): void
  /** A try has ended, or its answer has begun. @param ms - since it was asked */
  waited(ms: number): void
}

export function openCompletionTold(
  watch: CompletionWatch,
  models: ModelRegistry,
  isStream: boolean,
): CompletionTold {
  const beganMs = performance.now()
  const since = () => (performance.now() - beganMs) / 1000
  const tokens = createTokenCount()
  let model: string | null = null
  let firstSeconds: number | null = null
  /** Spent in waiting for upstreams before the answer began. */
  let upstreamMs: number | null = null

  return {
    turnTo({ id }) {
      if (model !== null) watch.fellBack(model)
      model = models.findModel(id)?.id === id ? id : TRAINED
      const asked = model
      let isRetry = false
      return {
        asked() {
          watch.upstreamAsked(asked, isRetry)
          isRetry = true
        },
        waited(ms) {
          upstreamMs = (upstreamMs ?? 0) + ms
        },
      }
    },
    note(delta) {
      tokens.note(delta)
      if (firstSeconds !== null || delta.type === 'prompt') return
      firstSeconds = since()
      if (isStream) watch.streamBegan()
    },
    end(error) {
      if (isStream && firstSeconds !== null) watch.streamEnded()
      const ownSeconds =
        firstSeconds === null || upstreamMs === null ? null : firstSeconds - upstreamMs / 1000
      watch.completed({
        ...{ model: model ?? TRAINED, failure: failureOf(error), seconds: since(), isStream },
        ...{ firstSeconds, ownSeconds: ownSeconds === null ? null : Math.max(0, ownSeconds) },
        ...tokens.read(),
      })
    },
  }
}

/** Both are told of the same. */
export function joinWatchers(first: AnswerWatcher, second: AnswerWatcher): AnswerWatcher {
  return {
    note(delta) {
      first.note(delta)
      second.note(delta)
    },
    end(error) {
      first.end(error)
      second.end(error)
    },
  }
}

function failureOf(error: unknown): ErrorCode | null {
  if (error === null) return null
  return error instanceof ApiError ? error.code : 'internal_error'
}

/** The tokens of an answer: as the upstream tells them last, or as the backend counts them. */
function createTokenCount() {
  let promptTokens = 0
  let outputTokens = 0

  function noteUsage(usage: Readonly<Record<string, unknown>>): void {
    promptTokens = toCount(usage.prompt_tokens ?? usage.input_tokens)
    outputTokens = toCount(usage.completion_tokens ?? usage.output_tokens)
  }

  return {
    note(delta: Delta): void {
      if (delta.type === 'prompt') promptTokens = delta.promptTokens
      else if (delta.type === 'choice') outputTokens += delta.tokenCount
      else if (delta.type === 'relayed') {
        for (const { value } of delta.texts) {
          const { usage, response } = value
          if (isObject(usage)) noteUsage(usage)
          else if (isObject(response) && isObject(response.usage)) noteUsage(response.usage)
        }
      }
    },
    read: () => ({ promptTokens, outputTokens }),
  }
}

function toCount(told: unknown): number {
  return typeof told === 'number' && told > 0 && Number.isSafeInteger(told) ? told : 0
}
