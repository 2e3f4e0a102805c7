/** Converts the deltas of a completion to what is cached, and back to deltas, whole or as a stream. Pure. */
import { isObject } from '../../../domain/json/is-object.ts'
import { parseObject } from '../../../domain/json/json-values.ts'
import type {
  ChoiceDelta,
  Delta,
  PromptDelta,
  RelayedDelta,
  RelayedText,
  Service,
} from '../../backend.ts'
import { createResponseAssembly } from '../../openai/choice-usage.ts'
import { countChoices, toChunks } from '../../openai/event-rules.ts'
import type { CacheableRequest } from './request-digest.ts'

/** Limit: characters of one cached completion. */
const CACHED_CHARS_MAX = 1024 * 1024
/** Characters of JSON that a delta takes besides its texts, and an entry of log-probabilities, at least. */
const DELTA_CHARS = 64

/** The shape of a request's response. */
export interface ResponseShape {
  readonly service: 'chat' | Service
  readonly isStream: boolean
  /** Whether the client gets the usage of a stream. */
  readonly includesUsage: boolean
  /** Prompts times choices. */
  readonly choiceCount: number
}

export function toResponseShape({
  service,
  request,
}: Pick<CacheableRequest, 'service' | 'request'>): ResponseShape {
  const { stream, stream_options, n, prompt } = request as Record<string, unknown>
  return {
    service,
    isStream: stream === true,
    includesUsage: isObject(stream_options) && stream_options.include_usage === true,
    choiceCount: countChoices({ n: typeof n === 'number' ? n : 1, prompt }),
  }
}

/** What is stored: a whole chat of an upstream, the deltas of one made here, or the texts of a service. */
type Stored =
  | { readonly whole: string }
  | { readonly deltas: readonly Delta[] }
  | { readonly texts: readonly HidableText[] }

interface ResponseCapture {
  add(delta: Delta): void
  /** Drops what has been added. */
  clear(): void
  /** Returns what to store as JSON text; null for a response that must not be replayed. */
  render(): string | null
}

/**
 * Collects a response that may be cached.
 *
 * Spec: §4 (a cache is an addition).
 * Choice: only a response that the model ended by itself is cached, by a stop or a call. One that was cut by a limit of
 * tokens or a filter is not: who asks again wants another one.
 */
export function createResponseCapture(shape: ResponseShape): ResponseCapture {
  let deltas: Delta[] = []
  let left = CACHED_CHARS_MAX
  return {
    add(delta) {
      if (left < 0) return
      left -= delta.type === 'bytes' ? Number.POSITIVE_INFINITY : charsOf(delta)
      if (left < 0) deltas = []
      else deltas.push(delta)
    },
    clear() {
      deltas = []
      left = CACHED_CHARS_MAX
    },
    render() {
      const stored = left < 0 ? null : toStored(deltas, shape)
      const json = stored === null ? null : JSON.stringify(stored)
      return json === null || json.length > CACHED_CHARS_MAX ? null : json
    },
  }
}

function charsOf(delta: Exclude<Delta, { type: 'bytes' }>): number {
  if (delta.type === 'relayed') return delta.texts.reduce((sum, { json }) => sum + json.length, 0)
  if (delta.type === 'prompt') {
    return DELTA_CHARS * (1 + (delta.promptIds?.length ?? 0) + (delta.promptLogprobs?.length ?? 0))
  }
  const calls = (delta.toolCalls ?? []).reduce((sum, call) => sum + call.arguments.length, 0)
  const text = delta.content.length + (delta.reasoning?.length ?? 0) + calls
  return text + DELTA_CHARS * (1 + (delta.logprobs?.length ?? 0))
}

function toStored(deltas: readonly Delta[], shape: ResponseShape): Stored | null {
  const texts = deltas.flatMap((delta) => (delta.type === 'relayed' ? delta.texts : []))
  if (shape.service !== 'chat') {
    if (!isServiceEnded(texts, shape)) return null
    return { texts: texts.map(({ json, isHidden }) => [json, isHidden ? 1 : 0] as const) }
  }
  if (texts.length === 0) {
    const joined = joinDeltas(deltas)
    return areEnded(listEnds(joined), shape) ? { deltas: joined } : null
  }
  const whole = joinRelayed(texts, shape.isStream)
  return areEnded(endsOf(whole.value), shape) ? { whole: whole.json } : null
}

/** Returns the whole completion that an upstream's texts amount to. @param texts - at least one */
export function joinRelayed(texts: readonly RelayedText[], isStream: boolean): RelayedText {
  if (!isStream) return texts[0] as RelayedText
  const assembly = createResponseAssembly()
  for (const text of texts) assembly.add(text)
  return assembly.render()
}

/** Joins the deltas of each choice, as far as their order within the choice remains. */
function joinDeltas(deltas: readonly Delta[]): Delta[] {
  const joined: Delta[] = []
  const latest = new Map<number, number>()
  for (const delta of deltas) {
    if (delta.type !== 'choice') {
      joined.push(delta)
      continue
    }
    const at = latest.get(delta.index) ?? -1
    const last = joined[at]
    if (last?.type === 'choice' && canJoin(last, delta)) joined[at] = join(last, delta)
    else latest.set(delta.index, joined.push(delta) - 1)
  }
  return joined
}

