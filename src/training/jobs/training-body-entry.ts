/** Entry of the thread that reads large bodies: parses, validates and writes the groups, one body at a time. */
import { readFileSync, writeFileSync } from 'node:fs'
import { resourceLimits } from 'node:worker_threads'
import { containersMaxOf } from '../../domain/json/json-depth.ts'
import type { JobContent } from '../../domain/training/training-job.ts'
import { ApiError, type ErrorCode } from '../../errors.ts'
import { readTrainingBody } from './training-body-text.ts'

/** A body to read. */
export interface BodyRequest {
  /** Path of the body. */
  readonly file: string
  /** Path for its groups; the file must not exist. */
  readonly payloadFile: string
}

/** The result: a job, or an error as plain data, since an ApiError loses its class between threads. */
export type BodyReply =
  | { readonly value: JobContent; readonly refusal?: undefined; readonly diskFault?: undefined }
  /** What the disk said, as when it is full. */
  | { readonly diskFault: string; readonly refusal?: undefined; readonly value?: undefined }
  | {
      readonly refusal: {
        readonly code: ErrorCode
        readonly message: string
        readonly param: string | null
      }
      readonly value?: undefined
      readonly diskFault?: undefined
    }

const containersMax = containersMaxOf(resourceLimits.maxOldGenerationSizeMb ?? 0)

/** Called by the pool by this name. */
export function readBody({ file, payloadFile }: BodyRequest): BodyReply {
  try {
    const { content, payload } = readTrainingBody(readFileSync(file), containersMax)
    writeFileSync(payloadFile, payload, { flag: 'wx', mode: 0o600 })
    return { value: content }
  } catch (error) {
    if (isOfDisk(error)) return { diskFault: error.message }
    if (!(error instanceof ApiError)) throw error
    const { code, message, param } = error
    return { refusal: { code, message, param } }
  }
}

function isOfDisk(error: unknown): error is Error {
  return error instanceof Error && 'syscall' in error
}
