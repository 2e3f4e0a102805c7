/** Turns texts that may not be generated into the token sequences that would spell them. */
import type { PassLogits } from '../model/transformer.ts'
import type { Tokenizer } from '../text/tokenizer.ts'
import { NOTHING, type Step } from './steps.ts'

/**
 * Each word as it begins a text and as it follows a space. Waits after each word: all of them together would hold the
 * process up for seconds.
 *
 * Spec: §4.3 bad_words.
 * Choice: as in vLLM: space before the word is dropped, and a sequence is banned by its last token
 * wherever the others came before it in the answer. Spelling the word in other tokens stays possible.
 */
export function* tokenizeBadWords(
  words: readonly string[],
  tokenizer: Tokenizer,
): Generator<Step, number[][], PassLogits> {
  const distinct = new Map<string, number[]>()
  for (const word of words) {
    const bare = word.trimStart()
    for (const text of [bare, ` ${bare}`]) {
      const ids = tokenizer.encode(text)
      distinct.set(ids.join(), ids)
    }
    yield NOTHING
  }
  return [...distinct.values()].filter((ids) => ids.length > 0)
}
