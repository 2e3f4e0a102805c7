/** Builds an answer from the chunks of a stream. Pure. */
import type { Message } from '../parts/messages.ts'

export interface TokenLogprob {
  readonly token: string
  readonly logprob: number
  readonly top_logprobs?: readonly { readonly token: string; readonly logprob: number }[]
}

interface ToolCallDelta {
  readonly index: number
  readonly id?: string | null
  readonly function?: { readonly name?: string | null; readonly arguments?: string | null } | null
}

export interface Chunk {
  readonly choices?: readonly {
    readonly delta?: {
      readonly content?: string | null
      readonly reasoning?: string | null
      readonly reasoning_content?: string | null
      readonly refusal?: string | null
      readonly tool_calls?: readonly ToolCallDelta[] | null
    }
    readonly logprobs?: { readonly content?: readonly TokenLogprob[] | null } | null
    readonly finish_reason?: string | null
  }[]
  readonly usage?: { readonly prompt_tokens: number; readonly completion_tokens: number } | null
  readonly error?: { readonly message: string }
}

interface CalledTool {
  readonly id: string
  readonly type: 'function'
  readonly function: { readonly name: string; readonly arguments: string }
}

export interface Answer {
  readonly content: string
  readonly reasoning: string
  readonly toolCalls: readonly CalledTool[]
  /** Log-probabilities of each token, if requested. */
  readonly logprobs: readonly TokenLogprob[]
  readonly finishReason: string | null
  readonly promptTokens: number | null
  readonly completionTokens: number | null
}

export const NO_ANSWER: Answer = {
  content: '',
  reasoning: '',
  toolCalls: [],
  logprobs: [],
  finishReason: null,
  promptTokens: null,
  completionTokens: null,
}

/** @returns a new answer with the chunk added */
export function addChunk(answer: Answer, { choices, usage }: Chunk): Answer {
  const [choice] = choices ?? []
  const delta = choice?.delta ?? {}
  const added = choice?.logprobs?.content ?? []
  return {
    content: answer.content + (delta.content ?? '') + (delta.refusal ?? ''),
    reasoning: answer.reasoning + (delta.reasoning ?? delta.reasoning_content ?? ''),
    toolCalls: (delta.tool_calls ?? []).reduce(addToolCall, answer.toolCalls),
    logprobs: added.length === 0 ? answer.logprobs : [...answer.logprobs, ...added],
    finishReason: choice?.finish_reason ?? answer.finishReason,
    promptTokens: usage?.prompt_tokens ?? answer.promptTokens,
    completionTokens: usage?.completion_tokens ?? answer.completionTokens,
  }
}

function addToolCall(calls: readonly CalledTool[], delta: ToolCallDelta): readonly CalledTool[] {
  const before = calls[delta.index]
  const called: CalledTool = {
    id: before?.id ?? delta.id ?? '',
    type: 'function',
    function: {
      name: (before?.function.name ?? '') + (delta.function?.name ?? ''),
      arguments: (before?.function.arguments ?? '') + (delta.function?.arguments ?? ''),
    },
  }
  const next = [...calls]
  next[delta.index] = called
  return next.filter((call) => call !== undefined)
}

/** The answer as a message for the next request. */
export function messageOf({ content, reasoning, toolCalls }: Answer): Message {
  return {
    role: 'assistant',
    content: content === '' && toolCalls.length > 0 ? null : content,
    ...(toolCalls.length > 0 ? { tool_calls: toolCalls } : {}),
    ...(reasoning === '' ? {} : { reasoning }),
  }
}
