/** Entry of the thread that reads large trace requests. */
import { type MessagePort, resourceLimits } from 'node:worker_threads'
import { limitsOfHeap } from '../domain/json/json-limits.ts'
import { ApiError, type PlainError } from '../errors.ts'
import { type ReadRequest, readTraceRequest } from './read-request.ts'
import { sendSpans } from './span-batches.ts'

export interface ThreadRequest extends ReadRequest {
  /** Where the spans go. */
  readonly port: MessagePort
}

/** A refusal; null when all spans were sent. */
export type ThreadReply = PlainError | null

const limits = limitsOfHeap(resourceLimits.maxOldGenerationSizeMb ?? 0, 'lossless')

/** The pool calls it by its name. */
export async function readTraces({ port, ...request }: ThreadRequest): Promise<ThreadReply> {
  try {
    await sendSpans(port, readTraceRequest(request, limits))
    return null
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    const { code, message, param } = error
    return { code, message, param }
  }
}
