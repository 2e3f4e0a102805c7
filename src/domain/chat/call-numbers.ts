/** Finds the tool call of a streamed message that a chunk belongs to. Pure. */
import { isObject } from '../json/is-object.ts'
import { filledTextOrNull } from '../json/json-values.ts'

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
