/** Assembles the tool calls of a streamed message from their pieces, and the one call of the deprecated form. */
import { calledIn, createCallNumbers } from '../../../domain/chat/engine-dialects.ts'
import { isObject } from '../../../domain/json/is-object.ts'
import { createMergedMembers, type MergedMembers, type RecordBudget } from './merged-members.ts'

/** Members of a call, and of what it calls, that have rules of their own. */
const CALL_MEMBERS = new Set(['index', 'id', 'type', 'function', 'custom'])
const CALLED_MEMBERS = new Set(['name', 'arguments', 'input'])

interface CallParts {
  /** Position among the calls: its index, or its number without one. */
  readonly place: number
  id?: unknown
  type?: unknown
  name: string
  /** Or the input of a custom tool. */
  arguments: string
  /** The other members of the call, and of what it calls. */
  readonly others: MergedMembers
  readonly calledOthers: MergedMembers
}

export interface StreamedCalls {
  /** Adds pieces of `tool_calls`; ignores what is no list. @returns whether it contained a piece of a call */
  add(pieces: unknown): boolean
  /** The same for a piece of `function_call`. */
  addLegacy(piece: unknown): boolean
  /** The fields of the message that hold the calls; none without calls. */
  render(): { readonly tool_calls?: unknown[]; readonly function_call?: unknown }
}

export function createStreamedCalls(budget: RecordBudget): StreamedCalls {
  const { take } = budget
  const numberOf = createCallNumbers()
  const calls = new Map<number, CallParts>()
  let legacy: { name: string; arguments: string } | null = null

  function addFunction(call: { name: string; arguments: string }, piece: unknown): void {
    const { name, arguments: text, input } = isObject(piece) ? piece : {}
    if (typeof name === 'string') call.name += take(name)
    for (const part of [text, input]) if (typeof part === 'string') call.arguments += take(part)
  }

  function openCall(place: number): CallParts {
    const merged = (except: ReadonlySet<string>) =>
      createMergedMembers({ mode: 'increments', except, budget })
    const others = merged(CALL_MEMBERS)
    return { place, name: '', arguments: '', others, calledOthers: merged(CALLED_MEMBERS) }
  }

  function addCall(piece: unknown): boolean {
    const found = isObject(piece) ? numberOf(piece) : null
    if (!isObject(piece) || found === null) return false
    const place = found.index ?? found.number
    const call = calls.get(found.number) ?? openCall(place)
    calls.set(found.number, call)
    call.id ??= piece.id
    call.type ??= piece.type
    const called = calledIn(piece)
    addFunction(call, called)
    call.others.add(piece)
    if (called) call.calledOthers.add(called)
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
    .map(({ id, type, name, arguments: text, others, calledOthers }) => {
      const more = calledOthers.render()
      return type === 'custom'
        ? { id, type, custom: { name, input: text, ...more }, ...others.render() }
        : {
            id,
            type: type ?? 'function',
            function: { name, arguments: text, ...more },
            ...others.render(),
          }
    })
}
