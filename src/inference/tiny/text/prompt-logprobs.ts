/** The log-probabilities of a prompt's tokens, in vLLM's format. Pure. */
import type { PromptLogprobs } from '../../backend.ts'
import { rankOfId } from '../sampling/ranking.ts'
import { describeToken } from '../sampling/sampler.ts'
import { decodeText } from './text-assembler.ts'
import type { Tokenizer } from './tokenizer.ts'

/**
 * Returns the log-probabilities of one token of the prompt and of the most likely ones, by id.
 *
 * @param logits - after the previous token; not modified
 * @param count - alternatives, -1 for the whole vocabulary
 *
 * Spec: §4.3 prompt_logprobs.
 * Choice: those of the model itself, ranks from 1; nothing is drawn in a prompt.
 */
export function describePromptToken(
  logits: Float32Array,
  id: number,
  count: number,
  tokenizer: Tokenizer,
): NonNullable<PromptLogprobs[number]> {
  const { logprob, top } = describeToken(logits, id, count)
  const shown = [...(top ?? []), { id, logprob }]
  return Object.fromEntries(
    shown.map((token) => [
      `${token.id}`,
      {
        logprob: token.logprob,
        rank: rankOfId(logits, token.id) + 1,
        decoded_token: decodeText(tokenizer.bytesOf(token.id)),
      },
    ]),
  )
}
