/** Entry of the thread that reads large trace requests. */
import { resourceLimits } from 'node:worker_threads'
import { containersMaxOf } from '../domain/json/json-depth.ts'
import { ApiError, type ErrorCode } from '../errors.ts'
import { type ReadRequest, type ReadSpans, readTraceRequest } from './read-request.ts'

/** A refusal, since an ApiError does not cross threads as one. */
export type ThreadAnswer =
  | { readonly spans: ReadSpans; readonly refusal?: undefined }
  | {
      readonly refusal: { readonly code: ErrorCode; readonly message: string }
      readonly spans?: undefined
    }

const containersMax = containersMaxOf(resourceLimits.maxOldGenerationSizeMb ?? 0)

/** The pool calls it by its name. */
export function readTraces(request: ReadRequest): ThreadAnswer {
  try {
    return { spans: readTraceRequest(request, containersMax) }
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    return { refusal: { code: error.code, message: error.message } }
  }
}
