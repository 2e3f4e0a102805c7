/**
 * Buffers the pieces of a completion between the engine's messages and the consumer. Its size is bounded by what the
 * protocol allows the engine to send ahead.
 */
import type { EngineChunk } from './engine-work.ts'

/** A queue from the engine's messages to one consumer. */
export interface ChunkQueue {
  push(delta: EngineChunk): void
  /** No more pieces will come; those that are there can still be taken. */
  end(): void
  /** Drops what is there: every `next` throws the reason. Too late once all was taken. */
  fail(reason: unknown): void
  /**
   * The next piece, null after the last one. Must not be called again before it has answered.
   *
   * @throws the reason of `fail`
   */
  next(): Promise<EngineChunk | null>
}

type State = { readonly type: 'open' | 'ended' } | { readonly type: 'failed'; reason: unknown }

/** An empty queue for one consumer. */
export function createChunkQueue(): ChunkQueue {
  let pieces: EngineChunk[] = []
  let state: State = { type: 'open' }
  let wake: (() => void) | null = null

  function changed(): void {
    wake?.()
    wake = null
  }

  return {
    push(delta) {
      if (state.type !== 'open') return
      pieces.push(delta)
      changed()
    },
    end() {
      if (state.type === 'open') state = { type: 'ended' }
      changed()
    },
    fail(reason) {
      if (state.type === 'failed' || (state.type === 'ended' && pieces.length === 0)) return
      pieces = []
      state = { type: 'failed', reason }
      changed()
    },
    async next() {
      while (state.type === 'open' && pieces.length === 0) {
        const { promise, resolve } = Promise.withResolvers<void>()
        wake = resolve
        await promise
      }
      if (state.type === 'failed') throw state.reason
      return pieces.shift() ?? null
    },
  }
}
