/** Entry of the thread that reads large bodies: parses, validates and writes the groups, one body at a time. */
import { readFileSync, writeFileSync } from 'node:fs'
import { resourceLimits } from 'node:worker_threads'
import { limitsOfHeap } from '../../domain/json/json-limits.ts'
import type { JobContent } from '../../domain/training/training-job.ts'
import { ApiError, type PlainError } from '../../errors.ts'
import { readTrainingBody } from './training-body-text.ts'

/** A body to read. */
export interface BodyRequest {
  /** Path of the body. */
  readonly file: string
  /** Path for its groups; the file must not exist. */
  readonly payloadFile: string
}

/** The result: a job, the error of the disk, as when it is full, or the error that refuses the body. */
export type BodyReply =
  | { readonly value: JobContent }
  | { readonly diskFault: string }
  | { readonly refusal: PlainError }

const limits = limitsOfHeap(resourceLimits.maxOldGenerationSizeMb ?? 0, 'rounded')

/** Called by the pool by this name. */
export function readBody({ file, payloadFile }: BodyRequest): BodyReply {
  try {
    const { content, payload } = readTrainingBody(readFileSync(file), limits)
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
