/**
 * The messages between the server and the model's process.
 * Only plain data that can be cloned; errors travel as code, text and field.
 */
import type { EngineError } from '../plain-errors.ts'
import type { EngineChunk, EnginePlan } from './engine-work.ts'

/** Chunks that may be under way to a consumer before its request has to wait. */
export const CHUNKS_AHEAD_MAX = 64
/** Chunks that are acknowledged at a time. */
export const CHUNKS_PER_ACK = 16

/** What the process is started with. */
export interface EngineOptions {
  readonly modelPath: string
  /** Limit: processor time of a template, or of the compilation of a grammar. Milliseconds. */
  readonly hazardCpuMsMax: number
  /** Limit: time of the processor for all of a request. Milliseconds. */
  readonly requestCpuMsMax: number
}

/** Messages to the model's process; `id` names the request. */
export type ToEngine =
  | {
      readonly type: 'start'
      readonly id: number
      readonly plan: EnginePlan
      /** Id of the key. */
      readonly owner: string
    }
  | { readonly type: 'cancel'; readonly id: number }
  /** The consumer took this many chunks. */
  | { readonly type: 'ack'; readonly id: number; readonly count: number }

/** Messages from the model's process, sent in lists. `done` or `failed` is the last one of a request. */
export type FromEngine =
  | { readonly type: 'ready' }
  /** The model cannot be loaded; the process ends after that. */
  | { readonly type: 'unloadable'; readonly reason: string }
  | { readonly type: 'delta'; readonly id: number; readonly delta: EngineChunk }
  | { readonly type: 'done'; readonly id: number }
  | { readonly type: 'failed'; readonly id: number; readonly error: EngineError }
