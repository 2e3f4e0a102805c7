/**
 * Learns what a package makes of the settings of a request before anything is sent: the package is run with a short prompt
 * and a `fetch` that answers with an empty stream. It then has named what it would leave out, and rendered its request.
 */
import type { LanguageModelV4 } from '@ai-sdk/provider'
import { parseObject } from '../../domain/json/json-values.ts'
import { type ApiError, refuse } from '../../errors.ts'
import type { ChatCompletionRequest } from '../../schemas/chat/chat-request.ts'
import { featureOf, findSentLimit, type Settings } from './call-options.ts'
import { fieldOfFeature } from './fields.ts'
import type { ProviderCall, ProviderFetch } from './provider-fetch.ts'

type FieldName = keyof ChatCompletionRequest

interface RehearsalOptions {
  readonly model: LanguageModelV4
  readonly fetch: ProviderFetch
  readonly dropsUnsupported: boolean
  readonly toError: (error: unknown, call: ProviderCall) => ApiError
}

interface Checked {
  /** The settings to send: the limit of tokens is lowered by what the package adds to it. */
  readonly settings: Settings
  /** Fields of the request that the package leaves out. */
  readonly dropped: readonly FieldName[]
}

export interface Rehearsal {
  /** @throws ApiError unsupported_parameter, unsupported_value, invalid_value, upstream_auth */
  check(settings: Settings, request: ChatCompletionRequest): Promise<Checked>
}

/**
 * Spec: §4.3 (every field).
 * Choice: packages name what they leave out only after the provider was asked; a refusal then would have cost money.
 */
export function createRehearsal(options: RehearsalOptions): Rehearsal {
  const { dropsUnsupported } = options
  return {
    async check(settings, request) {
      if (Object.keys(settings).every((name) => name === 'maxOutputTokens')) {
        return { settings, dropped: [] }
      }
      const rehearsed = await rehearse(options, settings)
      const { sentLimit } = rehearsed
      const silent = await findSilent(options, settings, rehearsed.body)
      const dropped = [...new Set([...listDropped(rehearsed.warnings, request), ...silent])]
      const [first] = dropped
      if (first !== undefined && !dropsUnsupported) {
        const message = `The package of the model does not support ${first}, or not this value of it.`
        refuse('unsupported_parameter', first, message)
      }
      const limit = settings.maxOutputTokens
      if (limit === undefined || sentLimit === null || sentLimit <= limit) {
        return { settings, dropped }
      }
      return { settings: await lowerLimit(options, settings, limit, sentLimit), dropped }
    },
  }
}

function listDropped(warnings: readonly unknown[], request: ChatCompletionRequest): FieldName[] {
  const fields = warnings.flatMap((warning) => {
    const feature = featureOf(warning)
    const field = feature === null ? null : fieldOfFeature(feature)
    // A warning may also be of the options in the models file.
    const isAsked = field !== null && request[field] !== undefined && request[field] !== null
    return isAsked ? [field] : []
  })
  return [...new Set(fields)]
}

/** Settings that change the request of a package that knows them. */
const CHECKED = {
  temperature: 'temperature',
  topP: 'top_p',
  topK: 'top_k',
  seed: 'seed',
  presencePenalty: 'presence_penalty',
  frequencyPenalty: 'frequency_penalty',
  stopSequences: 'stop',
  responseFormat: 'response_format',
  reasoning: 'reasoning_effort',
} as const satisfies Partial<Record<keyof Settings, FieldName>>

/** Returns the fields that a package leaves out without a word: its request is the same without them. */
async function findSilent(
  options: RehearsalOptions,
  settings: Settings,
  body: string | null,
): Promise<FieldName[]> {
  const names = Object.keys(CHECKED) as (keyof typeof CHECKED)[]
  const silent: FieldName[] = []
  for (const name of names) {
    // A model that does not reason needs no word for it.
    if (settings[name] === undefined || settings[name] === 'none' || body === null) continue
    const { [name]: _, ...others } = settings
    if ((await rehearse(options, others)).body === body) silent.push(CHECKED[name])
  }
  return silent
}

/**
 * Some packages add the tokens of reasoning to the limit.
 *
 * Spec: §4.3 max_completion_tokens.
 * Choice: the limit of the client stays the limit, since it bounds what the answer costs.
 */
async function lowerLimit(
  options: RehearsalOptions,
  settings: Settings,
  limit: number,
  sentLimit: number,
): Promise<Settings> {
  const added = sentLimit - limit
  const lowered = { ...settings, maxOutputTokens: limit - added }
  if (lowered.maxOutputTokens > 0) {
    const again = await rehearse(options, lowered)
    if (again.sentLimit !== null && again.sentLimit <= limit) return lowered
  }
  const message = `reasoning_effort needs max_completion_tokens above ${added}: reasoning is a part of them.`
  refuse('invalid_value', 'reasoning_effort', message)
}

const PROMPT = [{ role: 'user' as const, content: [{ type: 'text' as const, text: 'hi' }] }]
const NEVER = new AbortController().signal

async function rehearse({ model, fetch, toError }: RehearsalOptions, settings: Settings) {
  let body = null as string | null
  const rehearseBody = (text: string) => {
    body ??= text
  }
  const call: ProviderCall = {
    requestId: '',
    signal: NEVER,
    isStream: true,
    failure: null,
    rehearse: rehearseBody,
  }
  try {
    const warnings = await fetch.run(call, () => readWarnings(model, settings))
    return { body, warnings, sentLimit: findSentLimit(parseObject(body ?? '')) }
  } catch (error) {
    // An empty stream is no answer for some packages; what they throw before is a refusal.
    if (body === null) throw toError(error, call)
    return { body, warnings: [], sentLimit: findSentLimit(parseObject(body)) }
  }
}

/** Returns the warnings, which are the first part of a stream. */
async function readWarnings(
  model: LanguageModelV4,
  settings: Settings,
): Promise<readonly unknown[]> {
  const { stream } = await model.doStream({ ...settings, prompt: PROMPT })
  const reader = stream.getReader()
  try {
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      if (part.value.type === 'stream-start') return part.value.warnings
    }
    return []
  } finally {
    reader.cancel().catch(() => {})
  }
}
