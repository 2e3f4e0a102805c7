/**
 * What an upstream tells of its models, asked now and then in the background. Nobody ever waits for it, and
 * while it fails the last answer stands.
 */
import type { ModelDetails } from '../backend.ts'

/** How long an answer stands before the next one is asked for. */
export const PROBE_TTL_MS = 30_000
/** Limit: models of one upstream that are remembered. */
const MODELS_MAX = 10_000

export interface ModelProbeOptions {
  /** The body of the upstream's model listing, parsed; rejects when there is none. */
  readonly load: () => Promise<unknown>
  /** Milliseconds. */
  readonly nowMs: () => number
}

export interface ModelProbe {
  /** What is known of a model now; asks for news when that is old. */
  find(model: string): ModelDetails
}

/** Spec: §2.11 (more fields are not shown). Choice: `max_model_len`, as common engines tell it. */
export function createModelProbe({ load, nowMs }: ModelProbeOptions): ModelProbe {
  let known = new Map<string, ModelDetails>()
  let askedAtMs = Number.NEGATIVE_INFINITY
  let isAsking = false

  async function ask(): Promise<void> {
    isAsking = true
    askedAtMs = nowMs()
    try {
      known = readModels(await load())
    } catch {
      // The last answer stands.
    } finally {
      isAsking = false
    }
  }

  return {
    find(model) {
      if (!isAsking && nowMs() - askedAtMs >= PROBE_TTL_MS) void ask()
      return known.get(model) ?? {}
    },
  }
}

function readModels(body: unknown): Map<string, ModelDetails> {
  const { data } = body as { data: unknown }
  if (!Array.isArray(data)) throw new TypeError('no list of models')
  const models = data.slice(0, MODELS_MAX).flatMap((entry): [string, ModelDetails][] => {
    const { id, max_model_len: length } = Object(entry)
    if (typeof id !== 'string') return []
    return [[id, Number.isSafeInteger(length) && length > 0 ? { max_model_len: length } : {}]]
  })
  return new Map(models)
}
