/**
 * Finds the most likely complete answers by beam search. Nothing is sampled: the same request gives the same answers
 * for every seed.
 */
import type { Engine } from '../host/engine.ts'
import type { KvCache } from '../model/kv-cache.ts'
import type { PassLogits } from '../model/transformer.ts'
import { rank } from './ranking.ts'
import { describeToken, type Sampled, type SamplingParams } from './sampler.ts'
import type { Step } from './steps.ts'
import { applyRules, createHistory, type TokenHistory } from './vocabulary-limits.ts'

/** Beams of one request. Limit: each holds a KV cache, and all go into one pass. */
export const BEAMS_MAX = 16

/** Where a search starts and what it may do. */
interface BeamStart {
  readonly promptIds: readonly number[]
  /** Holds the prompt; the search owns it. */
  readonly cache: KvCache
  /** The logits after the prompt. */
  readonly logits: Float32Array
  readonly width: number
  readonly lengthPenalty: number
  /** Tokens of an answer, 1 or more. */
  readonly tokensMax: number
  /** Ids that end an answer. */
  readonly endIds: readonly number[]
  readonly params: SamplingParams
}

interface Beam {
  readonly tokens: readonly Sampled[]
  /** Sum of the log-probabilities. */
  readonly total: number
  readonly history: TokenHistory
  readonly cache: KvCache
}

/** A beam and one more token. */
interface Candidate {
  readonly from: Beam
  readonly token: Sampled
  readonly total: number
}

interface Finished {
  readonly tokens: readonly Sampled[]
  readonly score: number
}

/**
 * The best answers, the best first; fewer than `width` when there are no more.
 *
 * Spec: §4.3 use_beam_search, length_penalty, n.
 * Choice: n is the width. An answer's score is the sum of its log-probabilities by its length, without
 * the end token, to the power of length_penalty. Log-probabilities are after bans, biases and penalties,
 * at temperature 1; temperature, top_p, top_k, min_p and seed have no effect.
 */
export function* searchBeams(
  engine: Engine,
  start: BeamStart,
): Generator<Step, readonly (readonly Sampled[])[], PassLogits> {
  const { width, tokensMax, endIds } = start
  const ends = new Set(endIds)
  let beams: Beam[] = [firstBeam(engine, start)]
  let rows: readonly Float32Array[] = [start.logits]
  let finished: Finished[] = []
  for (let length = 1; beams.length > 0; length++) {
    const candidates = beams
      .flatMap((beam, place) => extend(beam, rows[place] ?? start.logits, start))
      .sort((a, b) => b.total - a.total)
      .slice(0, 2 * width)
    const ended = candidates.filter(({ token }) => ends.has(token.id))
    const open = candidates.filter(({ token }) => !ends.has(token.id)).slice(0, width)
    finished.push(...ended.map((candidate) => finish(candidate, length - 1, start)))
    if (length === tokensMax) finished.push(...open.map((one) => finish(one, length, start)))
    finished = finished.sort((a, b) => b.score - a.score).slice(0, width)
    if (length === tokensMax || isSettled(finished, open, length, start)) break
    beams = grow(open)
    if (beams.length === 0) break
    const parts = beams.map(({ cache, tokens }) => ({
      ids: tokens.slice(-1).map(({ id }) => id),
      cache,
      wants: 'last' as const,
    }))
    const computed = yield { deltas: [], parts }
    rows = computed.map(([logits]) => logits ?? new Float32Array())
  }
  return finished.map(({ tokens }) => tokens)
}

function firstBeam({ tokenizer }: Engine, { promptIds, cache }: BeamStart): Beam {
  return { tokens: [], total: 0, history: createHistory(promptIds, tokenizer.size), cache }
}

/** The likeliest tokens behind a beam, twice as many as beams are kept: some of them may be ends. */
function extend(beam: Beam, raw: Float32Array, { params, width }: BeamStart): Candidate[] {
  const logits = applyRules(raw, params, beam.history, null)
  const best = rank(logits, 2 * width)
  const possible = [...best].filter((id) => (logits[id] ?? 0) > Number.NEGATIVE_INFINITY)
  return possible.map((id) => {
    const token = describeToken(logits, id, params.topLogprobs)
    return { from: beam, token, total: beam.total + token.logprob }
  })
}

/** The beams of the next step. The first one behind a beam takes over its cache, others copy it. */
function grow(open: readonly Candidate[]): Beam[] {
  const taken = new Set<KvCache>()
  return open.map(({ from, token, total }) => {
    const isFirst = !taken.has(from.cache)
    taken.add(from.cache)
    const counts = from.history.counts.slice()
    counts[token.id] = (counts[token.id] ?? 0) + 1
    const generated = [...from.history.generated, token.id]
    return {
      tokens: [...from.tokens, token],
      total,
      history: { inPrompt: from.history.inPrompt, counts, generated },
      // Nothing runs between these copies, so the cache still ends where the beam ended.
      cache: isFirst ? from.cache : from.cache.fork(),
    }
  })
}

function finish({ from, token, total }: Candidate, length: number, start: BeamStart): Finished {
  return { tokens: [...from.tokens, token], score: scoreOf(total, length, start) }
}

function scoreOf(total: number, length: number, { lengthPenalty }: BeamStart): number {
  return total / Math.max(1, length) ** lengthPenalty
}

/** Whether no open beam can still become better than the answers that are there. */
function isSettled(
  finished: readonly Finished[],
  open: readonly Candidate[],
  length: number,
  start: BeamStart,
): boolean {
  const worst = finished[start.width - 1]
  if (worst === undefined) return false
  // A total never rises, so the best score comes with either the longest or the present length.
  const bestLength = start.lengthPenalty > 0 ? start.tokensMax : length
  return open.every(({ total }) => scoreOf(total, bestLength, start) <= worst.score)
}
