/**
 * Converts a backend's deltas to the JSON texts of stream chunks, lazily, one delta at a time.
 * An upstream's chunks pass unchanged. The final `[DONE]` is not included.
 */
import type {
  ChatChunkChoice,
  ChatCompletionChunk,
  ChatUsage,
} from '../../schemas/chat/chat-response.ts'
import type { ChoiceDelta, Delta, PromptDelta, ToolCallChunk } from '../backend.ts'
import {
  type ResponseEnvelope,
  renderReasoning,
  renderUsage,
  requireAllFinished,
  toWritable,
} from './whole-completion.ts'

export interface ChunkOptions {
  /** A last chunk without choices carries the usage. */
  readonly includeUsage: boolean
  /** Every chunk carries the usage of its choice so far; only with includeUsage. */
  readonly continuousUsage: boolean
}

/**
 * Yields chunks in order, at least one at a time: a role chunk for each choice, the pieces of the choices as they
 * arrive, the last piece of each with its `finish_reason`, and a usage chunk if requested.
 *
 * @throws ApiError internal_error when a choice has no end; whatever the backend throws
 *
 * Spec: §4.3 stream, stream_options (chunk format not shown).
 * Choice: the order of common engines; the last text of a choice is in the chunk with its `finish_reason`; the
 * prompt's token ids are in the very first chunk.
 */
export async function* renderChunks(
  deltas: AsyncIterable<Delta>,
  envelope: ResponseEnvelope,
  { includeUsage, continuousUsage }: ChunkOptions,
): AsyncGenerator<readonly string[]> {
  const tokenCounts = new Map<number, number>()
  const finished = new Set<number>()
  let prompt: PromptDelta | null = null
  let isRelayed = false
  const usageOf = (tokenCount: number) =>
    includeUsage && continuousUsage ? renderUsage(prompt, tokenCount) : null

  for await (const delta of deltas) {
    if (delta.type === 'relayed') {
      isRelayed = true
      const shown = delta.texts.filter(({ isHidden }) => isHidden !== true)
      if (shown.length > 0) yield shown.map(({ json }) => json)
      continue
    }
    if (delta.type === 'prompt') {
      prompt = delta
      for (let index = 0; index < envelope.choiceCount; index++) {
        const ids = index === 0 ? prompt.promptIds : undefined
        yield [renderChunk(envelope, [roleChoice(index, envelope.role)], usageOf(0), ids)]
      }
      continue
    }
    if (delta.type === 'bytes') continue
    const tokenCount = (tokenCounts.get(delta.index) ?? 0) + delta.tokenCount
    tokenCounts.set(delta.index, tokenCount)
    if (delta.finish_reason !== null) finished.add(delta.index)
    if (hasNews(delta)) yield [renderChunk(envelope, [toChoice(delta)], usageOf(tokenCount))]
  }

  if (isRelayed) return
  requireAllFinished(finished.size, envelope)
  if (!includeUsage) return
  const total = [...tokenCounts.values()].reduce((sum, count) => sum + count, 0)
  yield [renderChunk(envelope, [], renderUsage(prompt, total))]
}

function renderChunk(
  envelope: ResponseEnvelope,
  choices: ChatChunkChoice[],
  usage: ChatUsage | null,
  promptIds?: readonly number[],
): string {
  const chunk: ChatCompletionChunk = {
    id: envelope.id,
    object: 'chat.completion.chunk',
    created: envelope.created,
    model: envelope.model,
    choices,
    ...(usage === null ? {} : { usage }),
    ...(promptIds === undefined ? {} : { prompt_token_ids: [...promptIds] }),
  }
  return JSON.stringify(chunk)
}

function roleChoice(index: number, role: string): ChatChunkChoice {
  return { index, delta: { role, content: '' }, logprobs: null, finish_reason: null }
}

/** Whether a client must see the delta: a token whose text is held back has nothing to show yet. */
function hasNews(delta: ChoiceDelta): boolean {
  const { content, logprobs, finish_reason, tokenIds, reasoning, toolCalls } = delta
  const isSilent = content === '' && logprobs === null && finish_reason === null
  return [tokenIds, reasoning, toolCalls].some((news) => news !== undefined) || !isSilent
}

function toChoice(delta: ChoiceDelta): ChatChunkChoice {
  const { index, content, logprobs, finish_reason, stop_reason, tokenIds, reasoning } = delta
  return {
    index,
    delta: {
      ...(content === '' ? {} : { content }),
      ...renderReasoning(reasoning),
      ...(delta.toolCalls === undefined ? {} : { tool_calls: delta.toolCalls.map(toCallPiece) }),
    },
    logprobs: logprobs === null ? null : { content: toWritable(logprobs) },
    finish_reason,
    ...(finish_reason === null ? {} : { stop_reason }),
    ...(tokenIds === undefined ? {} : { token_ids: [...tokenIds] }),
  }
}

/** Spec: §4.3 (chunk format not shown). Choice: the first piece of a call has its id, type and name. */
function toCallPiece({ index, id, name, arguments: text }: ToolCallChunk) {
  if (id === undefined) return { index, function: { arguments: text } }
  return { index, id, type: 'function' as const, function: { name, arguments: text } }
}
