/** The deltas of a legacy completion's prompts as its JSON texts: chunks, or one answer. */
import type { ChoiceDelta, Delta, PromptDelta, RelayedDelta, RelayedText } from '../../backend.ts'
import {
  type JudgedToken,
  judgePrompt,
  judgeTokens,
  type LegacyLogprobs,
  renderLogprobs,
} from './text-logprobs.ts'
import type { TextPlan } from './text-plan.ts'
import type { TokensChunk } from './token-text.ts'

/** What all texts of an answer begin with. */
interface TextHead {
  /** `cmpl-` and the request's id. */
  readonly id: string
  readonly object: 'text_completion'
  /** Seconds since the epoch. */
  readonly created: number
  readonly model: string
}

/** One prompt's way through the model. */
export interface PromptRun {
  /** The prompt's tokens, where they are judged. */
  readonly tokens: TokensChunk | null
  readonly deltas: AsyncIterable<Delta>
}

interface WrittenChoice {
  readonly index: number
  text: string
  readonly judged: JudgedToken[]
  /** How many of them a stream has sent, and their characters. */
  toldTokens: number
  toldChars: number
  /** Of its own tokens. */
  logprobSum: number
  tokenCount: number
  finish_reason: ChoiceDelta['finish_reason']
}

/** @param runs - of the prompts in order, each started on demand */
export async function* generateText(
  head: TextHead,
  plan: TextPlan,
  runs: AsyncIterable<PromptRun>,
): AsyncGenerator<RelayedDelta> {
  const usage = { prompt: 0, answer: 0 }
  const answered: WrittenChoice[] = []
  let number = 0
  for await (const { tokens, deltas } of runs) {
    const first = number++ * plan.choices
    const choices = new Map<number, WrittenChoice>()
    let judged: readonly JudgedToken[] = []
    for await (const delta of deltas) {
      if (delta.type === 'prompt') {
        usage.prompt += delta.promptTokens
        judged = judgeOwn(tokens, delta)
      }
      if (delta.type !== 'choice') continue
      usage.answer += delta.tokenCount
      const choice = choices.get(delta.index) ?? openChoice(first + delta.index, judged)
      choices.set(delta.index, choice)
      const piece = addDelta(choice, delta)
      if (plan.isStream && piece !== null) yield toChunk(head, plan, choice.index, piece)
    }
    answered.push(...chooseBest(plan, choices, first))
  }
  const total = {
    prompt_tokens: usage.prompt,
    completion_tokens: usage.answer,
    total_tokens: usage.prompt + usage.answer,
  }
  if (!plan.isStream) {
    const choices = answered.map((choice) =>
      renderChoice(plan, choice.index, { ...choice, offset: 0 }),
    )
    yield toDelta({ ...head, choices, usage: total })
  } else {
    yield toDelta({ ...head, choices: [], usage: total }, !plan.includesUsage)
  }
}

function judgeOwn(tokens: TokensChunk | null, { promptLogprobs }: PromptDelta): JudgedToken[] {
  if (tokens === null || promptLogprobs === undefined) return []
  return judgePrompt(tokens.ids, tokens.texts, promptLogprobs)
}

/** With an echo the tokens of the prompt precede those of the answer. */
function openChoice(index: number, judged: readonly JudgedToken[]): WrittenChoice {
  const told = { toldTokens: 0, toldChars: 0, logprobSum: 0, tokenCount: 0 }
  return { index, text: '', judged: [...judged], ...told, finish_reason: null }
}

interface Piece {
  readonly text: string
  readonly judged: readonly JudgedToken[]
  readonly finish_reason: ChoiceDelta['finish_reason']
  /** Where its first token begins. */
  readonly offset: number
}

/** Adds a delta. @returns what a stream sends for it, or null */
function addDelta(choice: WrittenChoice, delta: ChoiceDelta): Piece | null {
  const { content: text, finish_reason } = delta
  const fresh = judgeTokens(delta)
  choice.text += text
  choice.judged.push(...fresh)
  choice.finish_reason = finish_reason
  choice.tokenCount += fresh.length
  for (const { logprob } of fresh) choice.logprobSum += logprob ?? 0
  if (text === '' && fresh.length === 0 && finish_reason === null) return null
  const judged = choice.judged.slice(choice.toldTokens)
  const offset = choice.toldChars
  choice.toldTokens = choice.judged.length
  choice.toldChars += judged.reduce((sum, { token }) => sum + token.length, 0)
  return { text, judged, finish_reason, offset }
}

/** The answered choices of a prompt, the likeliest first where some are left out. */
function chooseBest(
  { choices, tried }: TextPlan,
  written: ReadonlyMap<number, WrittenChoice>,
  first: number,
): WrittenChoice[] {
  const all = [...written].sort(([a], [b]) => a - b).map(([, choice]) => choice)
  if (tried === choices) return all
  const ranked = all.sort((a, b) => scoreOf(b) - scoreOf(a))
  return ranked.slice(0, choices).map((choice, place) => ({ ...choice, index: first + place }))
}

/** Log-probability a token. */
function scoreOf({ logprobSum, tokenCount }: WrittenChoice): number {
  return logprobSum / Math.max(tokenCount, 1)
}

function renderChoice(
  { logprobs }: TextPlan,
  index: number,
  { text, judged, finish_reason, offset }: Piece,
) {
  const told: LegacyLogprobs | null = logprobs === null ? null : renderLogprobs(judged, offset)
  return { index, text, logprobs: told, finish_reason }
}

function toChunk(head: TextHead, plan: TextPlan, index: number, piece: Piece): RelayedDelta {
  return toDelta({ ...head, choices: [renderChoice(plan, index, piece)] })
}

export function toDelta(value: Readonly<Record<string, unknown>>, isHidden = false): RelayedDelta {
  const text: RelayedText = { json: JSON.stringify(value), value, isHidden }
  return { type: 'relayed', texts: [text] }
}
