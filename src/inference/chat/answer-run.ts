/**
 * The way of an answer's deltas from a backend to their reader: within admission, from the first candidate that
 * begins, under the eyes of a watcher. It never changes, holds back or adds a delta.
 *
 * Why all in one function: one for each would take every delta through the microtask queue three times as often.
 */
import { ApiError } from '../../errors.ts'
import type { Delta, RelayedDelta } from '../backend.ts'
import { requireFallback } from '../models/fallbacks.ts'
import type { Admission, AdmissionRequest } from './admission.ts'
import type { AnswerEnvelope } from './answer-envelope.ts'
import { createCollector } from './collect.ts'
import type { AnswerTimer, ModelMeter } from './model-meter.ts'

/** A model that may answer. */
export interface Candidate {
  readonly place: AdmissionRequest
  /** Starts the completion; called when there is a place. */
  start(): AsyncIterable<Delta>
  /** The same for an answer that is not streamed and comes at once; else undefined. */
  startWhole?: (() => Promise<RelayedDelta>) | undefined
}

export interface AnswerWatcher {
  note(delta: Delta): void
  /**
   * The answer is over; called once.
   *
   * @param error - null after a whole answer, else what broke it; client_closed_request when its reader
   * left
   */
  end(error: unknown): void
}

export interface AnswerRunOptions {
  readonly admission: Admission
  readonly watcher: AnswerWatcher | null
  /** Told how long answers take. Default: nobody is. */
  readonly meter?: ModelMeter
}

/**
 * The deltas of the first candidate that begins to answer; what breaks later stays broken. The candidate holds
 * its place until the end, a failure, or the reader's leaving.
 *
 * @param candidates - at least one, in order; each is called when it comes to it
 * @throws what the last candidate threw; of a failure after a fallback client libraries are told not to
 * try again; what admission throws
 */
export async function* streamAnswer(
  candidates: readonly (() => Candidate)[],
  { admission, watcher, meter }: AnswerRunOptions,
): AsyncGenerator<Delta> {
  let failure: unknown = null
  let isOver = false
  try {
    for (const [index, open] of candidates.entries()) {
      const { place, start } = open()
      let hasBegun = false
      let timer: AnswerTimer | undefined
      try {
        const leave = await admission.enter(place)
        timer = meter?.begin(place.modelId)
        try {
          for await (const delta of start()) {
            if (!hasBegun) timer?.first()
            hasBegun = true
            watcher?.note(delta)
            yield delta
          }
        } finally {
          leave()
        }
        timer?.end(null)
        isOver = true
        return
      } catch (error) {
        timer?.end(error)
        requireFallback(error, { hasBegun, index, isLast: index === candidates.length - 1 })
      }
    }
  } catch (error) {
    isOver = true
    failure = error
    throw error
  } finally {
    watcher?.end(isOver ? failure : new ApiError('client_closed_request'))
  }
}

/**
 * The JSON text of the whole answer of the first candidate that answers. Everything else is as in
 * `streamAnswer`.
 *
 * @throws as `streamAnswer` does, before or while it is read; ApiError internal_error for an answer without an
 * end
 */
export async function answerWhole(
  candidates: readonly (() => Candidate)[],
  { admission, watcher, meter }: AnswerRunOptions,
  envelope: AnswerEnvelope,
): Promise<string> {
  let failure: unknown = null
  try {
    for (let index = 0; ; index++) {
      const { place, start, startWhole } = (candidates[index] as () => Candidate)()
      const collector = createCollector(envelope)
      let hasBegun = false
      let timer: AnswerTimer | undefined
      const take = (delta: Delta) => {
        if (!hasBegun) timer?.first()
        hasBegun = true
        watcher?.note(delta)
        collector.add(delta)
      }
      try {
        const leave = await admission.enter(place)
        timer = meter?.begin(place.modelId)
        try {
          if (startWhole !== undefined) take(await startWhole())
          else for await (const delta of start()) take(delta)
        } finally {
          leave()
        }
        const answer = collector.render()
        timer?.end(null)
        return answer
      } catch (error) {
        timer?.end(error)
        requireFallback(error, { hasBegun, index, isLast: index === candidates.length - 1 })
      }
    }
  } catch (error) {
    failure = error
    throw error
  } finally {
    watcher?.end(failure)
  }
}
