/** Observes running completions and reports plain figures, once for each answer. */
import { findUsage, readTokens } from '../../domain/chat/told-usage.ts'
import { ApiError, type ErrorCode } from '../../errors.ts'
import type { Delta } from '../backend.ts'
import type { ModelRegistry, ServedModel } from '../models/registry.ts'
import type { AnswerWatcher } from './answer-run.ts'

/** One shared name for all models trained here: clients can create any number of them. */
const TRAINED = 'trained'

export interface CompletionWatch {
  /** Called when an answer is over. */
  completed(answer: CompletedAnswer): void
  /** Called when a model has failed and the next one is tried. */
  fellBack(model: string): void
  /** Called before a request to an upstream. @param isRetry - whether it repeats an earlier try of the same request */
  upstreamAsked(model: string, isRetry: boolean): void
  streamBegan(): void
  streamEnded(): void
}

export interface CompletedAnswer {
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
  /** As far as they were reported. */
  readonly promptTokens: number
  readonly outputTokens: number
}

/** Starts to follow one completion, and its clock. */
interface CompletionTold extends AnswerWatcher {
  /** Called when a model is tried. @returns callbacks for the tries at its upstreams */
  turnTo(model: ServedModel): UpstreamTold
  /** Called when all models have failed, so that the answer is the failure of the first. */
  turnBack(): void
}

interface UpstreamTold {
  /** Called before each try. */
  asked(): void
  /** Called when a try has failed or its answer has begun. @param ms - duration of the try so far */
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
  let first: string | null = null
  let model: string | null = null
  let firstSeconds: number | null = null
  /** Time spent waiting for upstreams before the answer began. */
  let upstreamMs: number | null = null

  return {
    turnTo({ id }) {
      if (model !== null) watch.fellBack(model)
      model = models.findModel(id)?.id === id ? id : TRAINED
      first ??= model
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
    turnBack() {
      model = first
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
        model: model ?? TRAINED,
        failure: failureOf(error),
        seconds: since(),
        isStream,
        firstSeconds,
        ownSeconds: ownSeconds === null ? null : Math.max(0, ownSeconds),
        ...tokens.read(),
      })
    },
  }
}

/** Combines two watches: both receive every report. */
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

/** Returns the tokens of an answer: the last usage that the upstream reported, or the backend's own count. */
function createTokenCount() {
  let promptTokens = 0
  let outputTokens = 0

  function noteUsage(usage: Readonly<Record<string, unknown>> | null): void {
    if (usage === null) return
    const { prompt, output } = readTokens(usage)
    promptTokens = prompt
    outputTokens = output
  }

  return {
    note(delta: Delta): void {
      if (delta.type === 'prompt') promptTokens = delta.promptTokens
      else if (delta.type === 'choice') outputTokens += delta.tokenCount
      else if (delta.type === 'bytes') noteUsage(delta.usage)
      else for (const { value } of delta.texts) noteUsage(findUsage(value))
    },
    read: () => ({ promptTokens, outputTokens }),
  }
}
