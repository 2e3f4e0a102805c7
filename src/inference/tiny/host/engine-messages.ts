/**
 * The messages between the server and the model's process.
 * Only plain data that can be cloned; errors travel as code, text and field.
 */
import { ApiError, type PlainError } from '../../../errors.ts'
import type { EnginePiece, EnginePlan } from './engine-work.ts'

/** Pieces that may be under way to a consumer before its request has to wait. */
export const PIECES_AHEAD_MAX = 64
/** The same for a request that has a process to itself: a slow reader must not keep others out of it. */
export const GUARDED_PIECES_AHEAD_MAX = 8_192
/** Pieces that are acknowledged at a time. */
export const PIECES_PER_ACK = 16

/** What the process is started with. */
export interface EngineOptions {
  readonly modelPath: string
  /** Limit: time of the processor for a template or a grammar between two passes. Milliseconds. */
  readonly hazardCpuMsMax: number
  /** Limit: time of the processor for all of a request. Milliseconds. */
  readonly requestCpuMsMax: number
}

/** Messages to the model's process; `id` names the request. */
export type ToEngine =
  | { readonly type: 'start'; readonly id: number; readonly plan: EnginePlan }
  | { readonly type: 'cancel'; readonly id: number }
  /** The consumer took this many pieces. */
  | { readonly type: 'ack'; readonly id: number; readonly count: number }

/** Messages from the model's process, sent in lists. `done` or `failed` is the last one of a request. */
export type FromEngine =
  | { readonly type: 'ready' }
  /** The model cannot be loaded; the process ends after that. */
  | { readonly type: 'unloadable'; readonly reason: string }
  | { readonly type: 'delta'; readonly id: number; readonly delta: EnginePiece }
  | { readonly type: 'done'; readonly id: number }
  | { readonly type: 'failed'; readonly id: number; readonly error: EngineError }

interface EngineError extends PlainError {
  /** For the log only: what really happened. */
  readonly detail: string | null
}

/** Converts an error to plain data. Anything but an ApiError becomes internal_error. */
export function toPlainError(error: unknown): EngineError {
  if (error instanceof ApiError) {
    const { code, message, param } = error
    return { code, message, param, detail: null }
  }
  const detail = error instanceof Error ? (error.stack ?? error.message) : String(error)
  const { code, message, param } = new ApiError('internal_error')
  return { code, message, param, detail }
}

/** Converts plain data back to an ApiError. */
export function fromPlainError({ code, message, param, detail }: EngineError): ApiError {
  return new ApiError(code, {
    message,
    param,
    ...(detail === null ? {} : { cause: new Error(detail) }),
  })
}
