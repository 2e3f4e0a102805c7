/** What the events of a streamed answer mean: which of them are for the client, and when the answer is whole. */
import { ApiError } from '../../errors.ts'
import type { ChatCompletionRequest } from '../../schemas/chat/chat-request.ts'
import { toEventError } from './upstream/errors.ts'

type Fields = Readonly<Record<string, unknown>>

/** The state of one stream. */
export interface EventRules {
  /**
   * Takes the next event.
   *
   * @returns whether only this server asked for it
   * @throws ApiError of an error in it
   */
  note(event: Fields): boolean
  /** Whether the answer came whole, so that nothing need follow. */
  isWhole(): boolean
  /** Whether `[DONE]` ends an answer that did not come whole. */
  readonly endsWithDone: boolean
}

/** What of a request the stream of its completion depends on. */
interface StreamRequest extends Pick<ChatCompletionRequest, 'stream_options' | 'n'> {
  /** Of a legacy completion: a choice has `n` for each. */
  readonly prompt?: unknown
}

/** Chunks of a completion: each choice tells its end, and the usage may come behind. */
export function createChunkRules(request: StreamRequest, host: string): EventRules {
  const hidesUsage = request.stream_options?.include_usage !== true
  const choiceCount = (request.n ?? 1) * countPrompts(request.prompt)
  const finished = new Set<unknown>()
  return {
    note(chunk) {
      if (chunk.error) throw toEventError(chunk.error, host, Date.now())
      for (const choice of Array.isArray(chunk.choices) ? chunk.choices : []) {
        if (choice?.finish_reason) finished.add(choice.index)
      }
      return hidesUsage && isUsageChunk(chunk)
    },
    isWhole: () => finished.size >= choiceCount,
    endsWithDone: true,
  }
}

/** The last event of a response. */
const LAST_EVENTS: ReadonlySet<unknown> = new Set([
  'response.completed',
  'response.incomplete',
  'response.failed',
])

/** Typed events of a response: one of them is the last. */
export function createTypedRules(host: string): EventRules {
  let isWhole = false
  return {
    note(event) {
      if (event.type === 'error' || event.error) {
        throw toEventError(event.error ?? event, host, Date.now())
      }
      if (typeof event.type !== 'string') throw new ApiError('upstream_invalid_response')
      isWhole ||= isLastEvent(event)
      return false
    },
    isWhole: () => isWhole,
    endsWithDone: false,
  }
}

export function isLastEvent({ type }: Fields): boolean {
  return LAST_EVENTS.has(type)
}

/** Whether a chunk is there for the usage alone. */
function isUsageChunk({ choices, usage }: Fields): boolean {
  return Array.isArray(choices) && choices.length === 0 && typeof usage === 'object'
}

/** A list of token ids is one prompt. */
function countPrompts(prompt: unknown): number {
  return Array.isArray(prompt) && typeof prompt[0] !== 'number' ? prompt.length : 1
}