/** Within a delta, reasoning comes before the text, and calls come last. */
function canJoin(last: ChoiceDelta, next: ChoiceDelta): boolean {
  if (last.toolCalls !== undefined) return false
  if (next.reasoning !== undefined && last.content !== '') return false
  const isSame = (name: 'logprobs' | 'tokenIds') => (last[name] ?? null) === (next[name] ?? null)
  const areBoth = (name: 'logprobs' | 'tokenIds') => Boolean(last[name] && next[name])
  return (['logprobs', 'tokenIds'] as const).every((name) => isSame(name) || areBoth(name))
}

function join(last: ChoiceDelta, next: ChoiceDelta): ChoiceDelta {
  const { reasoning, tokenIds, toolCalls } = next
  return {
    ...last,
    content: last.content + next.content,
    tokenCount: last.tokenCount + next.tokenCount,
    logprobs: last.logprobs && [...last.logprobs, ...(next.logprobs ?? [])],
    finish_reason: last.finish_reason ?? next.finish_reason,
    stop_reason: last.stop_reason ?? next.stop_reason,
    ...(tokenIds === undefined ? {} : { tokenIds: [...(last.tokenIds ?? []), ...tokenIds] }),
    ...(reasoning === undefined ? {} : { reasoning: (last.reasoning ?? '') + reasoning }),
    ...(toolCalls === undefined ? {} : { toolCalls }),
  }
}

/** How choices end that a model ended by itself. */
const ENDS: ReadonlySet<unknown> = new Set(['stop', 'tool_calls', 'function_call'])
const MESSAGE_ENDS: ReadonlySet<unknown> = new Set(['end_turn', 'tool_use', 'stop_sequence'])

type Ends = ReadonlyMap<unknown, unknown>

function areEnded(ends: Ends, { choiceCount }: ResponseShape): boolean {
  return ends.size >= choiceCount && [...ends.values()].every((end) => ENDS.has(end))
}

function listEnds(deltas: readonly Delta[]): Ends {
  const ends = new Map<unknown, unknown>()
  for (const delta of deltas) {
    if (delta.type === 'choice') {
      ends.set(delta.index, ends.get(delta.index) ?? delta.finish_reason)
    }
  }
  return ends
}

/** Returns the reason of each choice's end, by index. */
function endsOf(...values: readonly Readonly<Record<string, unknown>>[]): Ends {
  const ends = new Map<unknown, unknown>()
  for (const { choices } of values) {
    for (const choice of Array.isArray(choices) ? choices.filter(isObject) : []) {
      const index = choice.index ?? 0
      ends.set(index, ends.get(index) || choice.finish_reason || null)
    }
  }
  return ends
}

function isServiceEnded(texts: readonly RelayedText[], shape: ResponseShape): boolean {
  const values = texts.map(({ value }) => value)
  const last = values.at(-1)
  if (last === undefined) return false
  const { service, isStream } = shape
  if (service === 'embeddings') return Array.isArray(last.data) && last.data.length > 0
  if (service === 'completions') return areEnded(endsOf(...values), shape)
  if (service === 'responses') {
    return isStream ? last.type === 'response.completed' : last.status === 'completed'
  }
  if (service !== 'messages') return false
  if (!isStream) return MESSAGE_ENDS.has(last.stop_reason)
  const deltas = values.flatMap(({ delta }) => (isObject(delta) ? [delta] : []))
  return last.type === 'message_stop' && MESSAGE_ENDS.has(deltas.at(-1)?.stop_reason)
}

type HidableText = readonly [json: string, isHidden: 0 | 1]

/** Returns the deltas of a cached response in the shape of a request; null for a text of another format. */
export function replayResponse(json: string, shape: ResponseShape): readonly Delta[] | null {
  const stored = parseObject(json) as Stored | null
  if (stored === null) return null
  if ('deltas' in stored) return stored.deltas as readonly (PromptDelta | ChoiceDelta)[]
  const delta = 'whole' in stored ? replayWhole(stored.whole, shape) : relayTexts(stored.texts)
  return delta && [delta]
}

/** Returns a whole completion in the shape of a request; null if it is none. */
export function replayWhole(
  whole: string,
  { isStream, includesUsage }: ResponseShape,
): RelayedDelta | null {
  const value = parseObject(whole)
  if (value === null) return null
  if (!isStream) return relayTexts([[whole, 0]])
  const choiceCount = Array.isArray(value.choices) ? value.choices.length : 0
  const chunks = toChunks(whole, value)
  return relayTexts(
    chunks.map((json, at): HidableText => [json, at >= choiceCount && !includesUsage ? 1 : 0]),
  )
}

/** Returns null without texts, or if one is no object. */
function relayTexts(texts: readonly HidableText[]): RelayedDelta | null {
  const relayed = texts.flatMap(([json, isHidden]): RelayedText[] => {
    const value = parseObject(json)
    return value === null ? [] : [{ json, value, ...(isHidden === 1 ? { isHidden: true } : {}) }]
  })
  if (relayed.length === 0 || relayed.length < texts.length) return null
  return { type: 'relayed', texts: relayed }
}
