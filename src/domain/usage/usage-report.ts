/** Reads one report of usage, whatever its naming, as counts that each hold a token once. Pure. */
import { isObject } from '../json/is-object.ts'
import type { UsageReporter } from './usage-reporter.ts'

/** Tokens of one model in one call; whole numbers >= 0. */
export interface TokenCounts {
  /** The whole input: what a cache had or took, audio and images included. */
  readonly input_tokens: number
  /** Input that was neither read from a cache nor written to one; audio and images included. */
  readonly uncached_input_tokens: number
  /** Parts of uncached_input_tokens. */
  readonly input_audio_tokens: number
  readonly input_image_tokens: number
  readonly cache_read_input_tokens: number
  /** The part of cache_read_input_tokens that is audio. */
  readonly cache_read_audio_tokens: number
  /** Input written to a cache, whatever its lifetime. */
  readonly cache_creation_input_tokens: number
  /** The part of cache_creation_input_tokens that is cached for an hour. */
  readonly cache_creation_1h_input_tokens: number
  /** The whole output: reasoning, audio and images included. */
  readonly output_tokens: number
  /** Parts of output_tokens. */
  readonly reasoning_tokens: number
  readonly output_audio_tokens: number
  readonly output_image_tokens: number
  readonly total_tokens: number
}

interface ReadReport {
  readonly counts: TokenCounts
  /** Whether no name of a count has one. */
  readonly isEmpty: boolean
  /** Whether the reporter and the arithmetic leave two readings. */
  readonly isAmbiguous: boolean
  /** What is no count, and totals that contradict their parts; each as `<field> <rule>`. */
  readonly problems: readonly string[]
}

type Json = Readonly<Record<string, unknown>>

/** Names of the whole prompt, or in Anthropic's and Bedrock's own objects of what no cache had. */
const PROMPT = ['prompt_tokens', 'prompt_token_count', 'promptTokenCount', 'prompt_eval_count']
const INPUT = ['input_tokens', 'inputTokens', 'promptTokens']
const COMPLETION = [
  'completion_tokens',
  'candidates_token_count',
  'candidatesTokenCount',
  'eval_count',
]
const OUTPUT = ['output_tokens', 'outputTokens', 'completionTokens']
const TOTAL = ['total_tokens', 'total_token_count', 'totalTokenCount', 'totalTokens']
/** Names of cached input beside the details, which say nothing of where it is counted. */
const CACHE_READ = [
  'cache_read_input_tokens',
  'cache_read_tokens',
  'cacheReadInputTokens',
  'cacheReadTokens',
]
/** The same of providers that always count it as input. */
const CACHED = [
  'cached_tokens',
  'cachedInputTokens',
  'cached_content_token_count',
  'cachedContentTokenCount',
  'cachedContentTokens',
  'prompt_cache_hit_tokens',
]
const CACHE_WRITE = [
  'cache_creation_input_tokens',
  'cache_write_input_tokens',
  'cache_write_tokens',
  'cacheWriteInputTokens',
  'cacheWriteTokens',
]
const REASONING = ['reasoning_tokens', 'reasoningTokens']
/** Gemini's thoughts, which its own counts of candidates leave out. */
const THOUGHTS = ['thoughts_tokens', 'thoughts_token_count', 'thoughtsTokenCount', 'thoughtsTokens']
const TOOL_PROMPT = ['tool_use_prompt_token_count', 'toolUsePromptTokenCount']
const INPUT_DETAILS = [
  'prompt_tokens_details',
  'input_tokens_details',
  'input_token_details',
  'inputTokenDetails',
]
const OUTPUT_DETAILS = [
  'completion_tokens_details',
  'output_tokens_details',
  'output_token_details',
  'outputTokenDetails',
]

/** Models whose providers have cached input inside of `input_tokens`, unlike Anthropic, whose names these are. */
const COUNTS_INSIDE =
  /\b(?:gpt|chatgpt|o[134]|gemini|grok|deepseek|mistral|qwen|kimi|glm)(?:\b|-|\d)/i

