/**
 * Learns what a package makes of the settings of a request before anything is sent: the package is run with a short prompt
 * and a `fetch` that responds with an empty stream. It then has named what it would leave out, and rendered its request.
 * Clients repeat their settings, so that the outcome is cached.
 */
import { hash } from 'node:crypto'
import type { LanguageModelV4 } from '@ai-sdk/provider'
import { isGiven, parseObject } from '../../domain/json/json-values.ts'
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

/** What a package makes of settings, whichever request they are of. */
interface Learned {
  /** Fields that it names as left out; some may be of the options in the models file. */
  readonly warned: readonly FieldName[]
  /** Fields that it leaves out without a word. */
  readonly silent: readonly FieldName[]
  /** The limit to send; null: none is low enough. */
  readonly limit: number | null | undefined
  /** Tokens that it adds to the limit. */
  readonly added: number
}

/** Limit: settings whose outcome is cached, of one model. */
const LEARNED_MAX = 256

/**
 * Spec: §4.3 (every field).
 * Choice: packages name what they leave out only after the provider was asked; a refusal then would have cost money.
 */
export function createRehearsal(options: RehearsalOptions): Rehearsal {
  const { dropsUnsupported } = options
  /** By the digest of the settings, the latest last. */
  const cached = new Map<string, Learned>()

  async function learnOnce(settings: Settings): Promise<Learned> {
    const digest = hash('sha256', JSON.stringify(settings))
    const learned = cached.get(digest) ?? (await learn(options, settings))
    cached.delete(digest)
    cached.set(digest, learned)
    const [oldest] = cached.keys()
    if (cached.size > LEARNED_MAX && oldest !== undefined) cached.delete(oldest)
    return learned
  }

  return {
    async check(settings, request) {
      if (Object.keys(settings).every((name) => name === 'maxOutputTokens')) {
        return { settings, dropped: [] }
      }
      const { warned, silent, limit, added } = await learnOnce(settings)
      const asked = warned.filter((field) => isGiven(request[field]))
      const dropped = [...new Set([...asked, ...silent])]
      const [first] = dropped
      if (first !== undefined && !dropsUnsupported) {
        const message = `The package of the model does not support ${first}, or not this value of it.`
        refuse('unsupported_parameter', first, message)
      }
      if (limit === null) {
        const message = `reasoning_effort needs max_completion_tokens above ${added}: reasoning is a part of them.`
        refuse('invalid_value', 'reasoning_effort', message)
      }
      const isLowered = limit !== settings.maxOutputTokens
      return { settings: isLowered ? { ...settings, maxOutputTokens: limit } : settings, dropped }
    },
  }
}

/** @throws ApiError for settings that the package refuses */
async function learn(options: RehearsalOptions, settings: Settings): Promise<Learned> {
  const { warnings, body, sentLimit } = await rehearse(options, settings)
  const silent = await findSilent(options, settings, body)
  const { maxOutputTokens } = settings
  const added = Math.max(0, (sentLimit ?? 0) - (maxOutputTokens ?? Number.POSITIVE_INFINITY))
  const limit = added > 0 ? await findLowered(options, settings, added) : maxOutputTokens
  return { warned: listWarned(warnings), silent, limit, added }
}

function listWarned(warnings: readonly unknown[]): FieldName[] {
  return warnings.flatMap((warning) => {
    const feature = featureOf(warning)
    return (feature === null ? null : fieldOfFeature(feature)) ?? []
  })
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
 * Returns the limit for a package that adds the tokens of reasoning to it; null if nothing is left of it.
 *
 * Spec: §4.3 max_completion_tokens.
 * Choice: the limit of the client stays the limit, since it bounds what the answer costs.
 */
async function findLowered(
  options: RehearsalOptions,
  settings: Settings,
  added: number,
): Promise<number | null> {
  const limit = settings.maxOutputTokens ?? 0
  const maxOutputTokens = limit - added
  if (maxOutputTokens <= 0) return null
  const { sentLimit } = await rehearse(options, { ...settings, maxOutputTokens })
  return sentLimit !== null && sentLimit <= limit ? maxOutputTokens : null
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
