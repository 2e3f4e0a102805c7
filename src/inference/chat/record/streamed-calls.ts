/** Assembles the tool calls of a streamed message from their pieces, and the one call of the deprecated form. */
import { calledIn, createCallNumbers } from '../../../domain/chat/call-numbers.ts'
import { isObject } from '../../../domain/json/is-object.ts'

interface CallParts {
  /** Place among the calls: its index, or its number without one. */
  readonly place: number
  id?: unknown
  type?: unknown
  name: string
  /** Or the input of a custom tool. */
  arguments: string
}

export interface StreamedCalls {
  /** Adds pieces of `tool_calls`; ignores what is no list. @returns whether it contained a piece of a call */
  add(pieces: unknown): boolean
  /** The same for a piece of `function_call`. */
  addLegacy(piece: unknown): boolean
  /** The fields of the message that hold the calls; none without calls. */
  render(): { readonly tool_calls?: unknown[]; readonly function_call?: unknown }
}

/** @param take - takes a text from the remaining budget; returns what of it is kept */
export function createStreamedCalls(take: (text: string) => string): StreamedCalls {
  const numberOf = createCallNumbers()
  const calls = new Map<number, CallParts>()
  let legacy: { name: string; arguments: string } | null = null

  function addFunction(call: { name: string; arguments: string }, piece: unknown): void {
    const { name, arguments: text, input } = isObject(piece) ? piece : {}
    if (typeof name === 'string') call.name += take(name)
    for (const part of [text, input]) if (typeof part === 'string') call.arguments += take(part)
  }

  function addCall(piece: unknown): boolean {
    const found = isObject(piece) ? numberOf(piece) : null
    if (!isObject(piece) || found === null) return false
    const place = found.index ?? found.number
    const call = calls.get(found.number) ?? { place, name: '', arguments: '' }
    calls.set(found.number, call)
    call.id ??= piece.id
    call.type ??= piece.type
    addFunction(call, calledIn(piece))
    return true
  }

  return {
    add: (pieces) => Array.isArray(pieces) && pieces.filter(addCall).length > 0,
    addLegacy(piece) {
      // Some engines send an empty one with every answer.
      if (!isObject(piece) || !(piece.name || piece.arguments)) return false
      legacy ??= { name: '', arguments: '' }
      addFunction(legacy, piece)
      return true
    },
    render: () => ({
      ...(calls.size > 0 ? { tool_calls: renderCalls(calls.values()) } : {}),
      ...(legacy === null ? {} : { function_call: legacy }),
    }),
  }
}

function renderCalls(calls: Iterable<CallParts>): unknown[] {
  return [...calls]
    .sort((left, right) => left.place - right.place)
    .map(({ id, type, name, arguments: text }) =>
      type === 'custom'
        ? { id, type, custom: { name, input: text } }
        : { id, type: type ?? 'function', function: { name, arguments: text } },
    )
}