/**
 * Reads a report.
 *
 * Spec: §2.5 summary (shape not shown). Choice: cached input lies inside the input where the report has it in details,
 * where the input is spelled `prompt_tokens`, or where the reporter or the model's provider is known to add it; it lies
 * beside an `input_tokens` that is smaller, where only that sum makes the total, and in Anthropic's own counts. Thoughts and
 * reasoning lie outside the output where only that sum makes the total. Prompt and input spellings are added up, so are
 * completion and output, unless the total says that they repeat each other.
 */
export function readReport(
  report: Json,
  model: string,
  reporter: UsageReporter | null,
): ReadReport {
  const problems: string[] = []
  let isEmpty = true
  const read = createCountReader(problems)
  const first: First = (holder, names) => {
    const count = read(holder, names)
    if (count !== null) isEmpty = false
    return count
  }
  const inputDetails = detailsOf(report, INPUT_DETAILS)
  const outputDetails = detailsOf(report, OUTPUT_DETAILS)
  const reported = first(report, TOTAL)

  const parts = readParts(report, inputDetails, first)
  const { prompt, input } = parts.sent
  const { completion, output } = parts.answered
  const repeats =
    reported !== null &&
    ((prompt > 0 && prompt === input) || (completion > 0 && completion === output)) &&
    reported === Math.max(prompt, input) + Math.max(completion, output)
  const sent = (repeats ? Math.max(prompt, input) : prompt + input) + parts.toolPrompt
  const visible = repeats ? Math.max(completion, output) : completion + output

  const thoughts = first(report, THOUGHTS)
  const reasoning =
    first(outputDetails, [...REASONING, 'reasoning', 'thinking_tokens']) ??
    first(report, REASONING) ??
    thoughts ??
    0
  const cache = { read: parts.read, written: parts.written }
  const sums = { sent, visible, reasoning, cached: cache.read + cache.written, reported }
  const isOutside = liesOutside(sums, thoughts !== null)
  const placed = placeCache(sums, isOutside, { ...parts, model, reporter })
  const gross = capped(placed.isBeside ? sent + sums.cached : sent)
  const whole = capped(isOutside ? visible + reasoning : visible)
  if (!placed.isBeside && sums.cached > gross) {
    problems.push('has more cached input than input')
  }
  const uncached = Math.max(0, gross - sums.cached)
  const audioIn = Math.min(uncached, Math.max(0, parts.audio - parts.cachedAudio))
  const audioOut = Math.min(whole, first(outputDetails, ['audio_tokens', 'audio']) ?? 0)
  const imageOut = Math.min(whole - audioOut, first(outputDetails, ['image_tokens', 'image']) ?? 0)
  const isShort = reported !== null && reported < gross + whole && gross + whole > 0
  const isWrong = isShort && reported !== sent + visible
  if (isWrong) problems.push('total_tokens is less than its parts')
  return {
    isEmpty,
    isAmbiguous: placed.isAmbiguous,
    problems,
    counts: {
      input_tokens: gross,
      uncached_input_tokens: uncached,
      input_audio_tokens: audioIn,
      input_image_tokens: Math.min(uncached - audioIn, parts.image),
      cache_read_input_tokens: cache.read,
      cache_read_audio_tokens: Math.min(cache.read, parts.cachedAudio),
      cache_creation_input_tokens: cache.written,
      cache_creation_1h_input_tokens: Math.min(cache.written, parts.writtenForHour),
      output_tokens: whole,
      reasoning_tokens: Math.min(whole - audioOut - imageOut, reasoning),
      output_audio_tokens: audioOut,
      output_image_tokens: imageOut,
      total_tokens: reported === null || isShort ? capped(gross + whole) : reported,
    },
  }
}

type First = (holder: Json, names: readonly string[]) => number | null

