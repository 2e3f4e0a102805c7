/** Builds a response from the chunks of a stream. Pure. */
import type { Message } from '../parts/messages/messages.ts'

export interface TokenLogprob {
  readonly token: string
  readonly logprob: number
  readonly top_logprobs?: readonly { readonly token: string; readonly logprob: number }[]
}

interface ToolCallDelta {
  readonly index?: number | null
  readonly id?: string | null
  readonly function?: { readonly name?: string | null; readonly arguments?: string | null } | null
}

interface ContentPart {
  readonly type?: string
  readonly text?: string
  readonly thinking?: string | readonly ContentPart[]
}

interface Delta {
  /** Content of the chunk; some engines send lists of parts, as in whole messages. */
  readonly content?: string | readonly ContentPart[] | null
  readonly reasoning?: string | null
  readonly reasoning_content?: string | null
  readonly refusal?: string | null
  readonly tool_calls?: readonly ToolCallDelta[] | null
}

export interface Chunk {
  readonly choices?: readonly {
    readonly delta?: Delta
    readonly logprobs?: { readonly content?: readonly TokenLogprob[] | null } | null
    readonly finish_reason?: string | null
  }[]
  readonly usage?: { readonly prompt_tokens: number; readonly completion_tokens: number } | null
  readonly error?: { readonly message: string }
}

interface CalledTool {
  /** Index as sent in the first chunk; null without one. */
  readonly index: number | null
  readonly id: string
  readonly name: string
  readonly arguments: string
}

export interface Completion {
  readonly content: string
  readonly reasoning: string
  readonly toolCalls: readonly CalledTool[]
  /** Log-probabilities of each token, if requested. */
  readonly logprobs: readonly TokenLogprob[]
  readonly finishReason: string | null
  readonly promptTokens: number | null
  readonly completionTokens: number | null
}

export const NO_COMPLETION: Completion = {
  content: '',
  reasoning: '',
  toolCalls: [],
  logprobs: [],
  finishReason: null,
  promptTokens: null,
  completionTokens: null,
}

/** @returns a new response with the chunk added */
export function addChunk(answer: Completion, { choices, usage }: Chunk): Completion {
  const [choice] = choices ?? []
  const delta: Delta = choice?.delta ?? {}
  const added = choice?.logprobs?.content ?? []
  return {
    content: answer.content + textIn(delta.content) + (delta.refusal ?? ''),
    reasoning: answer.reasoning + thoughtIn(delta),
    toolCalls: (delta.tool_calls ?? []).reduce(addToolCall, answer.toolCalls),
    logprobs: added.length === 0 ? answer.logprobs : [...answer.logprobs, ...added],
    finishReason: choice?.finish_reason ?? answer.finishReason,
    promptTokens: usage?.prompt_tokens ?? answer.promptTokens,
    completionTokens: usage?.completion_tokens ?? answer.completionTokens,
  }
}

function textIn(content: string | readonly ContentPart[] | null | undefined): string {
  if (typeof content === 'string') return content
  return (content ?? []).map(({ text }) => text ?? '').join('')
}

function thoughtIn({ reasoning, reasoning_content, content }: Delta): string {
  const thought = reasoning ?? reasoning_content
  if (typeof thought === 'string' || !Array.isArray(content)) return thought ?? ''
  return content.map(({ thinking }) => textIn(thinking)).join('')
}

function addToolCall(calls: readonly CalledTool[], piece: ToolCallDelta): readonly CalledTool[] {
  const { id, function: called } = piece
  const index = piece.index ?? null
  const given = { id: id ?? '', name: called?.name ?? '', arguments: called?.arguments ?? '' }
  const place = indexOfCall(index, given, calls)
  const before = calls[place]
  if (before === undefined) return [...calls, { index, ...given }]
  const grown = {
    index: before.index,
    id: before.id || given.id,
    name: before.name + given.name,
    arguments: before.arguments + given.arguments,
  }
  return calls.with(place, grown)
}

/**
 * Returns the index of the tool call that a chunk belongs to, -1 for a new one. Engines may count from any number,
 * leave the index out, or send 0 with every call: then a name begins the next one.
 */
function indexOfCall(
  index: number | null,
  { id, name }: Pick<CalledTool, 'id' | 'name'>,
  calls: readonly CalledTool[],
): number {
  const fits = (call: CalledTool) => index === null || call.index === index
  const known = calls.findLastIndex((call) => id !== '' && call.id === id && fits(call))
  if (known !== -1) return known
  const last = calls.findLastIndex(fits)
  const isNext = name !== '' && calls[last]?.name !== '' && (index === null || id !== '')
  return isNext ? -1 : last
}

/** Returns the response as a message for the next request. */
export function messageOf({ content, reasoning, toolCalls }: Completion): Message {
  return {
    role: 'assistant',
    content: content === '' && toolCalls.length > 0 ? null : content,
    ...(toolCalls.length > 0 ? { tool_calls: toolCalls.map(renderCall) } : {}),
    ...(reasoning === '' ? {} : { reasoning }),
  }
}

function renderCall({ id, name, arguments: text }: CalledTool) {
  return { id, type: 'function', function: { name, arguments: text } }
}
