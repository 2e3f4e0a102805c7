/**
 * Caches what the upstreams report about a model, refreshed in the background; no request waits for it. One
 * upstream that answers is enough, and while all of them fail the last answer is kept.
 */
import type { ModelDetails } from '../backend.ts'

/** How long an answer is used before it is refreshed. */
export const PROBE_TTL_MS = 30_000
/** Limit: cached models per upstream. */
const MODELS_MAX = 10_000

/** An upstream that can be probed. */
interface ProbeSource {
  /** Its name for the model; null: the name passed to `read`. */
  readonly model: string | null
  /** Returns the parsed body of its model listing; rejects if it has none. */
  readonly load: () => Promise<unknown>
}

interface ModelProbeOptions {
  /** Probed in this order, starting with the one that answered last. */
  readonly sources: readonly ProbeSource[]
  /** Milliseconds. */
  readonly nowMs: () => number
}

interface ModelProbe {
  /**
   * Returns what is known of a model now, and starts a refresh if that is stale.
   *
   * @param model - name at upstreams that have no own name for it
   */
  find(model: string): ModelDetails
}

interface Listing {
  readonly source: ProbeSource
  readonly models: ReadonlyMap<string, ModelDetails>
  /** Of a server that serves one model under any name. */
  readonly only: ModelDetails | null
}

/**
 * Spec: §2.11 (more fields are not shown).
 * Choice: `max_model_len`, as common engines report it; llama-server calls it `meta.n_ctx`, and names its one model by
 * the path of a file.
 */
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
        known = { source, ...readModels(await source.load()) }
        break
      } catch {
        // The next one may answer; otherwise the last answer is kept.
      }
    }
    isAsking = false
  }

  return {
    find(model) {
      if (!isAsking && nowMs() - askedAtMs >= PROBE_TTL_MS) void ask()
      return known?.models.get(known.source.model ?? model) ?? known?.only ?? {}
    },
  }
}

function readModels(body: unknown): Omit<Listing, 'source'> {
  const { data } = body as { data: unknown }
  if (!Array.isArray(data)) throw new TypeError('no list of models')
  const models = data.slice(0, MODELS_MAX).flatMap((entry): [string, ModelDetails][] => {
    const { id, meta, max_model_len: length = Object(meta).n_ctx } = Object(entry)
    if (typeof id !== 'string') return []
    return [[id, Number.isSafeInteger(length) && length > 0 ? { max_model_len: length } : {}]]
  })
  const isOnly = data.length === 1 && Object(Object(data[0]).meta).n_ctx !== undefined
  return { models: new Map(models), only: isOnly ? (models[0]?.[1] ?? null) : null }
}
