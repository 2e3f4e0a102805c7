/**
 * Assembles the choices of a streamed completion from its chunks, as client libraries do. Chunks of an unknown shape are
 * skipped, since recording must never fail a completion.
 */
import { isObject } from '../../../domain/json/is-object.ts'
import type { ChoiceDelta, ToolCallChunk } from '../../backend.ts'
import { renderReasoning } from '../whole-completion.ts'
import {
  createMergedMembers,
  createStreamedContent,
  type MergedMembers,
  type StreamedContent,
  sizeOf,
} from './merged-members.ts'
import { createStreamedCalls, type StreamedCalls } from './streamed-calls.ts'

/** Limit: an upstream could send any number of choices. */
const CHOICES_MAX = 1_000

/** Texts of a message, besides its content, that arrive in pieces. */
const TEXTS = ['refusal', 'reasoning', 'reasoning_content'] as const
/** Members of a chunk, a delta and a choice that have rules of their own; `obfuscation` is random padding. */
const CHUNK_MEMBERS = new Set([
  'id',
  'object',
  'created',
  'model',
  'choices',
  'usage',
  'obfuscation',
])
const DELTA_MEMBERS = new Set(['role', 'content', 'tool_calls', 'function_call', ...TEXTS])
const CHOICE_MEMBERS = new Set([
  'index',
  'delta',
  'text',
  'logprobs',
  'token_ids',
  'finish_reason',
  'stop_reason',
])

interface StreamedChoice {
  role: unknown
  readonly content: StreamedContent
  readonly texts: Map<string, string>
  /** The other members of the message, and of the choice. */
  readonly others: MergedMembers
  readonly ownOthers: MergedMembers
  readonly calls: StreamedCalls
  readonly tokens: TokenParts
  finish_reason: unknown
  stop_reason: unknown
}

export interface StreamedChoices {
  /** Adds the members of a chunk other than its choices. */
  addChunk(chunk: Readonly<Record<string, unknown>>): void
  /** Adds an element of a chunk's `choices`. @returns whether it contained text, reasoning or a call */
  addChunkChoice(choice: Readonly<Record<string, unknown>>): boolean
  /** The same for a backend's own delta. */
  addDelta(delta: ChoiceDelta): boolean
  /** Returns the choices so far, ordered by index, as in a whole answer. */
  render(): unknown[]
  /** Returns the members of the chunks so far that a whole answer has beside its choices. */
  renderOthers(): Readonly<Record<string, unknown>>
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

  const budget = { take, spend }
  const others = createMergedMembers({ mode: 'states', except: CHUNK_MEMBERS, budget })

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
      content: createStreamedContent(budget),
      texts: new Map(),
      others: createMergedMembers({ mode: 'increments', except: DELTA_MEMBERS, budget }),
      ownOthers: createMergedMembers({ mode: 'states', except: CHOICE_MEMBERS, budget }),
      calls: createStreamedCalls(budget),
      tokens: createTokenParts(spend),
      finish_reason: null,
      stop_reason: null,
    }
    choices.set(index, parts)
    return parts
  }

  return {
    addChunk: others.add,
    addChunkChoice(choice) {
      // An engine with one choice may leave out its index.
      const parts = partsOf(choice.index ?? 0)
      if (parts === null) return false
      // Some engines send an empty reason with each piece.
      parts.finish_reason ??= choice.finish_reason || null
      parts.stop_reason ??= choice.stop_reason
      // Legacy completions have the text in the choice itself.
      const delta = isObject(choice.delta) ? choice.delta : { content: choice.text }
      if (typeof delta.role === 'string' && delta.role !== '') parts.role = delta.role
      parts.tokens.add(choice.token_ids, isObject(choice.logprobs) ? choice.logprobs : {})
      let hasNews = parts.content.add(delta.content)
      for (const name of TEXTS) if (addText(parts, name, delta[name])) hasNews = true
      if (parts.others.add(delta)) hasNews = true
      parts.ownOthers.add(choice)
      if (parts.calls.addLegacy(delta.function_call)) hasNews = true
      return parts.calls.add(delta.tool_calls) || hasNews
    },
    addDelta(delta) {
      const parts = partsOf(delta.index)
      if (parts === null) return false
      parts.finish_reason ??= delta.finish_reason
      parts.stop_reason ??= delta.stop_reason
      parts.tokens.add(delta.tokenIds, { content: delta.logprobs })
      const hasText = parts.content.add(delta.content)
      const hasCalls = parts.calls.add(delta.toolCalls?.map(toChunkCall))
      return addText(parts, 'reasoning', delta.reasoning) || hasText || hasCalls
    },
    render: () => [...choices].sort(([left], [right]) => left - right).map(renderChoice),
    renderOthers: others.render,
    isCut: () => isCut,
  }
}

