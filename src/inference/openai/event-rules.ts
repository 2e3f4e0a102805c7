/** Interprets the events of a streamed answer: which ones the client gets, and when the answer is complete. */
import { isObject } from '../../domain/json/is-object.ts'
import { splitItems } from '../../domain/json/json-members.ts'
import { ApiError } from '../../errors.ts'
import type { ChatCompletionRequest } from '../../schemas/chat/chat-request.ts'
import { editMembers, findMember } from './request.ts'
import { findReportedError } from './upstream/errors.ts'
import type { Redact } from './upstream/redaction.ts'

type Fields = Readonly<Record<string, unknown>>

/** The state of one stream. */
export interface EventRules {
  /**
   * Takes the next event.
   *
   * @returns whether only this server requested the event
   * @throws ApiError for an error in the event
   */
  note(event: Fields): boolean
  /** Whether the answer is complete, so that nothing more is required. */
  isWhole(): boolean
  /** Returns the JSON text to pass on in place of an event that was noted. Default: the event verbatim. */
  rewrite?(json: string, event: Fields): string
  /** Whether `[DONE]` is a valid end even if the answer does not look complete. */
  readonly endsWithDone: boolean
  /**
   * Returns the JSON texts of the events that a whole answer amounts to; none if it is no answer. Default: a whole
   * answer is not understood.
   */
  toEvents?(json: string, value: Fields): string[]
}

/** The request fields that determine the shape of the stream. */
export interface StreamRequest extends Pick<ChatCompletionRequest, 'stream_options' | 'n'> {
  /** Of a legacy completion: there are `n` choices for each prompt. */
  readonly prompt?: unknown
}

/** Rules for completion chunks: each choice marks its end, and a usage chunk may follow. */
export function createChunkRules(request: StreamRequest, redact: Redact): EventRules {
  const hidesUsage = request.stream_options?.include_usage !== true
  const choiceCount = countChoices(request)
  const finished = new Set<unknown>()
  return {
    note(chunk) {
      const error = findReportedError(chunk, redact)
      if (error !== null) throw error
      for (const choice of Array.isArray(chunk.choices) ? chunk.choices : []) {
        if (choice?.finish_reason) finished.add(choice.index)
      }
      return hidesUsage && isUsageChunk(chunk)
    },
    isWhole: () => finished.size >= choiceCount,
    endsWithDone: true,
    toEvents: toChunks,
  }
}

/**
 * Returns the chunks that a whole answer amounts to: one for each choice, since clients read only the first choice of a
 * chunk, and one for the usage. Digits and unknown members are kept verbatim.
 *
 * Spec: §4.3 stream.
 * Choice: an upstream that answers a request for a stream with a whole completion has answered it.
 */
export function toChunks(json: string, { choices, usage }: Fields): string[] {
  if (!Array.isArray(choices)) return []
  const isChat = choices.some((choice) => isObject(choice) && isObject(choice.message))
  const object: [string, string][] = isChat ? [['object', '"chat.completion.chunk"']] : []
  const toChunk = (texts: string, isLast: boolean) =>
    editMembers(json, {
      set: new Map([...object, ['choices', `[${texts}]`]]),
      remove: new Set(isLast ? [] : ['usage']),
    })
  const items = splitItems(findMember(json, 'choices') ?? '[]').filter(isObjectText)
  const chunks = items.map((item) => toChunk(toChunkChoice(item), false))
  return isObject(usage) ? [...chunks, toChunk('', true)] : chunks
}

/** Returns a choice of a whole answer as one of a chunk, whose tool calls have indexes. */
function toChunkChoice(item: string): string {
  const message = findMember(item, 'message')
  if (message === undefined || !isObjectText(message)) return item
  const calls = findMember(message, 'tool_calls')
  const indexed = calls?.startsWith('[')
    ? splitItems(calls)
        .filter(isObjectText)
        .map((call, index) => editMembers(call, { set: new Map([['index', String(index)]]) }))
    : []
  const set = new Map(indexed.length > 0 ? [['tool_calls', `[${indexed.join(',')}]`]] : [])
  const delta = editMembers(message, { set })
  return editMembers(item, {
    set: new Map([['message', delta]]),
    rename: new Map([['message', 'delta']]),
  })
}

/** Types of the last event of a response, and of a message. */
const LAST_EVENTS: ReadonlySet<unknown> = new Set([
  'response.completed',
  'response.incomplete',
  'response.failed',
  'message_stop',
])

/** Rules for the typed events of a response or a message, whose last event has a type of its own. */
export function createTypedRules(redact: Redact): EventRules {
  let isWhole = false
  return {
    note(event) {
      const error = findReportedError(event, redact)
      if (error !== null) throw error
      if (typeof event.type !== 'string') throw new ApiError('upstream_invalid_response')
      isWhole ||= isLastEvent(event)
      return false
    },
    // It reports an error in the upstream's words, but is part of the answer.
    rewrite: (json, { type }) => (type === 'response.failed' ? redact(json) : json),
    isWhole: () => isWhole,
    endsWithDone: false,
  }
}

export function isLastEvent({ type }: Fields): boolean {
  return LAST_EVENTS.has(type)
}

/** Whether a chunk carries only the usage. */
function isUsageChunk({ choices, usage }: Fields): boolean {
  return Array.isArray(choices) && choices.length === 0 && typeof usage === 'object'
}

/** Returns the number of choices that a request asks for. */
export function countChoices({ n, prompt }: Pick<StreamRequest, 'n' | 'prompt'>): number {
  return (n ?? 1) * countPrompts(prompt)
}

/** Counts the prompts; a list of token ids is one prompt. */
function countPrompts(prompt: unknown): number {
  return Array.isArray(prompt) && typeof prompt[0] !== 'number' ? prompt.length : 1
}

function isObjectText(json: string): boolean {
  return json.startsWith('{')
}
