/** Converts the content, the usage and the end of a result of the AI SDK to those of a completion. */
import type {
  LanguageModelV4Content,
  LanguageModelV4FinishReason,
  LanguageModelV4GenerateResult,
  LanguageModelV4StreamPart,
  LanguageModelV4Usage,
} from '@ai-sdk/provider'
import {
  type Metadata,
  pickMetadata,
  renderContinuation,
  toExtraContent,
} from '../../domain/chat/continuation.ts'
import { ApiError } from '../../errors.ts'

export type Fields = Readonly<Record<string, unknown>>
export type PartOf<T extends string> = Extract<LanguageModelV4StreamPart, { type: T }>

/** Names of an answer where the provider gives none. */
export interface ResponseNames {
  readonly id: string
  readonly model: string
  /** Seconds since the epoch. */
  readonly created: number
  /** Whether reasoning is passed on. */
  readonly showsReasoning: boolean
}

/** Returns the usage in the form of chats, whose counts of input hold cached input; null if it is not known. */
export function toUsage(usage: LanguageModelV4Usage | undefined): Fields | null {
  const prompt_tokens = usage?.inputTokens?.total
  const completion_tokens = usage?.outputTokens?.total
  if (prompt_tokens === undefined || completion_tokens === undefined) return null
  // A broken stream may count nothing, which is no count.
  if (prompt_tokens === 0 && completion_tokens === 0) return null
  const { cacheRead, cacheWrite } = usage?.inputTokens ?? {}
  const reasoning_tokens = usage?.outputTokens?.reasoning
  const details = {
    ...(cacheRead === undefined ? {} : { cached_tokens: cacheRead }),
    ...(cacheWrite === undefined ? {} : { cache_write_tokens: cacheWrite }),
  }
  return {
    prompt_tokens,
    completion_tokens,
    total_tokens: prompt_tokens + completion_tokens,
    ...(Object.keys(details).length === 0 ? {} : { prompt_tokens_details: details }),
    ...(reasoning_tokens === undefined ? {} : { completion_tokens_details: { reasoning_tokens } }),
  }
}

/** The provider's own words for an answer that is not whole. */
const BROKEN = /error|timeout|malformed/i

/**
 * Returns the reason for the end of a whole answer; null for one that broke off or failed.
 *
 * Spec: §4.3 response.
 * Choice: packages end a broken stream with `other` and without a word of the provider.
 */
export function toFinishReason({ unified, raw }: LanguageModelV4FinishReason): string | null {
  switch (unified) {
    case 'stop':
    case 'length':
      return unified
    case 'content-filter':
      return 'content_filter'
    case 'tool-calls':
      return 'tool_calls'
    case 'other':
      return raw === undefined || BROKEN.test(raw) ? null : 'stop'
    default:
      return null
  }
}

export function brokenOff(): ApiError {
  return new ApiError('upstream_error', { message: 'The upstream broke off its answer.' })
}

const url = ({ data, mediaType }: PartOf<'file'>): string => {
  if (data.type === 'url') return data.url.href
  const base64 =
    typeof data.data === 'string' ? data.data : Buffer.from(data.data).toString('base64')
  return `data:${mediaType};base64,${base64}`
}

export const toImage = (file: PartOf<'file'>) => ({
  type: 'image_url',
  image_url: { url: url(file) },
})

export function toAnnotation(source: PartOf<'source'>): Fields[] {
  if (source.sourceType !== 'url') return []
  return [{ type: 'url_citation', url_citation: { url: source.url, title: source.title ?? '' } }]
}

/** Reasoning with what must be kept of it; an empty list if nothing must. */
export function toDetails(text: string, metadata: Metadata | null): Fields[] {
  if (metadata === null) return []
  const kept = renderContinuation(metadata)
  if (text === '') return [{ type: 'reasoning.encrypted', data: kept }]
  return [{ type: 'reasoning.text', text, signature: kept }]
}

/** What must be kept of a call, also for clients that return nothing with a call. */
export function toCallDetails(id: string, metadata: Metadata | null): Fields[] {
  if (Object.keys(toExtraContent(metadata)).length === 0 || metadata === null) return []
  return [{ type: 'reasoning.encrypted', data: renderContinuation(metadata, id) }]
}

/** @throws ApiError upstream_error */
export function toCompletion(result: LanguageModelV4GenerateResult, names: ResponseNames): Fields {
  const { content, usage, response, finishReason } = result
  const finish_reason = toFinishReason(finishReason)
  if (finish_reason === null) throw brokenOff()
  const ofType = <T extends LanguageModelV4Content['type']>(type: T) =>
    content.filter((part) => part.type === type) as Extract<LanguageModelV4Content, { type: T }>[]
  const texts = ofType('text').map(({ text }) => text)
  const calls = ofType('tool-call').filter(({ providerExecuted }) => !providerExecuted)
  const images = ofType('file').map(toImage)
  const annotations = ofType('source').flatMap(toAnnotation)
  const message = {
    role: 'assistant',
    content: texts.length === 0 ? null : texts.join(''),
    refusal: null,
    ...toThoughts(ofType('reasoning'), calls, names),
    ...(calls.length > 0 ? { tool_calls: calls.map(toCall) } : {}),
    ...(images.length > 0 ? { images } : {}),
    ...(annotations.length > 0 ? { annotations } : {}),
  }
  const told = toUsage(usage)
  return {
    id: response?.id ?? names.id,
    object: 'chat.completion',
    created: names.created,
    model: response?.modelId ?? names.model,
    choices: [{ index: 0, message, logprobs: null, finish_reason }],
    ...(told === null ? {} : { usage: told }),
  }
}

function toThoughts(
  thoughts: readonly { readonly text: string; readonly providerMetadata?: unknown }[],
  calls: readonly PartOf<'tool-call'>[],
  { showsReasoning }: ResponseNames,
): Fields {
  const reasoning = thoughts.map(({ text }) => text).join('')
  const details = [
    ...thoughts.flatMap(({ text, providerMetadata }) =>
      toDetails(showsReasoning ? text : '', pickMetadata(providerMetadata)),
    ),
    ...calls.flatMap(({ toolCallId, providerMetadata }) =>
      toCallDetails(toolCallId, pickMetadata(providerMetadata)),
    ),
  ]
  return {
    ...(reasoning === '' || !showsReasoning ? {} : { reasoning, reasoning_content: reasoning }),
    ...(details.length === 0 ? {} : { reasoning_details: details }),
  }
}

function toCall({ toolCallId: id, toolName: name, input, providerMetadata }: PartOf<'tool-call'>) {
  const called = { name, arguments: input === '' ? '{}' : input }
  const extra = toExtraContent(pickMetadata(providerMetadata))
  return { id, type: 'function', function: called, ...extra }
}
