/**
 * Turns the chosen tokens of one choice into pieces of its answer: text, log-probabilities, ids and the finish reason.
 * It must return every token exactly once, and the finish reason exactly once.
 */
import { createHash } from 'node:crypto'
import type { ChoiceDelta, TokenLogprob } from '../../backend.ts'
import { createStopText } from '../text/stop-text.ts'
import { createTextAssembler, decodeText } from '../text/text-assembler.ts'
import { createThinkingText } from '../text/thinking-text.ts'
import type { Tokenizer } from '../text/tokenizer.ts'
import { createToolCallText } from '../text/tool-call-text.ts'
import type { CompletionPlan } from './completion-plan.ts'
import type { Ranked, Sampled } from './sampler.ts'

/** One answer being written. */
export interface ChoiceWriter {
  /**
   * The piece of the next token; after the piece with a `finish_reason` it must not be called again.
   *
   * @param sampled - null when no token may follow
   * @param isLast - whether nothing may follow it for another reason, as a grammar's end
   */
  write(sampled: Sampled | null, isLast: boolean): ChoiceDelta
}

/** As many as the ids of other servers have. */
const CALL_ID_DIGITS = 24

type Ending = Pick<ChoiceDelta, 'finish_reason' | 'stop_reason'>
const GOING_ON: Ending = { finish_reason: null, stop_reason: null }
const AT_END: Ending = { finish_reason: 'stop', stop_reason: null }

/**
 * A writer of one choice.
 *
 * @param tokensMax - tokens that the answer may have, 1 or more
 *
 * Spec: §4.3 stop, stop_token_ids, ignore_eos, min_tokens, include_stop_str_in_output, logprobs,
 * return_token_ids, return_tokens_as_token_ids, include_reasoning, message tool_calls.
 * Choice: the token that ends an answer is counted and has its log-probability and id; its text is left
 * out unless include_stop_str_in_output asks for it. The model's own end is stop with a null stop_reason.
 * Stops are looked for in thoughts and calls too; where it is not shown, its tokens are counted and nothing else.
 */
export function createChoiceWriter(
  tokenizer: Tokenizer,
  plan: CompletionPlan,
  index: number,
  tokensMax: number,
): ChoiceWriter {
  const text = createTextAssembler(tokenizer, plan.special)
  const stopText = createStopText(plan.stops, plan.isStopIncluded)
  const thinking = plan.thought === null ? null : createThinkingText()
  const form = plan.constraint?.form
  const mustCall = form?.kind === 'calls' && form.isRequired
  const calling =
    plan.calls === null ? null : createToolCallText(nameCalls(plan.calls.seed, index), mustCall)
  const eosIds = plan.isEosIgnored ? [] : tokenizer.endIds
  let count = 0

  function endingOf(id: number, isLast: boolean): Ending {
    if (eosIds.includes(id)) return AT_END
    if (plan.stopIds.includes(id)) return { finish_reason: 'stop', stop_reason: id }
    if (isLast) return AT_END
    return count >= tokensMax ? { finish_reason: 'length', stop_reason: null } : GOING_ON
  }

  function isHidden(id: number): boolean {
    if (plan.isStopIncluded) return false
    return eosIds.includes(id) || plan.stopIds.includes(id)
  }

  function advance(sampled: Sampled | null, isLast: boolean): Ending & { content: string } {
    const ending = sampled === null ? AT_END : endingOf(sampled.id, isLast)
    let piece = sampled === null || isHidden(sampled.id) ? '' : text.push(sampled.id)
    if (ending.finish_reason !== null) piece += text.flush()
    const found = stopText.push(piece, count > plan.sampling.minTokens)
    if (found.stop !== null) {
      return { content: found.text, finish_reason: 'stop', stop_reason: found.stop }
    }
    const rest = ending.finish_reason === null ? '' : stopText.rest()
    return { content: found.text + rest, ...ending }
  }

  function splitThinking(content: string, isEnd: boolean) {
    const parts = thinking?.push(content, isEnd) ?? { reasoning: '', content, isThought: false }
    const isShown = plan.thought?.isShown !== false
    return {
      content: parts.content,
      ...(isShown && parts.reasoning !== '' ? { reasoning: parts.reasoning } : {}),
      isHidden: !isShown && parts.isThought,
    }
  }

  function takeCalls<T extends { readonly content: string }>(
    texts: T,
    { finish_reason, ...rest }: Ending,
  ) {
    if (calling === null) return { ...texts, ...rest, finish_reason }
    const { content, calls, isCalled } = calling.push(texts.content, finish_reason !== null)
    return {
      ...texts,
      content,
      ...(calls.length > 0 ? { toolCalls: calls } : {}),
      ...rest,
      finish_reason: isCalled && finish_reason === 'stop' ? ('tool_calls' as const) : finish_reason,
    }
  }

  return {
    write(sampled, isLast) {
      if (sampled !== null) count++
      const { content, ...ending } = advance(sampled, isLast)
      const { isHidden, ...texts } = splitThinking(content, ending.finish_reason !== null)
      const shown = isHidden ? null : sampled
      const isReported = shown !== null && shown.top !== null
      return {
        type: 'choice',
        index,
        tokenCount: sampled === null ? 0 : 1,
        logprobs: isReported ? [describeLogprob(tokenizer, shown, plan.areTokensIds)] : null,
        ...(plan.areIdsReturned ? { tokenIds: shown === null ? [] : [shown.id] } : {}),
        ...takeCalls(texts, ending),
      }
    },
  }
}

/** The ids of a choice's calls: different for each request and choice, equal when the request is repeated. */
function nameCalls(seed: string, index: number): (number: number) => string {
  return (number) => {
    const hash = createHash('sha256').update(JSON.stringify([seed, index, number]))
    return `call_${hash.digest('hex').slice(0, CALL_ID_DIGITS)}`
  }
}

function describeLogprob(tokenizer: Tokenizer, sampled: Sampled, areIds: boolean): TokenLogprob {
  const write = ({ id, logprob }: Ranked) => {
    const bytes = tokenizer.bytesOf(id)
    return { token: areIds ? `token_id:${id}` : decodeText(bytes), logprob, bytes: [...bytes] }
  }
  return { ...write(sampled), top_logprobs: (sampled.top ?? []).map(write) }
}
