/**
 * Runs an answer: waits for admission, passes on the deltas of the first candidate that begins, and shows each to a
 * watcher. It never changes, delays or adds a delta.
 *
 * Why one function does it all: with a generator for each step, every delta would pass the microtask queue three
 * times as often.
 */
import { ApiError } from '../../errors.ts'
import type { Delta, RelayedDelta } from '../backend.ts'
import { createFallbackRule } from '../models/fallbacks.ts'
import type { Admission, AdmissionRequest } from './admission.ts'
import type { AnswerEnvelope } from './answer-envelope.ts'
import { createCollector } from './collect.ts'
import type { AnswerTimer, ModelMeter } from './model-meter.ts'

/** A model that may answer. */
export interface Candidate {
  readonly place: AdmissionRequest
  /** Starts the completion; called once a slot is free. */
  start(): AsyncIterable<Delta>
  /** The same for an answer that is not streamed and comes at once; else undefined. */
  startWhole?: (() => Promise<RelayedDelta>) | undefined
}

export interface AnswerWatcher {
  note(delta: Delta): void
  /**
   * Called once when the answer is over.
   *
   * @param error - null after a complete answer, else its cause of failure; client_closed_request when the
   * client disconnected
   */
  end(error: unknown): void
}

export interface AnswerRunOptions {
  readonly admission: Admission
  readonly watcher: AnswerWatcher | null
  /** Receives the time that answers take. Default: none. */
  readonly meter?: ModelMeter
  /** Called when the fallbacks have failed, too, so that the answer is the failure of the first candidate. */
  readonly onAllFailed?: () => void
}

/**
 * Yields the deltas of the first candidate that begins to answer; a failure after that is final. The candidate
 * holds its slot until the answer ends or fails or the reader stops.
 *
 * @param candidates - at least one, in order; each is started only after the one before has failed
 * @throws what the first candidate threw, also when all others failed after it; if one of these may have been at work,
 * the error tells client libraries not to retry. After an abort or the beginning of an answer, what was thrown then
 */
export async function* streamAnswer(
  candidates: readonly (() => Candidate)[],
  { admission, watcher, meter, onAllFailed }: AnswerRunOptions,
): AsyncGenerator<Delta> {
  const rule = createFallbackRule({ candidateCount: candidates.length, onAllFailed })
  let failure: unknown = null
  let isOver = false
  try {
    for (const open of candidates) {
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
        rule.requireNext(error, { hasBegun, signal: place.signal })
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
 * Returns the JSON text of the whole answer of the first candidate that answers. Otherwise like `streamAnswer`.
 *
 * @throws as `streamAnswer` does, before or during reading; ApiError internal_error for an answer without an
 * end
 */
export async function answerWhole(
  candidates: readonly (() => Candidate)[],
  { admission, watcher, meter, onAllFailed }: AnswerRunOptions,
  envelope: AnswerEnvelope,
): Promise<string> {
  const rule = createFallbackRule({ candidateCount: candidates.length, onAllFailed })
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
        rule.requireNext(error, { hasBegun, signal: place.signal })
      }
    }
  } catch (error) {
    failure = error
    throw error
  } finally {
    watcher?.end(failure)
  }
}
