/**
 * What the upstreams of a model tell of it, asked now and then in the background. No request waits for it. One
 * upstream that answers is enough, and while all of them fail the last answer stands.
 */
import type { ModelDetails } from '../backend.ts'

/** How long an answer stands before the next one is asked for. */
export const PROBE_TTL_MS = 30_000
/** Limit: models of one upstream that are remembered. */
const MODELS_MAX = 10_000

/** An upstream that may be asked. */
interface ProbeSource {
  /** Its name of the model; null: that of the reader. */
  readonly model: string | null
  /** The body of its model listing, parsed; rejects when there is none. */
  readonly load: () => Promise<unknown>
}

interface ModelProbeOptions {
  /** Asked in this order, beginning with the one that answered last. */
  readonly sources: readonly ProbeSource[]
  /** Milliseconds. */
  readonly nowMs: () => number
}

interface ModelProbe {
  /**
   * What is known of a model now; asks for news when that is old.
   *
   * @param model - the name for upstreams without one of their own
   */
  find(model: string): ModelDetails
}

interface Listing {
  readonly source: ProbeSource
  readonly models: ReadonlyMap<string, ModelDetails>
}

/** Spec: §2.11 (more fields are not shown). Choice: `max_model_len`, as common engines tell it;
 * llama-server calls it `meta.n_ctx`. */
export function createModelProbe({ sources, nowMs }: ModelProbeOptions): ModelProbe {
  let known: Listing | null = null
  let askedAtMs = Number.NEGATIVE_INFINITY
  let isAsking = false

  async function ask(): Promise<void> {
    isAsking = true
    askedAtMs = nowMs()
    const last = known?.source
    const inOrder = [...sources].sort((a, b) => Number(b === last) - Number(a === last))
    for (const source of inOrder) {
      try {
        known = { source, models: readModels(await source.load()) }
        break
      } catch {
        // The next one may answer; else what was told last stands.
      }
    }
    isAsking = false
  }

  return {
    find(model) {
      if (!isAsking && nowMs() - askedAtMs >= PROBE_TTL_MS) void ask()
      return known?.models.get(known.source.model ?? model) ?? {}
    },
  }
}

function readModels(body: unknown): Map<string, ModelDetails> {
  const { data } = body as { data: unknown }
  if (!Array.isArray(data)) throw new TypeError('no list of models')
  const models = data.slice(0, MODELS_MAX).flatMap((entry): [string, ModelDetails][] => {
    const { id, meta, max_model_len: length = Object(meta).n_ctx } = Object(entry)
    if (typeof id !== 'string') return []
    return [[id, Number.isSafeInteger(length) && length > 0 ? { max_model_len: length } : {}]]
  })
  return new Map(models)
}
