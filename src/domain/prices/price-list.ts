/**
 * Finds models in the list of @pydantic/genai-prices, by their provider where it is known. The list is part of the
 * package; nothing is fetched.
 */
import { createRequire } from 'node:module'
import type { ModelInfo } from '@pydantic/genai-prices'

/** Loads the prices with the first question for one: without them and undici, a start takes 13 MB and 6 % less. */
const loadPrices = (): typeof import('@pydantic/genai-prices') =>
  createRequire(import.meta.url)('@pydantic/genai-prices')

/**
 * Providers whose ids of models are names of their own, such as those of Bedrock, of embeddings and of fine-tuned
 * models; the package finds these with the provider alone. Hosts of open models are not among them: the same names are
 * those of models that people run themselves.
 */
const NAMING_PROVIDERS = ['openai', 'mistral', 'cohere', 'perplexity', 'voyageai', 'aws', 'google']

/** Names of providers, in OpenTelemetry and in SDKs, that the package does not match or takes for another provider. */
const PROVIDER_NAMES: readonly (readonly [name: RegExp, id: string])[] = [
  [/^az(ure)?([._-]|$)/, 'azure'],
  [/^gcp([._-]|$)/, 'google'],
  [/^x[._-]?ai([._-]|$)/, 'x-ai'],
  [/^together[._-]?(ai)?([._-]|$)/, 'together'],
  [/^fireworks[._-]?(ai)?([._-]|$)/, 'fireworks'],
]

/** Where Google's APIs keep models: the path before a name. */
const MODEL_PATH = /^(publishers\/[^/]+\/)?models\//

interface ListedModel {
  readonly provider_id: string
  readonly model: ModelInfo
}

/**
 * Returns the id of a provider in the list.
 *
 * @param provider - as a client names it, or the address of its API
 * @returns null for a provider that is not in the list
 */
export function findProviderId(provider: string): string | null {
  const { findProvider } = loadPrices()
  const name = provider.trim().toLowerCase()
  if (name.includes('://')) return findProvider({ providerApiUrl: name })?.id ?? null
  const known = PROVIDER_NAMES.find(([pattern]) => pattern.test(name))?.[1]
  // SDKs add the API to the provider, as in `groq.chat`.
  const [first = ''] = name.split('.')
  const found = [known ?? name, first].map((providerId) => findProvider({ providerId }))
  return found.find((one) => one !== undefined)?.id ?? null
}

/**
 * Finds a model in the list.
 *
 * @param provider - null: not known
 *
 * Spec: §4.4 usage_metrics (prices not shown). Choice: a name is looked up among the models of its provider, then as it
 * is, then as `<provider>/<model>`, then among the models of NAMING_PROVIDERS.
 */
export function findListedModel(model: string, provider: string | null): ListedModel | null {
  const provider_id = provider === null ? null : findProviderId(provider)
  const own = provider_id === null ? null : findOfProvider(model, provider_id)
  return own ?? findByName(model)
}

function findOfProvider(model: string, provider_id: string): ListedModel | null {
  const { calcPrice, findProvider } = loadPrices()
  const name = model.trim().replace(MODEL_PATH, '')
  const found = calcPrice({}, name, { providerId: provider_id })?.model
  if (found) return { provider_id, model: found }
  // Some ids of the list stand for several names, and their own is none of these.
  const listed = findProvider({ providerId: provider_id })?.models.find(({ id }) => id === name)
  return listed ? { provider_id, model: listed } : null
}

function findByName(model: string): ListedModel | null {
  const { calcPrice } = loadPrices()
  let found = calcPrice({}, model)
  for (const providerId of ['litellm', ...NAMING_PROVIDERS]) {
    found ??= calcPrice({}, model, { providerId })
  }
  return found && { provider_id: found.provider.id, model: found.model }
}