/** The counts of a report by their names, before it is decided what holds what. */
function readParts(report: Json, details: Json, first: First) {
  const cachedDetails = isObject(details.cached_tokens_details) ? details.cached_tokens_details : {}
  const lifetimes = isObject(report.cache_creation) ? report.cache_creation : details
  const inside = first(details, ['cached_tokens', 'cache_read', 'cacheReadTokens'])
  const writtenInside = first(details, [
    ...['cache_write_tokens', 'cache_creation', 'cache_creation_tokens'],
    ...['cached_creation_tokens', 'cacheWriteTokens'],
  ])
  const always = first(report, CACHED)
  const read = first(report, CACHE_READ)
  const written = first(report, CACHE_WRITE)
  const forHour = first(lifetimes, ['ephemeral_1h_input_tokens']) ?? 0
  const forMinutes = first(lifetimes, ['ephemeral_5m_input_tokens']) ?? 0
  return {
    sent: { prompt: first(report, PROMPT) ?? 0, input: first(report, INPUT) ?? 0 },
    answered: { completion: first(report, COMPLETION) ?? 0, output: first(report, OUTPUT) ?? 0 },
    toolPrompt: first(report, TOOL_PROMPT) ?? 0,
    read: read || inside || always || 0,
    written: written || writtenInside || forHour + forMinutes,
    writtenForHour: forHour,
    /** Whether the report says itself that the input holds what is cached. */
    isInside: inside !== null || writtenInside !== null || always !== null,
    audio: first(details, ['audio_tokens', 'audio']) ?? 0,
    image: first(details, ['image_tokens', 'image']) ?? 0,
    cachedAudio: first(cachedDetails, ['audio_tokens']) ?? 0,
  }
}

interface Sums {
  readonly sent: number
  readonly visible: number
  readonly reasoning: number
  readonly cached: number
  readonly reported: number | null
}

/** Whether reasoning is counted beside the output. */
function liesOutside({ sent, visible, reasoning, cached, reported }: Sums, isThoughts: boolean) {
  if (reasoning === 0) return false
  if (reasoning > visible) return true
  if (reported === null) return isThoughts
  const held = [sent + visible, sent + cached + visible]
  if (held.includes(reported)) return false
  return isThoughts || held.some((sum) => reported === sum + reasoning)
}

interface CacheReport {
  readonly sent: { readonly prompt: number; readonly input: number }
  readonly isInside: boolean
  readonly model: string
  readonly reporter: UsageReporter | null
}

/** Whether cached input is counted beside the input, and whether that is only the likelier reading. */
function placeCache(
  { sent, visible, reasoning, cached, reported }: Sums,
  isOutside: boolean,
  { sent: { prompt }, isInside, model, reporter }: CacheReport,
): { isBeside: boolean; isAmbiguous: boolean } {
  const inside = { isBeside: false, isAmbiguous: false }
  const beside = { isBeside: true, isAmbiguous: false }
  if (cached === 0) return inside
  if (isInside) return cached > sent && prompt === 0 ? beside : inside
  const answered = isOutside ? visible + reasoning : visible
  if (reported === sent + cached + answered || (cached > sent && prompt === 0)) return beside
  if (reported === sent + answered || prompt > 0) return inside
  if (reporter?.cachedInput) return reporter.cachedInput === 'inside' ? inside : beside
  return { isBeside: !COUNTS_INSIDE.test(model), isAmbiguous: true }
}

function detailsOf(report: Json, names: readonly string[]): Json {
  return names.map((name) => report[name]).find(isObject) ?? {}
}

/** Sums stay integers that a double holds exactly. */
function capped(sum: number): number {
  return Math.min(sum, Number.MAX_SAFE_INTEGER)
}

/** Reads the first count that is given under one of some names; what is no count is a problem, and none. */
function createCountReader(problems: string[]): First {
  return (holder, names) => {
    for (const name of names) {
      const value = holder[name]
      if (value === undefined || value === null) continue
      const count = toCount(value)
      if (count !== null) return count
      if (!isObject(value)) problems.push(`${name} is no whole number from 0 to 2^53 - 1`)
    }
    return null
  }
}

/** Counts also come as texts; fractions are cut. */
function toCount(value: unknown): number | null {
  const number = typeof value === 'string' && /^\d{1,16}$/.test(value) ? Number(value) : value
  if (typeof number !== 'number' || !(number >= 0)) return null
  const count = Math.trunc(number)
  return Number.isSafeInteger(count) ? count : null
}
