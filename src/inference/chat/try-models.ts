/**
 * Tries the models of a completion in order until one begins to respond. An observer sees each delta; it is never
 * changed, delayed or added.
 *
 * Why one generator does it all: with one for each step, every delta would pass the microtask queue more often.
 */
import { ApiError, type ErrorCode } from '../../errors.ts'
import type { Delta, UpstreamObserver } from '../backend.ts'
import type { ModelRegistry, ServedModel } from '../models/registry.ts'
import { withoutClientRetries } from '../openai/upstream/errors.ts'
import type { Admission, AdmissionRequest } from './admission.ts'
import type { AttemptEnd, Charge } from './budgets/spending.ts'
import { gateFiltered, isFilteredResponse } from './filter-gate.ts'
import { createCollector, type ResponseEnvelope } from './whole-completion.ts'

/** Receives the events of one completion in their order. An observer never changes or delays it. */
export interface CompletionObserver extends UpstreamObserver {
  /** Called when a model is tried, before it waits for a slot. */
  onModel(model: ServedModel): void
  /** Called when a cached completion is replayed in place of the model's, before its deltas. */
  onReplay(): void
  /** Called when the model has a slot. */
  onAdmitted(): void
  onDelta(delta: Delta): void
  /** Called when the model has completed its answer (null) or has failed. */
  onModelEnd(error: unknown): void
  /** Called when all models have failed, so that the answer is the failure of the first. */
  onAllFailed(first: ServedModel): void
  /**
   * Called once when the completion is over.
   *
   * @param error - null after a complete answer, else its cause of failure; client_closed_request when the client
   * disconnected
   */
  onEnd(error: unknown): void
}

/** Combines observers: each receives every event, in the order of the list. */
export function composeObservers(
  observers: readonly Partial<CompletionObserver>[],
): CompletionObserver {
  const deltaObservers = observers.filter((observer) => observer.onDelta !== undefined)
  return {
    onModel(model) {
      for (const observer of observers) observer.onModel?.(model)
    },
    onReplay() {
      for (const observer of observers) observer.onReplay?.()
    },
    onAdmitted() {
      for (const observer of observers) observer.onAdmitted?.()
    },
    onUpstream(number) {
      for (const observer of observers) observer.onUpstream?.(number)
    },
    onTried(ms) {
      for (const observer of observers) observer.onTried?.(ms)
    },
    onDelta(delta) {
      for (const observer of deltaObservers) observer.onDelta?.(delta)
    },
    onModelEnd(error) {
      for (const observer of observers) observer.onModelEnd?.(error)
    },
    onAllFailed(first) {
      for (const observer of observers) observer.onAllFailed?.(first)
    },
    onEnd(error) {
      for (const observer of observers) observer.onEnd?.(error)
    },
  }
}

/** Failures that may be specific to one model. */
const FALLBACK_CODES: readonly ErrorCode[] = [
  'upstream_unreachable',
  'upstream_error',
  'upstream_invalid_response',
  'upstream_auth',
  'upstream_rate_limited',
  'upstream_overloaded',
  'upstream_timeout',
]

interface FallbackOptions {
  /** Refusals by the asked model that let its fallbacks try, besides failures. */
  readonly refusals: readonly ErrorCode[]
  /** The model and its fallbacks, counted together. */
  readonly candidateCount: number
  /** Called before the failure of the asked model is thrown in place of those of its fallbacks. */
  readonly onAllFailed?: (() => void) | undefined
}

interface Failed {
  /** Whether any part of its answer was passed on. */
  readonly hasBegun: boolean
  /** Of the request. */
  readonly signal: AbortSignal
}

/** The failures of one request, in the order of its candidates. */
interface FallbackRule {
  /** Returns if the next candidate may answer; otherwise throws the error for the client. */
  requireNext(error: unknown, failed: Failed): void
}

/**
 * Spec: §8 (not shown).
 * Choice: what the asked model refuses is never repeated at another model, unless its entry names the refusal. A fallback that fails in any way is
 * passed over, since the client did not ask for it; when all fail, the client gets the failure of the asked model.
 */
function createFallbackRule(options: FallbackOptions): FallbackRule {
  const { refusals, candidateCount, onAllFailed } = options
  let asked: ApiError | null = null
  let failedCount = 0
  let isRepeated = false
  return {
    requireNext(error, { hasBegun, signal }) {
      failedCount += 1
      // An error of another class is a fault of this server, which must not be hidden.
      if (hasBegun || !(error instanceof ApiError)) throw error
      if (signal.aborted) throw signal.reason
      const mayPass = FALLBACK_CODES.includes(error.code)
      if (asked === null && !mayPass && !refusals.includes(error.code)) throw error
      // A fallback that refuses the request has not repeated it.
      isRepeated ||= asked !== null && mayPass
      asked ??= error
      if (failedCount < candidateCount) return
      if (failedCount > 1) onAllFailed?.()
      throw isRepeated ? withoutClientRetries(asked) : asked
    },
  }
}

