/** Grammars tried with whole texts, through the real engine. */
import type { Grammar } from '../../../src/inference/tiny/constraints/grammar-engine.ts'
import type { Engine } from '../../../src/inference/tiny/host/engine.ts'

/** Whether a text, token by token of its bytes, is a whole answer. */
export async function accepts(
  { tokenizer }: Engine,
  grammar: Grammar,
  text: string,
): Promise<boolean> {
  const follower = await grammar.follow()
  const ids = [...Array.from(text, (one) => tokenizer.encode(one)).flat(), tokenizer.endIds[0] ?? 0]
  try {
    for (const id of ids) {
      while (follower.mask() === null) await new Promise(setImmediate)
      const word = follower.mask()?.[id >> 5] ?? 0
      if (((word >>> (id & 31)) & 1) === 0) return false
      follower.accept(id)
    }
    return true
  } finally {
    follower.end()
  }
}
