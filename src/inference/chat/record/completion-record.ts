/**
 * Reassembles a completion from its deltas as they pass, for recording. A record never delays a delta and never grows
 * beyond its limit. Output that need not be JSON is recorded verbatim if it is text, otherwise only by its size.
 */
import {
  findUsage,
  hasObjectArguments,
  parseWithArgumentTexts,
  readTokens,
} from '../../../domain/chat/engine-dialects.ts'
import { mergeMessageUsage } from '../../../domain/chat/messages/messages-tables.ts'
import { isObject } from '../../../domain/json/is-object.ts'
import { exceedsDepth, JSON_DEPTH_MAX } from '../../../domain/json/json-limits.ts'
import { renderJson } from '../../../domain/json/json-text.ts'
import { readServiceTier } from '../../../domain/usage/usage.ts'
import type { ChoiceDelta, Delta, PromptDelta, RelayedDelta, RelayedText } from '../../backend.ts'
import { type ResponseEnvelope, renderUsage } from '../whole-completion.ts'
import { createStreamedChoices, type StreamedChoices } from './streamed-choices.ts'

/** Limit: characters of text kept of one answer; 4 Mi. */
export const RECORDED_CHARS_MAX = 4 * 1024 * 1024

/** A usage, and whether it counts a token for each piece of text, since none was reported. */
interface RecordedUsage {
  readonly counts: Readonly<Record<string, unknown>>
  readonly isEstimated: boolean
}

export interface CompletionRecord {
  note(delta: Delta): void
  /** Notes that the deltas come from the cache: nothing is used. */
  noteReplay(): void
  /** The usage reported or counted so far; an estimate for a stream that has reported none; null for nothing. */
  usage(): RecordedUsage | null
  /** Tokens used so far, for limits: those of `usage`. */
  tokenCount(): number
  /** When the first text, reasoning or tool call arrived, in the clock's unit; null before. */
  firstTokenAt(): number | null
  /** The answer received so far, as JSON text; `null` if nothing has arrived. */
  output(): string
  /** Whether text beyond the limit was left out, or something that nests too deeply to be written again. */
  isCut(): boolean
}

interface AnswerRecordOptions {
  readonly isStream: boolean
  /** Of an answer that is built here; a relayed one comes with its own. */
  readonly envelope?: ResponseEnvelope | undefined
  /** Whether `output` is needed; otherwise only counts are kept. */
  readonly keepsOutput: boolean
  readonly now: () => number
}

/**
 * Opens the record of one answer.
 *
 * Spec: §4.3 (nothing says what of a completion is recorded).
 * Choice: a relayed whole answer is recorded verbatim; other answers are reassembled into messages, with the
 * ids and log-probabilities of their tokens if requested, but without alternatives.
 */
