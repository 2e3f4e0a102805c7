/**
 * Assembles the choices of a streamed answer from their pieces, as client libraries do. Pieces of an unknown shape
 * are skipped, since recording must never fail an answer.
 */

import { isObject } from '../../domain/json/is-object.ts'
import type { ChoiceDelta, ToolCallPiece } from '../backend.ts'
import { renderReasoning } from './collect.ts'
import { createTokenParts, type TokenParts } from './token-parts.ts'

/** Limits: an upstream could send any number of choices and calls. */
const CHOICES_MAX = 1_000
const CALLS_MAX = 1_000

/** Texts of a message that arrive in pieces. */
const TEXTS = ['content', 'refusal', 'reasoning', 'reasoning_content'] as const

interface CallParts {
  id?: unknown
  type?: unknown
  name: string
  arguments: string
}

interface StreamedChoice {
  role: unknown
  readonly texts: Map<string, string>
  readonly calls: Map<number, CallParts>
  readonly tokens: TokenParts
  finish_reason: unknown
  stop_reason: unknown
}

export interface StreamedChoices {
  /** Adds an element of a chunk's `choices`. @returns whether it contained text, reasoning or a call */
  addChunkChoice(choice: Readonly<Record<string, unknown>>): boolean
  /** The same for a backend's own delta. */
  addDelta(delta: ChoiceDelta): boolean
  /** Returns the choices so far, ordered by index, as in a whole answer. */
  render(): unknown[]
  isCut(): boolean
}

/** @param charsMax - characters to keep in all choices together; 0 keeps nothing */
export function createStreamedChoices(charsMax: number): StreamedChoices {
  const choices = new Map<number, StreamedChoice>()
  let left = charsMax
  let isCut = false

  function take(text: string): string {
    const taken = text.slice(0, left)
    left -= taken.length
    if (taken.length < text.length && charsMax > 0) isCut = true
    return taken
  }

  function spend(chars: number): boolean {
    const isEnough = left >= chars
    if (isEnough) left -= chars
    else if (charsMax > 0) isCut = true
    return isEnough
  }

  function addText(parts: StreamedChoice, name: string, piece: unknown): boolean {
    if (typeof piece !== 'string' || piece === '') return false
    parts.texts.set(name, (parts.texts.get(name) ?? '') + take(piece))
    return true
  }

  function partsOf(index: unknown): StreamedChoice | null {
    if (typeof index !== 'number') return null
    const known = choices.get(index)
    if (known) return known
    if (choices.size >= CHOICES_MAX) return null
    const parts: StreamedChoice = {
      role: 'assistant',
      texts: new Map(),
      calls: new Map(),
      tokens: createTokenParts(spend),
      finish_reason: null,
      stop_reason: null,
    }
    choices.set(index, parts)
    return parts
  }

  function addCall(parts: StreamedChoice, piece: unknown): boolean {
    if (!isObject(piece) || typeof piece.index !== 'number') return false
    const known = parts.calls.get(piece.index)
    if (!known && parts.calls.size >= CALLS_MAX) return false
    const call = known ?? { name: '', arguments: '' }
    parts.calls.set(piece.index, call)
    call.id ??= piece.id
    call.type ??= piece.type
    const { name, arguments: text } = isObject(piece.function) ? piece.function : {}
    if (typeof name === 'string') call.name += take(name)
    if (typeof text === 'string') call.arguments += take(text)
    return true
  }

  const addCalls = (parts: StreamedChoice, pieces: readonly unknown[]): boolean =>
    pieces.filter((piece) => addCall(parts, piece)).length > 0

  return {
    addChunkChoice(choice) {
      const parts = partsOf(choice.index)
      if (parts === null) return false
      parts.finish_reason ??= choice.finish_reason
      parts.stop_reason ??= choice.stop_reason
      // Legacy completions have the text in the choice itself.
      const delta = isObject(choice.delta) ? choice.delta : { content: choice.text }
      if (typeof delta.role === 'string' && delta.role !== '') parts.role = delta.role
      const { content } = isObject(choice.logprobs) ? choice.logprobs : {}
      parts.tokens.add(choice.token_ids, content)
      let hasNews = false
      for (const name of TEXTS) if (addText(parts, name, delta[name])) hasNews = true
      const pieces = Array.isArray(delta.tool_calls) ? delta.tool_calls : []
      return addCalls(parts, pieces) || hasNews
    },
    addDelta(delta) {
      const parts = partsOf(delta.index)
      if (parts === null) return false
      parts.finish_reason ??= delta.finish_reason
      parts.stop_reason ??= delta.stop_reason
      parts.tokens.add(delta.tokenIds, delta.logprobs)
      const hasText = addText(parts, 'content', delta.content)
      const hasCalls = addCalls(parts, (delta.toolCalls ?? []).map(toChunkCall))
      return addText(parts, 'reasoning', delta.reasoning) || hasText || hasCalls
    },
    render: () => [...choices].sort(([left], [right]) => left - right).map(renderChoice),
    isCut: () => isCut,
  }
}

/** Returns a piece in the format of chunks. */
function toChunkCall({ index, id, ...called }: ToolCallPiece): unknown {
  return { index, id, function: called }
}

function renderChoice([index, parts]: [number, StreamedChoice]): unknown {
  const { role, texts, calls, tokens, finish_reason, stop_reason } = parts
  const { content, reasoning, reasoning_content, ...others } = Object.fromEntries(texts)
  const toolCalls = [...calls]
    .sort(([left], [right]) => left - right)
    .map(([, { id, type, name, arguments: text }]) => ({
      id,
      type: type ?? 'function',
      function: { name, arguments: text },
    }))
  return {
    index,
    message: {
      role,
      content: content ?? (toolCalls.length > 0 ? null : ''),
      ...others,
      ...renderReasoning(reasoning ?? reasoning_content),
      ...(toolCalls.length > 0 ? { tool_calls: toolCalls } : {}),
    },
    ...tokens.render(),
    finish_reason,
    ...(stop_reason === null || stop_reason === undefined ? {} : { stop_reason }),
  }
}
