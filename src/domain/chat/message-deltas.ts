/**
 * Reads the deltas of a chat's message, for the fronts that have another format than chats: texts, reasoning, citations
 * and calls, as engines write them. Pure.
 */
import { ApiError } from '../../errors.ts'
import { objectOrEmpty } from '../json/json-values.ts'
import { createCallNumbers, findUsage } from './engine-dialects.ts'

type Fields = Readonly<Record<string, unknown>>

type TextKind = 'output_text' | 'refusal' | 'reasoning_text'

/** Receives the parts of a message in their order. */
export interface DeltaSink {
  addText(kind: TextKind, text: string, logprobs?: readonly unknown[]): void
  /** Adds a citation to the text that is open. @returns whether there was one */
  addCitation(citation: object): boolean
  /** Begins a call. @param number - of the call in the chat */
  openCall(call: { name: string; id: unknown; number: number }): void
  /** Whether the call was begun. */
  hasCall(number: number): boolean
  /** @throws ApiError upstream_invalid_response when the arguments were complete */
  addArguments(number: number, text: string): void
}

/**
 * Converts a whole chat completion to one chunk of a streamed one. Of several choices, a response or a message has only the
 * first.
 */
export function toChunk(answer: Fields): Fields {
  const { choices, service_tier } = answer
  const usage = findUsage(answer)
  const all = Array.isArray(choices) ? choices.map(objectOrEmpty) : []
  const choice = all.find(({ index }) => index === 0) ?? all[0]
  if (choice === undefined) return { usage, service_tier }
  const { message, finish_reason, stop_reason, logprobs } = choice
  const { tool_calls, ...said } = objectOrEmpty(message)
  const numbered = Array.isArray(tool_calls)
    ? tool_calls.map((call, at) => ({ ...objectOrEmpty(call), index: at }))
    : tool_calls
  return {
    choices: [{ delta: { ...said, tool_calls: numbered }, finish_reason, stop_reason, logprobs }],
    usage,
    service_tier,
  }
}

interface MessageDeltas {
  /**
   * Adds those of a delta.
   *
   * @param logprobs - of its text; they may come before the text that they belong to
   * @throws ApiError upstream_invalid_response for what has no place in a response or message, or too much text
   */
  add(delta: Fields, logprobs: unknown): void
  /** @throws ApiError upstream_invalid_response for a call whose name never came */
  requireNamed(): void
}

/** @param output - receives what the deltas hold */
export function createMessageDeltas(output: DeltaSink): MessageDeltas {
  const calls = createCallDeltas(output)
  let held: unknown[] = []
  let citations: Fields[] = []

  /** Citations wait for the text that they belong to, if there is none yet. */
  function addCitations(annotations: unknown): void {
    citations.push(...readCitations(annotations))
    if (citations.every(output.addCitation)) citations = []
  }

  function addTexts({ reasoning, reasoning_content, content, refusal }: Fields): void {
    const thought = isText(reasoning) ? reasoning : reasoning_content
    if (isText(thought)) output.addText('reasoning_text', thought)
    for (const [type, text] of readContent(content)) {
      if (text === '') continue
      output.addText(type, text, type === 'output_text' ? held : [])
      if (type === 'output_text') held = []
    }
    if (isText(refusal)) output.addText('refusal', refusal)
  }

  return {
    add(delta, logprobs) {
      for (const one of Array.isArray(logprobs) ? logprobs : []) held.push(one)
      addTexts(delta)
      addCitations(delta.annotations)
      const { transcript, data } = objectOrEmpty(delta.audio)
      if (isText(transcript) || isText(data)) throw unusable('sent audio')
      const pieces = delta.tool_calls || []
      if (!Array.isArray(pieces)) throw unusable('sent tool calls that are no list')
      for (const piece of pieces) calls.add(objectOrEmpty(piece))
      // The deprecated form of one call; some engines send an empty one with every answer.
      const { name, arguments: text } = objectOrEmpty(delta.function_call)
      if (name || text) calls.add({ function: delta.function_call })
    },
    requireNamed: calls.requireNamed,
  }
}

type Texts = readonly (readonly [TextKind, string])[]

/** Returns the texts of a content: one text, or a list of parts. @throws ApiError upstream_invalid_response */
function readContent(content: unknown): Texts {
  if (content === undefined || content === null) return []
  if (typeof content === 'string') return [['output_text', content]]
  if (!Array.isArray(content)) throw unusable('sent content that is neither text nor parts')
  return content.flatMap(readPart)
}

function readPart(part: unknown): Texts {
  const { type, text, refusal, thinking } = objectOrEmpty(part)
  if (type === 'text' && typeof text === 'string') return [['output_text', text]]
  if (type === 'refusal' && typeof refusal === 'string') return [['refusal', refusal]]
  if (type !== 'thinking') throw unusable('sent a part that is neither text nor thinking')
  const thoughts = Array.isArray(thinking)
    ? thinking.map((one) => objectOrEmpty(one).text)
    : [thinking]
  return thoughts.map((thought) => {
    if (typeof thought !== 'string') throw unusable('sent thinking that is no text')
    return ['reasoning_text', thought]
  })
}

/** Returns the citations of a message as a response has them. Some engines send one instead of a list. */
function readCitations(annotations: unknown): Fields[] {
  const list = Array.isArray(annotations) ? annotations : [annotations]
  return list.flatMap((annotation) => {
    const { url, title, start_index, end_index } = objectOrEmpty(
      objectOrEmpty(annotation).url_citation,
    )
    if (!isText(url)) return []
    const place = { start_index: start_index ?? 0, end_index: end_index ?? 0 }
    return [{ type: 'url_citation', ...place, title: title ?? '', url }]
  })
}

/** Adds the pieces of calls. Pieces that arrive before a call's name are buffered: an item is announced with its name. */
function createCallDeltas(output: DeltaSink) {
  const numberOf = createCallNumbers()
  const unnamed = new Map<number, { id: unknown; arguments: string }>()
  return {
    add(piece: Fields): void {
      const found = numberOf(piece)
      if (found === null) throw unusable('sent too many tool calls')
      const { number } = found
      const { name, arguments: text = null } = objectOrEmpty(piece.function)
      if (text !== null && typeof text !== 'string')
        throw unusable('sent arguments that are no text')
      if (output.hasCall(number)) {
        output.addArguments(number, text ?? '')
        return
      }
      const early = unnamed.get(number) ?? { id: piece.id, arguments: '' }
      early.id ??= piece.id
      early.arguments += text ?? ''
      if (isText(name)) {
        unnamed.delete(number)
        output.openCall({ name, id: early.id, number })
        output.addArguments(number, early.arguments)
      } else {
        unnamed.set(number, early)
      }
    },
    requireNamed(): void {
      if (unnamed.size > 0) throw unusable('sent a tool call without a name')
    },
  }
}

function unusable(fault: string): ApiError {
  return new ApiError('upstream_invalid_response', { message: `The upstream ${fault}.` })
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== ''
}
