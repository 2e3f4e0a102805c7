/**
 * A scripted reasoning for a model that does not reason: a few fixed sentences, as many as the effort asks for. It must
 * say that it is a script, and it never changes the answer.
 */
import type { ReasoningEffort } from '../../../schemas/chat/chat-tool-fields.ts'

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

/** The script for a prompt. Spec: §4.3 reasoning_effort. Choice: without an effort there is none. */
export function writeReasoning(effort: ReasoningEffort, promptTokens: number): string {
  const sentences = SENTENCES.slice(0, LENGTH_OF[effort])
  return sentences.join(' ').replace('{n}', `${promptTokens}`)
}
