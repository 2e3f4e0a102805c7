/** Turns texts that may not be generated into the token sequences that would spell them. Pure. */
import type { Tokenizer } from '../text/tokenizer.ts'

/**
 * Each word as it begins a text and as it follows a space.
 *
 * Spec: §4.3 bad_words.
 * Choice: as in vLLM: space before the word is dropped, and a sequence is banned by its last token
 * wherever the others came before it in the answer. Spelling the word in other tokens stays possible.
 */
export function toBadSequences(words: readonly string[], tokenizer: Tokenizer): number[][] {
  const sequences = words.flatMap((word) => {
    const bare = word.trimStart()
    return [bare, ` ${bare}`].map((text) => tokenizer.encode(text))
  })
  const distinct = new Map(sequences.map((ids) => [ids.join(), ids]))
  return [...distinct.values()].filter((ids) => ids.length > 0)
}
