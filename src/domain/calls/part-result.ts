/** The result of one part of a batch of calls. Pure types. */
import type { ApiError } from '../../errors.ts'

/** Ids of a stored start. */
export interface StartedIds {
  readonly id: string
  readonly trace_id: string
}

/** The ids of a start, null for an end, or why the part was refused. */
export type PartResult =
  | { readonly started: StartedIds | null; readonly error?: undefined }
  | { readonly error: ApiError; readonly started?: undefined }