export function createCompletionRecord(options: AnswerRecordOptions): CompletionRecord {
  const { isStream, envelope, keepsOutput, now } = options
  /** A whole answer has none. */
  let parts: StreamedChoices | null = null
  const openParts = () => {
    parts ??= createStreamedChoices(keepsOutput ? RECORDED_CHARS_MAX : 0)
    return parts
  }
  let head: Readonly<Record<string, unknown>> = {}
  let whole: RelayedText | null = null
  let prompt: PromptDelta | null = null
  let tokenCount = 0
  /** Pieces of text in a relayed stream; engines put one or more tokens in each. */
  let pieceCount = 0
  let told: Readonly<Record<string, unknown>> | null = null
  /** What the upstream says beside the usage that decides its price: the cost, and the tier of service. */
  let priced: Readonly<Record<string, string>> = {}
  let firstTokenAt: number | null = null
  let isTooDeep = false
  let isReplayed = false

  function noteText(text: RelayedText): void {
    // A whole answer, which can be long, is checked where it is written.
    if (isStream && exceedsDepth(text.json, JSON_DEPTH_MAX)) {
      isTooDeep = true
      return
    }
    const { id, created, model, delta, type } = text.value
    const tier = readServiceTier(isObject(text.value.response) ? text.value.response : text.value)
    if (tier !== null) priced = { ...priced, service_tier: tier }
    const usage = findUsage(text.value)
    if (usage !== null && (isStream || isWritable(usage))) {
      // The last report of a message may leave out the input.
      told = type === 'message_delta' ? mergeMessageUsage(told ?? {}, usage) : usage
    }
    // Typed events, such as those of responses, carry text in deltas; those of messages in objects.
    if ((typeof delta === 'string' && delta !== '') || type === 'content_block_delta') {
      firstTokenAt ??= now()
      pieceCount += 1
    }
    if (!isStream) {
      whole = text
      return
    }
    // An engine may begin with a chunk about the prompt, in which the id and the model are empty.
    if (!head.id) head = { id, created, model }
    if (keepsOutput) openParts().addChunk(text.value)
    for (const choice of choicesOf(text)) {
      if (!isObject(choice) || !openParts().addChunkChoice(choice)) continue
      firstTokenAt ??= now()
      pieceCount += 1
    }
  }

  function noteRelayed({ texts, cost }: RelayedDelta): void {
    for (const text of texts) noteText(text)
    if (cost !== undefined) priced = { ...priced, response_cost: cost }
  }

  function noteChoice(delta: ChoiceDelta): void {
    tokenCount += delta.tokenCount
    if (openParts().addDelta(delta)) firstTokenAt ??= now()
  }

  function usage(): RecordedUsage | null {
    if (isReplayed) return null
    const reported = told ?? (prompt === null ? null : { ...renderUsage(prompt, tokenCount) })
    const isEstimated = pieceCount > 0 && (reported === null || readTokens(reported).total === 0)
    if (!isEstimated) return reported && { counts: { ...priced, ...reported }, isEstimated }
    return { counts: { completion_tokens: pieceCount, total_tokens: pieceCount }, isEstimated }
  }

  return {
    note(delta) {
      if (delta.type === 'relayed') noteRelayed(delta)
      else if (delta.type === 'prompt') prompt = delta
      else if (delta.type === 'choice') noteChoice(delta)
      else told = delta.usage ?? told
    },
    noteReplay() {
      isReplayed = true
    },
    usage,
    tokenCount: () => readTokens(usage()?.counts ?? {}).total,
    firstTokenAt: () => (isStream ? firstTokenAt : null),
    output() {
      if (whole !== null) return isTooLong(whole) ? 'null' : whole.json
      const choices = parts?.render() ?? []
      if (choices.length === 0) return 'null'
      const ids = prompt?.promptIds ? { prompt_token_ids: prompt.promptIds } : {}
      const { id, created, model } = envelope ?? {}
      const own = prompt === null ? head : { id, created, model }
      const others = parts?.renderOthers()
      return renderJson({ ...own, object: 'chat.completion', choices, ...others, ...ids })
    },
    isCut: () => isTooDeep || (parts?.isCut() ?? false) || (whole !== null && isTooLong(whole)),
  }
}

/** Returns the choices of a chunk; arguments that are objects are recorded as their text. */
function choicesOf({ json, value }: RelayedText): readonly unknown[] {
  const chunk = hasObjectArguments(json) ? parseWithArgumentTexts(json) : value
  const choices = isObject(chunk) ? chunk.choices : null
  return Array.isArray(choices) ? choices : []
}

/** Whether a value does not nest too deeply to be written again. */
function isWritable(value: unknown): boolean {
  try {
    return !exceedsDepth(renderJson(value), JSON_DEPTH_MAX)
  } catch {
    return false
  }
}

function isTooLong({ json }: RelayedText): boolean {
  return json.length > RECORDED_CHARS_MAX
}

export interface FileRecord {
  note(delta: Delta): void
  /** Returns the JSON text of the answer received so far. */
  output(): string
}

export function createFileRecord(): FileRecord {
  let json: string | null = null
  let contentType: string | null = null
  let byteCount = 0
  let texts: Uint8Array[] = []

  return {
    note(delta) {
      if (delta.type === 'relayed') json = delta.texts[0]?.json ?? null
      if (delta.type !== 'bytes') return
      contentType = delta.contentType
      for (const piece of delta.pieces) byteCount += piece.length
      const isKept = contentType.startsWith('text/') && byteCount <= RECORDED_CHARS_MAX
      if (isKept) texts.push(...delta.pieces)
      else texts = []
    },
    output() {
      if (json !== null) return json
      if (contentType === null) return 'null'
      const text = texts.length === 0 ? {} : { text: Buffer.concat(texts).toString('utf8') }
      return JSON.stringify({ content_type: contentType, bytes: byteCount, ...text })
    },
  }
}
