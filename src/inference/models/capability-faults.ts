/** Checks whether a model can do what the models file claims. Pure. */
import type { Capability } from '../backend.ts'
import { ENGINE_OFFERS, type Engine } from '../openai/profiles.ts'
import { TINY_OFFERS } from '../tiny/description.ts'

interface Claims {
  readonly id: string
  readonly backend: 'tiny' | 'openai'
  readonly tools: boolean
  readonly engine?: Engine
  readonly capabilities?: readonly Capability[] | undefined
}

/** Returns a message for the first false claim, starting with the field's name and naming the model; or null. */
export function findCapabilityFault(claims: Claims): string | null {
  const { id, backend, tools, engine = 'generic', capabilities } = claims
  if (capabilities === undefined) return null
  const kind = backend === 'tiny' ? 'tiny' : engine
  const { usual, more } =
    backend === 'tiny' ? { usual: TINY_OFFERS, more: [] } : ENGINE_OFFERS[engine]
  const possible = [...usual, ...more]
  for (const [index, name] of capabilities.entries()) {
    if (possible.includes(name)) continue
    return `capabilities[${index}] of ${id} is ${name}, which ${kind} does not have; it has ${possible.join(', ')}`
  }
  // The tiny backend is exempt: its `tools` is true by default.
  if (!tools || backend === 'tiny' || capabilities.includes('chat')) return null
  return `tools of ${id} is true, but its capabilities leave chat out, and only chats call tools`
}
