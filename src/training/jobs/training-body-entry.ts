/** Entry of the thread that reads large bodies: parses, validates and writes the groups, one body at a time. */
import { readFileSync, writeFileSync } from 'node:fs'
import { resourceLimits } from 'node:worker_threads'
import { limitsOfHeap } from '../../domain/json/json-limits.ts'
import type { JobContent } from '../../domain/training/training-job.ts'
import { ApiError } from '../../errors.ts'
import { serveThread } from '../../threads/serve-thread.ts'
import { readTrainingBody } from './training-body-text.ts'

/** A body to read. */
export interface BodyRequest {
  /** Path of the body. */
  readonly file: string
  /** Path for its groups; the file must not exist. */
  readonly payloadFile: string
}

const DISK_RETRY_S = 5

const limits = limitsOfHeap(resourceLimits.maxOldGenerationSizeMb ?? 0, 'rounded')

serveThread<BodyRequest, JobContent>(() => ({
  run({ file, payloadFile }) {
    try {
      const { content, payload } = readTrainingBody(readFileSync(file), limits)
      writeFileSync(payloadFile, payload, { flag: 'wx', mode: 0o600 })
      return content
    } catch (error) {
      if (!isOfDisk(error)) throw error
      throw new ApiError('store_unavailable', { cause: error, retryAfterS: DISK_RETRY_S })
    }
  },
}))

function isOfDisk(error: unknown): error is Error {
  return error instanceof Error && 'syscall' in error
}
