/**
 * The pieces of a chat's answer as the typed events of a response, in the documented order. Pure. A whole answer goes
 * the same way as one piece, so that there is one translation and not two.
 *
 * Order: response.created, response.in_progress; for each item output_item.added, its parts and deltas,
 * output_item.done; at last one of response.completed, response.incomplete, response.failed. One item is open at a
 * time.
 */
import { ApiError } from '../../errors.ts'
import {
  type ResponseBody,
  type ResponseHead,
  type ResponseState,
  renderResponse,
} from './responses-answer.ts'
import { createOutputItems, type OutputItems } from './responses-items.ts'

export interface ResponseEvent {
  readonly type: string
  /** From 0. */
  readonly sequence_number: number
  readonly [name: string]: unknown
}

type Fields = Readonly<Record<string, unknown>>

export interface ResponseWriter {
  /** The first events; called once, before all else. */
  open(): ResponseEvent[]
  /**
   * The events of one chunk of a chat.
   *
   * @throws ApiError upstream_invalid_response for pieces that cannot be put in order, or too much text
   */
  add(chunk: Fields): ResponseEvent[]
  /** Closes what is open; the state is then final. @param completedAt - seconds since the epoch */
  end(completedAt: number): ResponseEvent[]
  /** Closes what is open after a failure, or because it was cancelled. */
  fail(error: { readonly code: string; readonly message: string } | 'cancelled'): ResponseEvent[]
  /** The current response. */
  response(): ResponseBody
}

export function createResponseWriter(head: ResponseHead): ResponseWriter {
  let events: ResponseEvent[] = []
  let sequence = 0
  let finishReason: unknown = null

  function emit(type: string, fields: Fields): void {
    // Items change later: the event has a copy of their current state.
    events.push({ type, sequence_number: sequence++, ...structuredClone(fields) })
  }

  function taken(): ResponseEvent[] {
    const given = events
    events = []
    return given
  }

  const output = createOutputItems(head.id, emit)
  const calls = createCallPieces(output)
  const texts = createTextPieces(output)
  let state: ResponseState = { status: 'in_progress', output: output.items }

  function addChoice(choice: Fields): void {
    if (choice.index !== undefined && choice.index !== 0) return
    const delta = toObject(choice.delta)
    texts.add(delta, toObject(choice.logprobs).content)
    const pieces = Array.isArray(delta.tool_calls) ? delta.tool_calls : []
    for (const [place, piece] of pieces.entries()) calls.add(toObject(piece), place)
    finishReason = choice.finish_reason ?? finishReason
  }

  return {
    open() {
      const response = renderResponse(head, state)
      emit('response.created', { response })
      emit('response.in_progress', { response })
      return taken()
    },
    add(chunk) {
      const { choices, usage } = chunk
      for (const choice of Array.isArray(choices) ? choices : []) addChoice(toObject(choice))
      if (typeof usage === 'object' && usage !== null) state = { ...state, usage }
      return taken()
    },
    end(completedAt) {
      calls.requireNamed()
      const reason = INCOMPLETE_REASONS.get(finishReason)
      const status = reason === undefined ? 'completed' : 'incomplete'
      // A model that said nothing still answered.
      if (output.items.length === 0) output.addText('output_text', '')
      output.close(status)
      const why = reason === undefined ? {} : { incompleteReason: reason }
      state = { ...state, status, completedAt, ...why }
      emit(`response.${status}`, { response: renderResponse(head, state) })
      return taken()
    },
    fail(error) {
      const isCancelled = error === 'cancelled'
      output.close('incomplete')
      state = { ...state, ...(isCancelled ? { status: error } : { status: 'failed', error }) }
      const response = renderResponse(head, state)
      emit(isCancelled ? 'response.incomplete' : 'response.failed', { response })
      return taken()
    },
    response: () => renderResponse(head, state),
  }
}

/** Adds the texts of a delta, and the log-probabilities, which may come before the text that they belong to. */
function createTextPieces(output: OutputItems) {
  let held: unknown[] = []
  return {
    add(delta: Fields, logprobs: unknown): void {
      const { reasoning, reasoning_content, content, refusal } = delta
      const thought = isText(reasoning) ? reasoning : reasoning_content
      if (isText(thought)) output.addText('reasoning_text', thought)
      if (Array.isArray(logprobs)) held.push(...logprobs)
      if (isText(content)) {
        output.addText('output_text', content, held)
        held = []
      }
      if (isText(refusal)) output.addText('refusal', refusal)
    },
  }
}

/** Limit: calls whose name has not come yet. */
const UNNAMED_CALLS_MAX = 1_000

/** Adds the pieces of calls. Pieces that arrive before a call's name are buffered: an item is announced with its name. */
function createCallPieces(output: OutputItems) {
  const unnamed = new Map<number, { id: unknown; arguments: string }>()
  return {
    /** @param place - of the piece in its chunk, where it has no index */
    add(piece: Fields, place: number): void {
      const index = typeof piece.index === 'number' ? piece.index : place
      const called = toObject(piece.function)
      const text = typeof called.arguments === 'string' ? called.arguments : ''
      if (output.openCallIndex() === index) {
        output.addArguments(text)
        return
      }
      if (output.isClosed(index)) throw unusable('mixes the pieces of several tool calls')
      const early = unnamed.get(index) ?? { id: piece.id, arguments: '' }
      early.id ??= piece.id
      early.arguments += text
      const { name } = called
      if (isText(name)) {
        unnamed.delete(index)
        output.openCall({ name, id: early.id, index })
        output.addArguments(early.arguments)
      } else {
        if (unnamed.size >= UNNAMED_CALLS_MAX) throw unusable('sent too many calls without a name')
        unnamed.set(index, early)
      }
    },
    /** @throws ApiError upstream_invalid_response for a call whose name never came */
    requireNamed(): void {
      if (unnamed.size > 0) throw unusable('sent a tool call without a name')
    },
  }
}

function unusable(fault: string): ApiError {
  return new ApiError('upstream_invalid_response', { message: `The upstream ${fault}.` })
}

const INCOMPLETE_REASONS: ReadonlyMap<unknown, 'max_output_tokens' | 'content_filter'> = new Map([
  ['length', 'max_output_tokens'],
  ['content_filter', 'content_filter'],
])

/** A whole answer of a chat as one piece of a streamed one. */
export function toChunk(answer: Fields): Fields {
  const { choices, usage } = answer
  const [choice] = Array.isArray(choices) ? choices.map(toObject) : []
  if (choice === undefined) return { usage }
  const { index, message, finish_reason, logprobs } = choice
  const { tool_calls, ...said } = toObject(message)
  const calls = Array.isArray(tool_calls) ? tool_calls.map(toObject) : []
  const numbered = calls.map((call, at) => ({ ...call, index: at }))
  return {
    choices: [{ index, delta: { ...said, tool_calls: numbered }, finish_reason, logprobs }],
    usage,
  }
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== ''
}

function toObject(value: unknown): Fields {
  return typeof value === 'object' && value !== null ? (value as Fields) : {}
}
