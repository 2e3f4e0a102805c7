/** The one way in which metrics, latencies, limits, headers and recordings follow a completion. */
import type { Delta, UpstreamObserver } from '../backend.ts'
import type { ServedModel } from '../models/registry.ts'

/** Receives the events of one completion in their order. An observer never changes or delays it. */
export interface CompletionObserver extends UpstreamObserver {
  /** Called when a model is tried, before it waits for a slot. */
  onModel(model: ServedModel): void
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
