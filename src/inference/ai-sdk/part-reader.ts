/** Reads the parts of a stream of the AI SDK as chunks of a chat. A broken stream never looks complete. */
import type { LanguageModelV4StreamPart } from '@ai-sdk/provider'
import type { ApiError } from '../../errors.ts'
import { createChunkTranslation } from './chunks.ts'
import { brokenOff, type ResponseNames, toFinishReason, toUsage } from './completion.ts'

type Chunks = readonly Readonly<Record<string, unknown>>[]

export interface PartReader {
  /** Returns the next chunks, at least one, or null after the last one. @throws ApiError; what the stream throws */
  next(): Promise<Chunks | null>
}

/**
 * An error that is reported inside a stream is not its end: packages go on after an event that they do not know. The last
 * part decides.
 */
export function createPartReader(
  stream: ReadableStream<LanguageModelV4StreamPart>,
  names: ResponseNames,
  toError: (error: unknown) => ApiError,
): PartReader {
  const reader = stream.getReader()
  const translation = createChunkTranslation(names)
  let reported: { readonly error: unknown } | null = null
  let isEnded = false

  const toFailure = () => (reported === null ? brokenOff() : toError(reported.error))

  async function next(): Promise<Chunks | null> {
    while (!isEnded) {
      const { done, value: part } = await reader.read()
      if (done) throw toFailure()
      if (part.type === 'error') {
        reported ??= part
        continue
      }
      if (part.type === 'finish') {
        isEnded = true
        const reason = toFinishReason(part.finishReason)
        const isFailed = reported !== null && part.finishReason.unified === 'other'
        if (reason === null || isFailed) throw toFailure()
        return translation.end(reason, toUsage(part.usage))
      }
      const chunks = translation.add(part)
      if (chunks.length > 0) return chunks
    }
    return null
  }

  return { next }
}
