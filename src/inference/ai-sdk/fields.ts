/** What the packages of the AI SDK have of the fields of a chat, and where single packages differ. */
import type { ChatCompletionRequest } from '../../schemas/chat/chat-request.ts'
import type { Capability } from '../backend.ts'
import { createProfile, type Profile } from '../openai/profiles.ts'

/** Embeddings are offered only where the models file lists them: not each package has them. */
export const AI_SDK_OFFERS: {
  readonly usual: readonly Capability[]
  readonly more: readonly Capability[]
} = { usual: ['chat'], more: ['embeddings'] }

/** What a package does that its interface does not say. */
interface PackageTraits {
  /** Key of its options and metadata. */
  readonly key: string
  /** Whether system messages after other messages are sent in their positions. Default: as texts of the user. */
  readonly takesLaterSystem?: boolean
  /** Whether reasoning goes back without a signature. Default: only reasoning that was kept with its metadata. */
  readonly takesPlainReasoning?: boolean
  /** Options that stand for `parallel_tool_calls: false`. Default: there are none. */
  readonly singleCall?: Readonly<Record<string, Record<string, boolean>>>
  /** Whether files other than images become texts. */
  readonly takesImagesOnly?: boolean
  /** Whether the provider would store requests unless it is told not to. */
  readonly storesByDefault?: boolean
  /** Id of the provider in the price list. Default: none is known by the package alone. */
  readonly listedAs?: string
}

const single = (key: string) => ({ [key]: { parallelToolCalls: false } })
const openAi = (key: string): PackageTraits => ({
  key,
  takesLaterSystem: true,
  singleCall: single(key),
  storesByDefault: true,
  listedAs: key,
})

const TRAITS: Readonly<Record<string, PackageTraits>> = {
  '@ai-sdk/google': { key: 'google', listedAs: 'google' },
  '@ai-sdk/google-vertex': { key: 'googleVertex', listedAs: 'google' },
  '@ai-sdk/amazon-bedrock': {
    key: 'amazonBedrock',
    singleCall: { anthropic: { disableParallelToolUse: true } },
    listedAs: 'aws',
  },
  '@ai-sdk/anthropic': {
    key: 'anthropic',
    listedAs: 'anthropic',
    takesLaterSystem: true,
    singleCall: { anthropic: { disableParallelToolUse: true } },
  },
  '@ai-sdk/azure': openAi('azure'),
  '@ai-sdk/openai': openAi('openai'),
  '@ai-sdk/xai': { ...openAi('xai'), listedAs: 'x-ai' },
  '@ai-sdk/mistral': {
    key: 'mistral',
    listedAs: 'mistral',
    takesLaterSystem: true,
    takesPlainReasoning: true,
    singleCall: single('mistral'),
  },
  '@ai-sdk/groq': {
    key: 'groq',
    listedAs: 'groq',
    takesLaterSystem: true,
    takesPlainReasoning: true,
    singleCall: single('groq'),
  },
  '@ai-sdk/cohere': {
    key: 'cohere',
    listedAs: 'cohere',
    takesLaterSystem: true,
    takesImagesOnly: true,
  },
}

/** Returns what is known of a package; for one that is not known, what is safe for any. */
export function traitsOf(packageName: string): PackageTraits {
  const known = Object.hasOwn(TRAITS, packageName) ? TRAITS[packageName] : undefined
  const key = packageName.split('/').at(-1) ?? packageName
  return known ?? { key, takesPlainReasoning: true }
}
export type { PackageTraits }

const PASSED = [
  'messages',
  'model',
  'max_tokens',
  'max_completion_tokens',
  'response_format',
  'stop',
  'stream',
  'stream_options',
  'temperature',
  'top_p',
  'top_k',
  'seed',
  'frequency_penalty',
  'presence_penalty',
  'tools',
  'tool_choice',
  'reasoning_effort',
] as const satisfies readonly (keyof Profile)[]

/** `user` is only an id for the provider, and the interface has none. */
const OWN = [
  'priority',
  'request_id',
  'include_reasoning',
  'user',
] as const satisfies readonly (keyof Profile)[]

/**
 * Spec: §4.3 (every field).
 * Choice: what the interface of the packages lacks is rejected by name, or dropped where the model allows it. What a
 * package lacks of the rest shows only when it is asked.
 */
export function createPackageProfile({ singleCall }: PackageTraits): Profile {
  const calls = singleCall === undefined ? [] : (['parallel_tool_calls'] as const)
  return createProfile([...PASSED, ...calls], OWN)
}

/** The fields of a chat that a package names, in words of its own, when it does not support them. */
const FEATURES: readonly (readonly [feature: RegExp, field: keyof ChatCompletionRequest])[] = [
  [/^top.?k$/i, 'top_k'],
  [/^top.?p$/i, 'top_p'],
  [/^seed$/i, 'seed'],
  [/^temperature$/i, 'temperature'],
  [/presence.?penalty/i, 'presence_penalty'],
  [/frequency.?penalty/i, 'frequency_penalty'],
  [/stop/i, 'stop'],
  [/tool.?choice/i, 'tool_choice'],
  [/tool/i, 'tools'],
  [/response.?format|json|schema|structured/i, 'response_format'],
  [/reasoning|thinking|effort/i, 'reasoning_effort'],
]

/** Returns the field of a chat that a feature of the AI SDK stands for, or null. */
export function fieldOfFeature(feature: string): keyof ChatCompletionRequest | null {
  return FEATURES.find(([pattern]) => pattern.test(feature))?.[1] ?? null
}
