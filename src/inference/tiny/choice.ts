/**
 * One choice of a completion: token after token, until something ends it.
 * It must give out every token exactly once and say exactly once how it ended.
 */
import type { ChoiceDelta, TokenLogprob } from '../backend.ts'
import type { CompletionPlan } from './completion-plan.ts'
import type { Engine } from './engine.ts'
import type { KvCache } from './kv-cache.ts'
import { createRandom } from './random.ts'
import { createSamplerState, type Ranked, type Sampled, sampleToken } from './sampler.ts'
import { createStopText } from './stop-text.ts'
import { createTextAssembler, decodeText } from './text-assembler.ts'

/** One answer under way. */
export interface Choice {
  /** Makes one token; after the piece with a `finish_reason` it must not be called again. */
  step(): ChoiceDelta
}

/** What all choices of a request share. */
export interface ChoiceStart {
  readonly index: number
  readonly promptIds: readonly number[]
  /** Holds the prompt; the choice owns it. */
  readonly cache: KvCache
  /** The logits after the prompt; left as they are. */
  readonly logits: Float32Array
  /** Tokens that the choice may have, 1 or more. */
  readonly tokensMax: number
}

type Ending = Pick<ChoiceDelta, 'finish_reason' | 'stop_reason'>
const GOING_ON: Ending = { finish_reason: null, stop_reason: null }

/**
 * A choice right after its prompt.
 *
 * Spec: §4.3 stop, stop_token_ids, ignore_eos, min_tokens, include_stop_str_in_output, logprobs.
 * Choice: the token that ends an answer is counted and has its log-probability; its text is left out
 * unless include_stop_str_in_output asks for it. The model's own end is stop with a null stop_reason.
 */
export function createChoice(engine: Engine, plan: CompletionPlan, start: ChoiceStart): Choice {
  const { tokenizer, transformer } = engine
  const { promptIds, index, cache, tokensMax } = start
  const eosIds = plan.isEosIgnored ? [] : tokenizer.endIds
  const params = { ...plan.sampling, endIds: [...eosIds, ...plan.stopIds] }
  const state = createSamplerState(createRandom(plan.seed, index), promptIds, tokenizer.size)
  const text = createTextAssembler()
  const stopText = createStopText(plan.stops, plan.isStopIncluded)
  let previous: number | null = null

  function endingOf(id: number): Ending {
    if (eosIds.includes(id)) return { finish_reason: 'stop', stop_reason: null }
    if (plan.stopIds.includes(id)) return { finish_reason: 'stop', stop_reason: id }
    if (state.generated >= tokensMax) return { finish_reason: 'length', stop_reason: null }
    return GOING_ON
  }

  function advance(sampled: Sampled | null): Ending & { content: string } {
    let ending: Ending = { finish_reason: 'stop', stop_reason: null }
    let piece = ''
    if (sampled !== null) {
      ending = endingOf(sampled.id)
      const isHidden = ending.finish_reason === 'stop' && !plan.isStopIncluded
      const isShown = !isHidden && !tokenizer.isControl(sampled.id)
      if (isShown) piece = text.push(tokenizer.bytesOf(sampled.id))
    }
    if (ending.finish_reason !== null) piece += text.flush()
    const found = stopText.push(piece, state.generated > plan.sampling.minTokens)
    if (found.stop !== null) {
      return { content: found.text, finish_reason: 'stop', stop_reason: found.stop }
    }
    const rest = ending.finish_reason === null ? '' : stopText.rest()
    return { content: found.text + rest, ...ending }
  }

  return {
    step() {
      const logits = previous === null ? start.logits : transformer.forward([previous], cache)
      const sampled = sampleToken(logits, params, state)
      previous = sampled?.id ?? null
      const isReported = sampled !== null && sampled.top !== null
      return {
        type: 'choice',
        index,
        tokenCount: sampled === null ? 0 : 1,
        logprobs: isReported ? [describe(engine, sampled)] : null,
        ...advance(sampled),
      }
    },
  }
}

function describe({ tokenizer }: Engine, sampled: Sampled): TokenLogprob {
  const write = ({ id, logprob }: Ranked) => {
    const bytes = tokenizer.bytesOf(id)
    return { token: decodeText(bytes), logprob, bytes: [...bytes] }
  }
  return { ...write(sampled), top_logprobs: (sampled.top ?? []).map(write) }
}
