/**
 * Separates tool calls from the text of an answer that arrives in pieces. Only for answers constrained to the grammar
 * of calls: their form is trusted. The result must not depend on how the answer is split into pieces.
 */
import type { ToolCallChunk } from '../../backend.ts'
import { heldLength } from './stop-text.ts'

/** The format in which the model writes a tool call, as the chat template of the shipped model has it. */
export const CALL_OPENING = '<tool_call>'
export const CALL_CLOSING = '</tool_call>'

/** The text between the opening and the arguments, which a brace and the closing follow. */
export function writeCallHead(name: string): string {
  return `{"name": ${JSON.stringify(name)}, "arguments": `
}

/** The head of a call at the beginning of a text; its first group is the name as JSON. */
const CALL_HEAD = /^\{"name": ("(?:[^"\\]|\\.)*"), "arguments": /u

/** A piece of an answer, split into text and calls. */
interface ToolCallParts {
  readonly content: string
  /** What is added to the calls, in order. */
  readonly calls: readonly ToolCallChunk[]
  /** Whether there were calls so far and the last one is whole. */
  readonly isCalled: boolean
}

/** Splits one answer. */
interface ToolCallText {
  /** @param isLast - whether nothing follows: then no text is held back */
  push(piece: string, isLast: boolean): ToolCallParts
}

/**
 * Tells one answer apart.
 *
 * @param nameCall - the id of a call by its number from 0
 * @param mustCall - whether the answer is calls and nothing else
 *
 * Spec: §4.3 message tool_calls.
 * Choice: a call that is cut off before its arguments is left out, one that is cut off later has the
 * arguments so far.
 */
export function createToolCallText(
  nameCall: (number: number) => string,
  mustCall: boolean,
): ToolCallText {
  let place: 'text' | 'head' | 'arguments' | 'closing' = 'text'
  let held = ''
  let count = 0
  let depth = 0
  let inText = false
  let isEscaped = false

  function takeHeld(length: number): string {
    const taken = held.slice(0, length)
    held = held.slice(length)
    return taken
  }

  function takeText(isLast: boolean): string {
    const at = held.indexOf(CALL_OPENING)
    if (at < 0) {
      // Behind a call only the opening of another one can follow, so that the beginning of one is no text.
      const keepsOpening = !isLast || mustCall || count > 0
      return takeHeld(held.length - (keepsOpening ? heldLength(held, [CALL_OPENING]) : 0))
    }
    const text = takeHeld(at)
    takeHeld(CALL_OPENING.length)
    place = 'head'
    return text
  }

  function takeHead(): ToolCallChunk | null {
    const [head, name] = CALL_HEAD.exec(held) ?? []
    if (head === undefined || name === undefined) return null
    takeHeld(head.length)
    place = 'arguments'
    const index = count++
    return { index, id: nameCall(index), name: JSON.parse(name), arguments: '' }
  }

  /** Whether the character closes the object around the arguments. */
  function isBehind(character: string): boolean {
    if (isEscaped) isEscaped = false
    else if (inText && character === '\\') isEscaped = true
    else if (character === '"') inText = !inText
    else if (!inText && (character === '{' || character === '[')) depth++
    else if (!inText && (character === '}' || character === ']')) depth--
    return depth < 0
  }

  function takeArguments(): ToolCallChunk | null {
    let length = 0
    while (length < held.length && !isBehind(held.charAt(length))) length++
    const text = takeHeld(length)
    if (depth < 0) {
      depth = 0
      place = 'closing'
      takeHeld(1)
    }
    return text === '' ? null : { index: count - 1, arguments: text }
  }

  function takeClosing(): void {
    if (held.length < CALL_CLOSING.length) return
    takeHeld(CALL_CLOSING.length)
    place = 'text'
  }

  return {
    push(piece, isLast) {
      held += piece
      let content = ''
      const calls: ToolCallChunk[] = []
      for (let before = -1; before !== held.length; ) {
        before = held.length
        if (place === 'text') content += takeText(isLast)
        const begun = place === 'head' ? takeHead() : null
        if (begun !== null) calls.push(begun)
        const added = place === 'arguments' ? takeArguments() : null
        if (added !== null) calls.push(added)
        if (place === 'closing') takeClosing()
      }
      return { content, calls, isCalled: count > 0 && place === 'text' }
    },
  }
}
