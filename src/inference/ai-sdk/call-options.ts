/** Converts the fields of a chat other than its messages to call options of the AI SDK. */
import type { JSONSchema7, LanguageModelV4CallOptions } from '@ai-sdk/provider'
import { isFunctionTool } from '../../domain/chat/field-rules.ts'
import { resolveResponseFormatType } from '../../domain/chat/response-format-type.ts'
import { objectOrEmpty, textOrEmpty } from '../../domain/json/json-values.ts'
import { refuse } from '../../errors.ts'
import type { ChatCompletionRequest } from '../../schemas/chat/chat-request.ts'
import type { PackageTraits } from './fields.ts'

/** Options by provider, such as `{"google": {...}}`. */
export type ProviderOptions = Readonly<Record<string, Readonly<Record<string, unknown>>>>

interface OptionRules {
  readonly traits: PackageTraits
  /** Options of each call, from the models file. */
  readonly providerOptions: ProviderOptions
  readonly callsTools: boolean
}

export type Settings = Omit<LanguageModelV4CallOptions, 'prompt' | 'abortSignal'>

/** @throws ApiError unsupported_value */
export function toSettings(request: ChatCompletionRequest, rules: OptionRules): Settings {
  const { temperature, top_p, seed, presence_penalty, frequency_penalty } = request
  const settings = {
    maxOutputTokens: request.max_completion_tokens ?? request.max_tokens,
    temperature,
    topP: top_p,
    topK: (request.top_k ?? 0) > 0 ? request.top_k : null,
    seed,
    presencePenalty: presence_penalty || null,
    frequencyPenalty: frequency_penalty || null,
    stopSequences: toStops(request.stop),
    reasoning: request.reasoning_effort,
    responseFormat: toFormat(request.response_format),
    ...toTools(request, rules.callsTools),
    providerOptions: toProviderOptions(request, rules),
  }
  const given = Object.entries(settings).filter(
    ([, value]) => value !== null && value !== undefined,
  )
  return Object.fromEntries(given) as Settings
}

function toStops(stop: ChatCompletionRequest['stop']): string[] | null {
  const stops = typeof stop === 'string' ? [stop] : (stop ?? [])
  return stops.length > 0 ? stops : null
}

function toFormat(
  format: ChatCompletionRequest['response_format'],
): LanguageModelV4CallOptions['responseFormat'] | null {
  const type = format ? resolveResponseFormatType(format) : null
  if (type === null || type === 'text') return null
  if (type === 'json_schema') {
    const { schema, name, description } = objectOrEmpty(format?.json_schema)
    return {
      type: 'json',
      schema: objectOrEmpty(schema) as JSONSchema7,
      ...(typeof name === 'string' ? { name } : {}),
      ...(typeof description === 'string' ? { description } : {}),
    }
  }
  const param = 'response_format'
  if (type !== 'json_object') {
    refuse('unsupported_value', param, `${param} must be text, json_object or json_schema.`)
  }
  return { type: 'json' }
}

function toTools(
  { tools, tool_choice: choice }: ChatCompletionRequest,
  callsTools: boolean,
): Pick<Settings, 'tools' | 'toolChoice'> {
  const list = callsTools ? (tools ?? []).filter(isFunctionTool) : []
  if (list.length === 0) return {}
  const { name } = objectOrEmpty(objectOrEmpty(choice).function)
  return {
    tools: list.map(({ function: { name, description, parameters, ...more } }) => ({
      type: 'function',
      name,
      inputSchema: (parameters ?? { type: 'object', properties: {} }) as JSONSchema7,
      ...(description ? { description } : {}),
      ...(typeof more.strict === 'boolean' ? { strict: more.strict } : {}),
    })),
    ...(typeof name === 'string' ? { toolChoice: { type: 'tool', toolName: name } } : {}),
    ...(choice === 'none' || choice === 'auto' || choice === 'required'
      ? { toolChoice: { type: choice } }
      : {}),
  }
}

/**
 * Later options go first: the models file decides, but for what is stored, since clients could otherwise name items that
 * the provider keeps of others.
 */
function toProviderOptions(
  request: ChatCompletionRequest,
  { traits, providerOptions }: OptionRules,
): LanguageModelV4CallOptions['providerOptions'] {
  const hasTools = (request.tools ?? []).length > 0
  const layers: ProviderOptions[] = [
    hasTools && request.parallel_tool_calls === false ? (traits.singleCall ?? {}) : {},
    providerOptions,
    traits.storesByDefault ? { [traits.key]: { store: false } } : {},
  ]
  const merged: Record<string, Record<string, unknown>> = {}
  for (const layer of layers) {
    for (const [key, own] of Object.entries(layer)) merged[key] = { ...merged[key], ...own }
  }
  const options = merged as LanguageModelV4CallOptions['providerOptions']
  return Object.keys(merged).length === 0 ? undefined : options
}

/** Where requests of providers have the limit of tokens. */
const LIMITS = [
  'max_tokens',
  'max_completion_tokens',
  'max_output_tokens',
  'maxOutputTokens',
  'maxTokens',
] as const

/** Returns the limit of tokens in the body of a provider's request, at its top or one level below; null for none. */
export function findSentLimit(body: unknown): number | null {
  const top = objectOrEmpty(body)
  for (const part of [top, ...Object.values(top).map(objectOrEmpty)]) {
    for (const name of LIMITS) if (typeof part[name] === 'number') return part[name]
  }
  return null
}

/** Text of a warning's feature, which is the package's own word. */
export function featureOf(warning: unknown): string | null {
  const { type, feature } = objectOrEmpty(warning)
  return type === 'unsupported' ? textOrEmpty(feature) : null
}
