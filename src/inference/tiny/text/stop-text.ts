/**
 * Finds stop strings in text that arrives in pieces, also across the boundaries of pieces. It must never release text
 * that could still be the start of a stop string.
 */

/** A search through one answer. */
interface StopText {
  /**
   * Takes the next piece.
   *
   * @param isArmed - false while the answer may not end yet: then nothing is searched or held back
   * @returns the text that may go out now; `stop` is the stop string that ended the answer, or null
   */
  push(piece: string, isArmed: boolean): { readonly text: string; readonly stop: string | null }
  /** What is still held back, when the answer ended without a stop string. */
  rest(): string
}

/**
 * A search for stop strings. The stop string that begins first wins, of those the first of the list.
 *
 * @param stops - not empty strings; holds back at most the longest one's length - 1
 * @param isIncluded - whether the found stop string stays in the text
 *
 * Spec: §4.3 stop, include_stop_str_in_output.
 * Choice: text that came before min_tokens is not searched, as the answer could not end there.
 */
export function createStopText(stops: readonly string[], isIncluded: boolean): StopText {
  // Half a character can never be generated; whole ones keep the cut between characters.
  const texts = stops.map((stop) => stop.toWellFormed())
  let held = ''
  return {
    push(piece, isArmed) {
      const text = held + piece
      held = ''
      if (!isArmed || texts.length === 0) return { text, stop: null }
      const found = findFirst(text, texts)
      if (found !== null) {
        const end = isIncluded ? found.at + found.stop.length : found.at
        return { text: text.slice(0, end), stop: found.stop }
      }
      const keep = heldLength(text, texts)
      held = text.slice(text.length - keep)
      return { text: text.slice(0, text.length - keep), stop: null }
    },
    rest() {
      const text = held
      held = ''
      return text
    },
  }
}

function findFirst(text: string, stops: readonly string[]): { at: number; stop: string } | null {
  let first: { at: number; stop: string } | null = null
  for (const stop of stops) {
    const at = text.indexOf(stop)
    if (at >= 0 && (first === null || at < first.at)) first = { at, stop }
  }
  return first
}

/** Length of the longest end of the text that begins one of the strings and is not whole. */
export function heldLength(text: string, stops: readonly string[]): number {
  let longest = 0
  for (const stop of stops) {
    for (let length = Math.min(stop.length - 1, text.length); length > longest; length--) {
      if (text.endsWith(stop.slice(0, length))) longest = length
    }
  }
  return longest
}
