/** Checks whether a model can do what the models file claims. Pure. */
import { AI_SDK_OFFERS } from '../ai-sdk/fields.ts'
import { ANTHROPIC_OFFERS } from '../anthropic/fields.ts'
import type { Capability } from '../backend.ts'
import { GUARDED } from '../chat/guard/guard-callback.ts'
import { ENGINE_OFFERS, type Engine } from '../openai/profiles.ts'
import { TINY_OFFERS } from '../tiny/description.ts'

interface Claims {
  readonly id: string
  readonly backend: 'tiny' | 'openai' | 'anthropic' | 'ai-sdk'
  readonly tools: boolean
  readonly engine?: Engine
  readonly capabilities?: readonly Capability[] | undefined
  readonly guard?: object | undefined
}

const OWN_OFFERS = {
  tiny: { usual: TINY_OFFERS, more: [] },
  anthropic: { usual: ANTHROPIC_OFFERS, more: [] },
  'ai-sdk': AI_SDK_OFFERS,
} as const

/** Returns a message for the first false claim, starting with the field's name and naming the model; or null. */
export function findCapabilityFault(claims: Claims): string | null {
  const { id, backend, tools, engine = 'generic', capabilities, guard } = claims
  if (capabilities === undefined) return null
  const kind = backend === 'openai' ? engine : backend
  const { usual, more } = backend === 'openai' ? ENGINE_OFFERS[engine] : OWN_OFFERS[backend]
  const possible: readonly Capability[] = [...usual, ...more]
  for (const [index, name] of capabilities.entries()) {
    if (possible.includes(name)) {
      if (guard === undefined || GUARDED.includes(name)) continue
      return `capabilities[${index}] of ${id} is ${name}, which no guard checks; a model with a guard has ${GUARDED.join(', ')}`
    }
    return `capabilities[${index}] of ${id} is ${name}, which ${kind} does not have; it has ${possible.join(', ')}`
  }
  // These are exempt where `tools` is true by default.
  if (!tools || backend !== 'openai' || capabilities.includes('chat')) return null
  return `tools of ${id} is true, but its capabilities leave chat out, and only chats call tools`
}