/** A completion that is ready to run. */
export interface CompletionRun {
  /** At least one; each is tried only after the one before has failed. */
  readonly models: readonly [ServedModel, ...ServedModel[]]
  readonly admission: Admission
  toAdmissionRequest(model: ServedModel): AdmissionRequest
  /** Reserves what the model may cost; null: nothing is counted. Default: nothing is. @throws ApiError if it may not */
  reserve?(model: ServedModel): Charge | null | Promise<Charge | null>
  /** Returns the deltas of a cached completion; null: there is none. Default: there is none. Never throws. */
  findCached?(): Promise<readonly Delta[] | null>
  start(model: ServedModel): AsyncIterable<Delta>
  readonly observer: CompletionObserver
  readonly signal: AbortSignal
}

/**
 * Yields the deltas of the first model that begins to answer; a failure after that is final. The model holds its slot
 * until the answer ends or fails or the reader stops.
 *
 * @param requireComplete - called after the last delta. @throws if the answer is incomplete
 * @throws what the first model threw, also when all others failed after it; if one of these may have been at work, the
 * error tells client libraries not to retry. After an abort or the beginning of an answer, what was thrown then
 */
export async function* tryModels(
  run: CompletionRun,
  requireComplete?: () => void,
): AsyncGenerator<Delta> {
  const { models, observer, signal } = run
  const rule = createFallbackRule({
    refusals: models[0].fallbackOn ?? [],
    candidateCount: models.length,
    onAllFailed: () => observer.onAllFailed(models[0]),
  })
  // What the filter of the last model leaves is the response: no other model could make a better one.
  const mayGate = models[0].fallbackOn?.includes('content_filter') ?? false
  const isGated = (model: ServedModel) => mayGate && model !== models.at(-1)
  let outcome: unknown
  let hasEnded = false
  try {
    const cached = (await run.findCached?.()) ?? null
    if (cached !== null) {
      observer.onModel(models[0])
      observer.onReplay()
      for (const delta of cached) {
        signal.throwIfAborted()
        observer.onDelta(delta)
        yield delta
      }
      requireComplete?.()
      outcome = null
      hasEnded = true
      return
    }
    for (const model of models) {
      let hasBegun = false
      observer.onModel(model)
      try {
        const leave = await run.admission.enter(run.toAdmissionRequest(model))
        let charge: Charge | null = null
        let end: AttemptEnd = 'cancelled'
        try {
          charge = (await run.reserve?.(model)) ?? null
          observer.onAdmitted()
          for await (const delta of isGated(model)
            ? gateFiltered(run.start(model))
            : run.start(model)) {
            hasBegun = true
            observer.onDelta(delta)
            yield delta
          }
          requireComplete?.()
          end = 'complete'
        } catch (error) {
          if (!signal.aborted) end = isFilteredResponse(error) ? 'complete' : 'failed'
          throw error
        } finally {
          charge?.(end)
          leave()
        }
        observer.onModelEnd(null)
        outcome = null
        hasEnded = true
        return
      } catch (error) {
        observer.onModelEnd(error)
        rule.requireNext(error, { hasBegun, signal })
      }
    }
  } catch (error) {
    outcome = error
    hasEnded = true
    throw error
  } finally {
    observer.onEnd(hasEnded ? outcome : new ApiError('client_closed_request'))
  }
}

/** Returns the JSON text of the whole answer. @throws as tryModels; internal_error for an answer without an end */
export async function collectResponse(
  run: CompletionRun,
  envelope: ResponseEnvelope,
): Promise<string> {
  const collector = createCollector(envelope)
  let json = ''
  const render = () => {
    json = collector.render()
  }
  for await (const delta of tryModels(run, render)) collector.add(delta)
  return json
}

/** Returns the fallbacks of a model that are still served and can answer the request. */
export function listFallbacks(
  model: ServedModel,
  models: ModelRegistry,
  requireAnswerable: (model: ServedModel) => void,
): ServedModel[] {
  return model.fallbacks.flatMap((name) => {
    try {
      const candidate = models.getModel(name)
      requireAnswerable(candidate)
      return [candidate]
    } catch {
      return []
    }
  })
}
