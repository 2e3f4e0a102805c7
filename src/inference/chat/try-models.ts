/**
 * Tries the models of a completion in order until one begins to answer. An observer sees each delta; it is never
 * changed, delayed or added.
 *
 * Why one generator does it all: with one for each step, every delta would pass the microtask queue more often.
 */
import { ApiError } from '../../errors.ts'
import type { Delta } from '../backend.ts'
import { createFallbackRule } from '../models/fallbacks.ts'
import type { ServedModel } from '../models/registry.ts'
import type { Admission, AdmissionRequest } from './admission.ts'
import { createCollector } from './collect.ts'
import type { CompletionObserver } from './completion-observer.ts'
import type { ResponseEnvelope } from './response-envelope.ts'

/** A completion that is ready to run. */
export interface CompletionRun {
  /** At least one; each is tried only after the one before has failed. */
  readonly models: readonly [ServedModel, ...ServedModel[]]
  readonly admission: Admission
  toAdmissionRequest(model: ServedModel): AdmissionRequest
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
    candidateCount: models.length,
    onAllFailed: () => observer.onAllFailed(models[0]),
  })
  let outcome: unknown = new ApiError('client_closed_request')
  try {
    for (const model of models) {
      let hasBegun = false
      observer.onModel(model)
      try {
        const leave = await run.admission.enter(run.toAdmissionRequest(model))
        try {
          observer.onAdmitted()
          for await (const delta of run.start(model)) {
            hasBegun = true
            observer.onDelta(delta)
            yield delta
          }
          requireComplete?.()
        } finally {
          leave()
        }
        observer.onModelEnd(null)
        outcome = null
        return
      } catch (error) {
        observer.onModelEnd(error)
        rule.requireNext(error, { hasBegun, signal })
      }
    }
  } catch (error) {
    outcome = error
    throw error
  } finally {
    observer.onEnd(outcome)
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
