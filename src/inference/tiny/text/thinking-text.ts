/**
 * Tells the `<think>` part that opens an answer from the answer, in text that comes in pieces.
 * Whatever the pieces, both texts must come out the same, and nothing may be lost but the two tags and the
 * white space around them.
 */
import { heldLength } from './stop-text.ts'

/** A piece of text, split into reasoning and answer. */
interface ThinkingParts {
  readonly reasoning: string
  readonly content: string
  /** Whether the text so far ends inside the thought or right behind it. */
  readonly isThought: boolean
}

/** Splits one answer. */
interface ThinkingText {
  /** @param isLast - whether nothing follows: then nothing is held back */
  push(piece: string, isLast: boolean): ThinkingParts
}

const OPENING = '<think>'
const CLOSING = '</think>'

/**
 * Tells one answer apart.
 *
 * Spec: §4.3 message reasoning (how a thought is told from the answer is not shown).
 * Choice: an answer that does not begin with the tag is all content; a thought that is not closed is all
 * reasoning; later tags are plain text.
 */
export function createThinkingText(): ThinkingText {
  let place: 'start' | 'tag' | 'thought' | 'gap' | 'answer' = 'start'
  let held = ''

  function takeHeld(length: number): string {
    const taken = held.slice(0, length)
    held = held.slice(length)
    return taken
  }

  function skipSpace(next: 'thought' | 'answer'): void {
    held = held.trimStart()
    if (held !== '') place = next
  }

  function openThought(isLast: boolean): void {
    const text = held.trimStart()
    if (text.startsWith(OPENING)) {
      place = 'tag'
      held = text.slice(OPENING.length)
    } else if (isLast || !OPENING.startsWith(text)) {
      place = 'answer'
    }
  }

  function takeThought(isLast: boolean): string {
    const end = held.indexOf(CLOSING)
    if (end >= 0) {
      place = 'gap'
      const thought = takeHeld(end).trimEnd()
      takeHeld(CLOSING.length)
      return thought
    }
    const kept = isLast ? 0 : heldLength(held, [CLOSING])
    return takeHeld(held.slice(0, held.length - kept).trimEnd().length)
  }

  return {
    push(piece, isLast) {
      held += piece
      if (place === 'start') openThought(isLast)
      if (place === 'tag') skipSpace('thought')
      const reasoning = place === 'thought' ? takeThought(isLast) : ''
      if (place === 'gap') skipSpace('answer')
      const content = place === 'answer' ? takeHeld(held.length) : ''
      return { reasoning, content, isThought: !['start', 'answer'].includes(place) }
    },
  }
}
