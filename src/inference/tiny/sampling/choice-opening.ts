/** The beginning of every choice, before its first sampled token: an echo of the prompt, a scripted reasoning. */
import type { ReasoningEffort } from '../../../schemas/chat/chat-tool-fields.ts'
import type { ChoiceDelta } from '../../backend.ts'
import { decodeText } from '../text/text-assembler.ts'
import type { Tokenizer } from '../text/tokenizer.ts'
import type { CompletionPlan } from './completion-plan.ts'

/** A script for a model that does not reason: it says that it is one, and never changes the response. */
const SENTENCES = [
  'This reasoning is a script; the model thinks for itself only where enable_thinking asks for it.',
  'The prompt has {n} tokens.',
  'I look for a question that I was trained on.',
  'If I know it, I answer in one sentence.',
  'If not, I say that I do not know.',
] as const

/** How many of the sentences each effort gets. */
const LENGTH_OF: Readonly<Record<ReasoningEffort, number>> = {
  none: 0,
  minimal: 1,
  low: 2,
  medium: 3,
  high: 5,
  xhigh: 5,
  max: 5,
}

/** The opening chunks of all choices. */
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

/** The script for a prompt. Spec: §4.3 reasoning_effort. Choice: without an effort there is none. */
function writeReasoning(effort: ReasoningEffort, promptTokens: number): string {
  const sentences = SENTENCES.slice(0, LENGTH_OF[effort])
  return sentences.join(' ').replace('{n}', `${promptTokens}`)
}
