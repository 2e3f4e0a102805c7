/** Entry of the thread that reads large bodies: parses, validates and writes the groups, one body at a time. */
import { Buffer } from 'node:buffer'
import { createHash } from 'node:crypto'
import { closeSync, fsyncSync, openSync, readFileSync, writeSync } from 'node:fs'
import { parentPort } from 'node:worker_threads'
import type { JobContent } from '../../domain/training/training-job.ts'
import { ApiError, type ErrorCode } from '../../errors.ts'
import { readTrainingBody } from './training-body-text.ts'

/** A body to be read. */
export interface BodyRequest {
  readonly id: number
  /** Where the body is. */
  readonly file: string
  /** Where its groups go; never there before. */
  readonly payloadFile: string
}

/** What became of it: a job, an error of the client's, or a fault. */
export interface BodyReply {
  readonly id: number
  readonly value?: { readonly content: JobContent; readonly sha256: string; readonly bytes: number }
  readonly failure?: {
    readonly code: ErrorCode
    readonly message: string
    readonly param: string | null
  }
  readonly crash?: string
}

function answer({ id, file, payloadFile }: BodyRequest): BodyReply {
  try {
    const { content, payload } = readTrainingBody(readFileSync(file))
    return { id, value: { content, ...writeDurably(payloadFile, Buffer.from(payload, 'utf8')) } }
  } catch (error) {
    if (error instanceof ApiError) {
      const { code, message, param } = error
      return { id, failure: { code, message, param } }
    }
    return { id, crash: error instanceof Error ? (error.stack ?? error.message) : String(error) }
  }
}

function writeDurably(path: string, content: Buffer): { sha256: string; bytes: number } {
  const handle = openSync(path, 'wx', 0o600)
  try {
    // Why: a single write may take less than it was given.
    for (let at = 0; at < content.length; ) at += writeSync(handle, content, at)
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
  return { sha256: createHash('sha256').update(content).digest('hex'), bytes: content.length }
}

parentPort?.on('message', (request: BodyRequest) => {
  parentPort?.postMessage(answer(request))
})
