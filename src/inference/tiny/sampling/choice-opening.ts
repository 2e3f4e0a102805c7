/** The beginning of every choice, before its first sampled token: an echo of the prompt, a scripted reasoning. */
import type { ChoiceDelta } from '../../backend.ts'
import { writeReasoning } from '../text/reasoning-script.ts'
import { decodeText } from '../text/text-assembler.ts'
import type { Tokenizer } from '../text/tokenizer.ts'
import type { CompletionPlan } from './completion-plan.ts'

/** The opening pieces of all choices. */
interface Opening {
  readonly deltas: readonly ChoiceDelta[]
  /** Tokens left for each answer; 0 when the choices have ended already. */
  readonly tokensMax: number
}

/**
 * The openings of a request's choices.
 *
 * Spec: §4.3 echo, reasoning_effort, include_reasoning.
 * Choice: the echo has no tokens; the reasoning's tokens count like those of the answer and are taken
 * from max_tokens, also when include_reasoning is false, which hides their text and ids. They have no
 * log-probabilities, since nobody drew them.
 */
export function openChoices(
  tokenizer: Tokenizer,
  { prompt, choices, reasoning, areIdsReturned }: CompletionPlan,
  { ids, tokensMax }: { readonly ids: readonly number[]; readonly tokensMax: number },
): Opening {
  const script = reasoning === null ? '' : writeReasoning(reasoning.effort, ids.length)
  const tokens = tokenizer.encode(script).slice(0, tokensMax)
  const echoed = findEcho(tokenizer, prompt, ids)
  const isShown = reasoning?.isShown === true
  const text = decodeText(Buffer.concat(tokens.map((id) => tokenizer.bytesOf(id))))
  const isAll = tokens.length === tokensMax
  const deltas = Array.from({ length: choices }, (_, index): ChoiceDelta[] => {
    const silent = { type: 'choice', index, content: '', tokenCount: 0, logprobs: null } as const
    const open = { finish_reason: null, stop_reason: null } as const
    const echo = echoed === null ? [] : [{ ...silent, ...open, content: echoed }]
    if (tokensMax === 0) return [...echo, { ...silent, ...open, finish_reason: 'length' }]
    if (tokens.length === 0) return echo
    const thought: ChoiceDelta = {
      ...silent,
      tokenCount: tokens.length,
      ...(isShown ? { reasoning: text } : {}),
      ...(isShown && areIdsReturned ? { tokenIds: tokens } : {}),
      finish_reason: isAll ? 'length' : null,
      stop_reason: null,
    }
    return [...echo, thought]
  })
  return { deltas: deltas.flat(), tokensMax: tokensMax - tokens.length }
}

/** What an answer begins with, or null; of a plain prompt its tokens' text. */
function findEcho(
  tokenizer: Tokenizer,
  prompt: CompletionPlan['prompt'],
  ids: readonly number[],
): string | null {
  if (!('plain' in prompt)) return prompt.echo
  return prompt.isEchoed ? decodeText(Buffer.concat(ids.map(tokenizer.bytesOf))) : null
}
