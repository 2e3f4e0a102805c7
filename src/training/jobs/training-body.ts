/** Receives the body of a training job: a small one in memory, a large one through a file and a thread. */
import { createReadStream } from 'node:fs'
import type { Readable } from 'node:stream'
import type { JobContent } from '../../domain/training/training-job.ts'
import { ApiError, bodyTooLarge } from '../../errors.ts'
import type { TrainingPayload } from '../../store/api/training/training-queue.ts'
import type { StagedBody } from './body-folder.ts'
import { readTrainingBody } from './training-body-text.ts'
import type { TrainingBodyThread } from './training-body-thread.ts'

/** Limit: bodies up to this are parsed on the event loop, which takes some milliseconds. */
export const INLINE_BYTES_MAX = 262_144
/** Limit: large bodies that are received or read at the same time. */
export const LARGE_BODIES_MAX = 32

export interface TrainingBody {
  readonly content: JobContent
  readonly payload: TrainingPayload
  /** Removes the stored body. Never fails. */
  discard(): Promise<void>
}

interface TrainingBodyOptions {
  /** Opens a file for a large body. @throws ApiError server_overloaded, store_unavailable */
  stageBody(): Promise<StagedBody>
  readonly thread: TrainingBodyThread
  readonly bytesMax: number
}

/**
 * Reads a body to its end.
 *
 * @param source - its bytes; undefined when the request has none
 * @throws ApiError request_too_large, client_closed_request, server_overloaded, store_unavailable, and what
 * the text breaks; then nothing is left
 */
export async function receiveTrainingBody(
  source: Readable | undefined,
  { stageBody, thread, bytesMax }: TrainingBodyOptions,
): Promise<TrainingBody> {
  const received = await receive(source, stageBody, bytesMax)
  if (!('file' in received)) {
    return { ...readTrainingBody(received), discard: async () => undefined }
  }
  try {
    const content = await thread.read(received)
    return { content, payload: readFile(received.payloadFile), discard: received.discard }
  } catch (error) {
    await received.discard()
    throw error
  }
}

/** Opens the file on the first read. */
async function* readFile(path: string): AsyncGenerator<Buffer> {
  yield* createReadStream(path) as AsyncIterable<Buffer>
}

/** Opens files for at most LARGE_BODIES_MAX bodies at the same time. @param open - opens one */
export function limitLargeBodies(open: () => Promise<StagedBody>): () => Promise<StagedBody> {
  const staged = new Set<symbol>()
  return async () => {
    if (staged.size >= LARGE_BODIES_MAX) throw new ApiError('server_overloaded', { retryAfterS: 5 })
    const place = Symbol('body')
    staged.add(place)
    try {
      const body = await open()
      const discard = () => {
        staged.delete(place)
        return body.discard()
      }
      return { ...body, discard }
    } catch (error) {
      staged.delete(place)
      throw error
    }
  }
}

/** Buffers the first bytes in memory; opens a file when there are more. */
async function receive(
  source: Readable | undefined,
  stageBody: () => Promise<StagedBody>,
  bytesMax: number,
): Promise<Buffer | StagedBody> {
  let chunks: Buffer[] = []
  let bytes = 0
  let staged: StagedBody | null = null
  try {
    for await (const chunk of readChunks(source)) {
      bytes += chunk.length
      if (bytes > bytesMax) throw bodyTooLarge(bytesMax)
      chunks.push(chunk)
      if (bytes <= INLINE_BYTES_MAX) continue
      staged ??= await stageBody()
      await staged.write(Buffer.concat(chunks))
      chunks = []
    }
    await staged?.finish()
    return staged ?? Buffer.concat(chunks)
  } catch (error) {
    await staged?.discard()
    throw error
  }
}

/** Yields the chunks of a request. Stopping early leaves the connection open for the answer. */
export async function* readChunks(source: Readable | undefined): AsyncGenerator<Buffer> {
  if (source === undefined) return
  try {
    yield* source.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>
  } catch (cause) {
    if (cause instanceof ApiError) throw cause
    throw new ApiError('client_closed_request', { cause })
  }
}