/** Returns a piece in the format of chunks. */
function toChunkCall({ index, id, ...called }: ToolCallChunk): unknown {
  return { index, id, function: called }
}

function renderChoice([index, parts]: [number, StreamedChoice]): unknown {
  const { role, content, texts, others, ownOthers, calls, tokens } = parts
  const { finish_reason, stop_reason } = parts
  const { reasoning, reasoning_content, ...otherTexts } = Object.fromEntries(texts)
  const members = { ...otherTexts, ...others.render(), ...calls.render() }
  return {
    index,
    message: {
      role,
      content: content.render() ?? (Object.keys(members).length > 0 ? null : ''),
      ...renderReasoning(reasoning ?? reasoning_content),
      ...members,
    },
    ...tokens.render(),
    ...ownOthers.render(),
    finish_reason,
    ...(stop_reason === null || stop_reason === undefined ? {} : { stop_reason }),
  }
}

type Entry = Readonly<Record<string, unknown>>

interface TokenParts {
  /** Adds the ids and entries of a piece; ignores values that are not lists. */
  add(tokenIds: unknown, logprobs: Entry): void
  /** Returns the fields for a whole choice; only those that occurred in pieces. */
  render(): { readonly logprobs?: unknown; readonly token_ids?: unknown }
}

/** The log-probabilities of a text, and of a refusal. */
const LISTS = ['content', 'refusal'] as const

/** Characters of JSON that an entry and an id take in addition to the entry's text. */
const ENTRY_CHARS = 64
const ID_CHARS = 7

/**
 * @param spend - takes characters from the remaining budget; returns false when too few are left
 *
 * Spec: §4.3 logprobs, return_token_ids (nothing says what of them is recorded).
 * Choice: only the sampled tokens, without alternatives.
 */
function createTokenParts(spend: (chars: number) => boolean): TokenParts {
  let ids: unknown[] | null = null
  const entries: Partial<Record<(typeof LISTS)[number], Entry[]>> = {}
  let isWhole = true

  function addIds(pieces: readonly unknown[]): void {
    isWhole &&= spend(pieces.length * ID_CHARS)
    ids ??= []
    if (isWhole) for (const id of pieces) ids.push(id)
  }

  function addEntries(list: Entry[], pieces: readonly Entry[]): void {
    for (const { token, logprob, bytes } of pieces) {
      isWhole &&= spend(charsOf(token) + ENTRY_CHARS)
      if (isWhole) list.push({ token, logprob, bytes: bytes ?? null, top_logprobs: [] })
    }
  }

  return {
    add(tokenIds, logprobs) {
      if (Array.isArray(tokenIds)) addIds(tokenIds)
      for (const name of LISTS) {
        const pieces = logprobs[name]
        if (!Array.isArray(pieces)) continue
        entries[name] ??= []
        addEntries(entries[name], pieces.filter(isObject))
      }
    },
    render() {
      if (!isWhole) return {}
      const { content = null, refusal = null } = entries
      return {
        ...((content ?? refusal) ? { logprobs: { content, refusal } } : {}),
        ...(ids === null ? {} : { token_ids: ids }),
      }
    },
  }
}

function charsOf(token: unknown): number {
  return typeof token === 'string' ? token.length : sizeOf(token ?? '')
}
