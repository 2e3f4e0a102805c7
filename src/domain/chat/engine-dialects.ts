/** Reads parts of completions that engines write in different ways: tool calls and usage. Pure. */
import { isObject } from '../json/is-object.ts'
import { exceedsDepth, JSON_DEPTH_MAX } from '../json/json-limits.ts'
import { parseLossless, renderJson } from '../json/json-text.ts'
import { countOrZero, filledTextOrNull } from '../json/json-values.ts'

/** Limit: calls of one message. */
const CALLS_MAX = 1_000

/** A call of a message. */
interface NumberedCall {
  /** Number of the call from 0, in order of their beginnings. */
  readonly number: number
  /** Index as sent with the first chunk; null without one. */
  readonly index: number | null
  id: string | null
  isNamed: boolean
}

/**
 * Returns a function that finds the call of each chunk; it returns null for calls beyond the limit.
 *
 * A chunk belongs to the call with its index, or without an index to the latest call, unless its id names another
 * one. A name begins another call where the last one has a name already: with an index only if it has a new id,
 * too.
 *
 * Spec: §4.3 message tool_calls (pieces of them are not shown).
 * Choice: engines that leave out the index, or send 0 with every call, are understood. An id without a name begins
 * nothing, since some engines send a new one with every piece.
 */
export function createCallNumbers(): (
  piece: Readonly<Record<string, unknown>>,
) => Readonly<NumberedCall> | null {
  const all: NumberedCall[] = []
  const byIndex = new Map<number, NumberedCall[]>()

  function begin(index: number | null): NumberedCall | null {
    if (all.length === CALLS_MAX) return null
    const call = { number: all.length, index, id: null, isNamed: false }
    all.push(call)
    if (index !== null) byIndex.set(index, [...(byIndex.get(index) ?? []), call])
    return call
  }

  return (piece) => {
    const index = typeof piece.index === 'number' ? piece.index : null
    const id = filledTextOrNull(piece.id)
    const isNamed = filledTextOrNull(calledIn(piece)?.name) !== null
    const candidates = index === null ? all : (byIndex.get(index) ?? [])
    const known = id === null ? undefined : candidates.findLast((call) => call.id === id)
    const last = candidates.at(-1)
    const isNext = isNamed && last?.isNamed === true && (index === null || id !== null)
    const call = known ?? (isNext ? undefined : last) ?? begin(index)
    if (call === null) return null
    call.id ??= id
    call.isNamed ||= isNamed
    return call
  }
}

/** Returns the function, or the custom tool, of a chunk of a call. */
export function calledIn(piece: Readonly<Record<string, unknown>>) {
  return [piece.function, piece.custom].find(isObject)
}

const OBJECT_ARGUMENTS = /"arguments"\s*:\s*[{[]/

/**
 * Parses a JSON text; `arguments` that are objects or lists become their JSON text, with every digit. Other numbers
 * may be rounded.
 *
 * @throws SyntaxError
 *
 * Spec: §4.3 message tool_calls.
 * Choice: arguments are text everywhere, also from the engines that send objects.
 */
export function parseWithArgumentTexts(json: string): unknown {
  return hasObjectArguments(json) ? JSON.parse(withTexts(json)) : JSON.parse(json)
}

/** Whether a text has such arguments; one that nests too deeply to be written again counts as having none. */
export function hasObjectArguments(json: string): boolean {
  return (
    json.includes('"arguments"') &&
    OBJECT_ARGUMENTS.test(json) &&
    !exceedsDepth(json, JSON_DEPTH_MAX)
  )
}

function withTexts(json: string): string {
  return JSON.stringify(parseLossless(json), (key, value) =>
    key === 'arguments' && typeof value === 'object' && value !== null && !JSON.isRawJSON(value)
      ? renderJson(value)
      : value,
  )
}

type Fields = Readonly<Record<string, unknown>>

/**
 * Returns the reported usage, or null. Typed events have it in the response of the last one or in the message of the
 * first one, and Groq has it below `x_groq` in the last chunk.
 *
 * Spec: §4.3 usage (chunk format not shown). Choice: the places where common engines put it.
 */
export function findUsage({ usage, response, message, x_groq }: Fields): Fields | null {
  if (isObject(usage)) return usage
  for (const holder of [response, message]) {
    if (isObject(holder) && isObject(holder.usage)) return holder.usage
  }
  return isObject(x_groq) && isObject(x_groq.usage) ? x_groq.usage : null
}

/**
 * Returns the tokens of a usage; 0 for each that is missing or no whole number. The total may follow from the others. The
 * input of a message lies beside what a cache had or took.
 */
export function readTokens(usage: Fields) {
  const cached =
    countOrZero(usage.cache_read_input_tokens) + countOrZero(usage.cache_creation_input_tokens)
  const prompt = countOrZero(usage.prompt_tokens) || countOrZero(usage.input_tokens) + cached
  const output = countOrZero(usage.completion_tokens ?? usage.output_tokens)
  return { prompt, output, total: countOrZero(usage.total_tokens) || prompt + output }
}
