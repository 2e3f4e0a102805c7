/**
 * Caches completions of models that have a cache, and replays them to the same request. A fault of the cache never fails
 * a request: nothing is found then, and it is reported.
 */
import type { Principal } from '../../../domain/access/permissions.ts'
import type { CacheDirectives } from '../../../domain/chat/cache-directives.ts'
import type {
  CachedCompletion,
  CompletionCacheStore,
} from '../../../store/api/chat/completion-cache.ts'
import type { Delta } from '../../backend.ts'
import type { ModelCache } from '../../models/model-cache.ts'
import type { ServedModel } from '../../models/registry.ts'
import type { CompletionObserver } from '../try-models.ts'
import {
  createResponseCapture,
  type ResponseShape,
  replayResponse,
  toResponseShape,
} from './cached-response.ts'
import { type CacheableRequest, digestRequest } from './request-digest.ts'

/** Limit: completions that wait to be stored; others are not cached. */
const STORING_MAX = 64
const SECOND_US = 1_000_000

/** Services whose responses can be cached, besides chats. */
const SERVICES: ReadonlySet<string> = new Set([
  'chat',
  'completions',
  'embeddings',
  'responses',
  'messages',
])

interface CachedExchange {
  readonly caller: Principal
  readonly projectId: string | null
  readonly model: ServedModel
  readonly directives?: CacheDirectives
  readonly setHeaders: (headers: Readonly<Record<string, string | null>>) => void
}

interface CacheLookup {
  /** Returns the deltas of a cached completion, or null. Never throws. */
  find(): Promise<readonly Delta[] | null>
  /** Stores the completion when it has ended. */
  readonly observer: Partial<CompletionObserver>
  /** Leaves the completion out of the cache. */
  skip(): void
}

export interface CompletionCache {
  /**
   * Returns the cache for a request; null when it is not to be used, which the headers say if there is one.
   *
   * @param toCacheable - returns null for a request whose response is never cached
   */
  open(exchange: CachedExchange, toCacheable: () => CacheableRequest | null): CacheLookup | null
  /** Waits for completions that are being stored. */
  close(): Promise<void>
}

interface CompletionCacheOptions {
  readonly store: CompletionCacheStore
  /** Limit: bytes of all cached completions. */
  readonly bytesMax: number
  /** Microseconds since the epoch. */
  readonly nowUs: () => number
  readonly onFailure: (error: unknown) => void
}

/**
 * Spec: §4 (a cache is an addition).
 * Choice: a completion belongs to the project that its request names, or without one to its key. That of a fallback is
 * not cached under the model that was asked for.
 */
export function createCompletionCache(options: CompletionCacheOptions): CompletionCache {
  const { store, bytesMax, nowUs, onFailure } = options
  const storing = new Set<Promise<void>>()

  function storeSoon(render: () => CachedCompletion | null): void {
    if (storing.size >= STORING_MAX) return
    const stored = new Promise<void>((resolve) => {
      // After the response of this turn of the event loop has been sent.
      setImmediate(async () => {
        try {
          const completion = render()
          if (completion !== null) await store.storeCompletion(completion, bytesMax)
        } catch (error) {
          onFailure(error)
        }
        resolve()
      })
    }).finally(() => storing.delete(stored))
    storing.add(stored)
  }

  return {
    open(exchange, toCacheable) {
      const { model, directives, setHeaders } = exchange
      const { isWanted = null, isRefreshed = false, ageMaxS = null } = directives ?? {}
      const { cache } = model
      if (cache === undefined && isWanted !== true) return null
      const isUsed = isWanted ?? cache?.isAutomatic === true
      const request = cache !== undefined && isUsed ? toCacheable() : null
      if (cache === undefined || request === null || !isCacheable(request)) {
        setHeaders({ 'x-weft-cache': 'bypass' })
        return null
      }
      const digest = digestRequest(request, toScope(exchange, cache))
      const shape = toResponseShape(request)
      setHeaders({ 'x-weft-cache': 'miss' })
      return {
        async find() {
          if (isRefreshed) return null
          try {
            const now = nowUs()
            const found = await store.findCompletion(digest, now)
            const ageS = Math.max(0, Math.floor((now - (found?.created_at_us ?? 0)) / SECOND_US))
            if (found === null || ageS > (ageMaxS ?? Number.POSITIVE_INFINITY)) return null
            const deltas = replayResponse(found.response_json, shape)
            if (deltas !== null) setHeaders({ 'x-weft-cache': 'hit', age: String(ageS) })
            return deltas
          } catch (error) {
            onFailure(error)
            return null
          }
        },
        ...observeResponse(model, shape, (render) => {
          storeSoon(() => {
            const response_json = render()
            if (response_json === null) return null
            const created_at_us = nowUs()
            const expires_at_us = created_at_us + cache.ttlS * SECOND_US
            return { digest, created_at_us, expires_at_us, response_json }
          })
        }),
      }
    },
    async close() {
      while (storing.size > 0) await Promise.all(storing)
    },
  }
}

/** Usage beside each chunk is not cached. */
function isCacheable({ service, request }: CacheableRequest): boolean {
  const { stream_options } = request as {
    readonly stream_options?: { readonly continuous_usage_stats?: unknown } | null
  }
  return SERVICES.has(service) && stream_options?.continuous_usage_stats !== true
}

function toScope({ caller, projectId, model }: CachedExchange, { revision }: ModelCache) {
  return {
    owner: projectId === null ? `key:${caller.keyId}` : `project:${projectId}`,
    modelId: model.id,
    revision: `${revision}:${model.adapter?.sha256 ?? ''}`,
  }
}

/** @param store - called after a complete response of the model, with a function that renders it */
function observeResponse(
  model: ServedModel,
  shape: ResponseShape,
  store: (render: () => string | null) => void,
): Pick<CacheLookup, 'observer' | 'skip'> {
  const capture = createResponseCapture(shape)
  let answering: ServedModel | null = null
  let isSkipped = false
  const skip = () => {
    isSkipped = true
  }
  const observer: Partial<CompletionObserver> = {
    onModel(next) {
      answering = next
      capture.clear()
    },
    onReplay: skip,
    onDelta(delta) {
      if (!isSkipped && answering === model) capture.add(delta)
    },
    onEnd(error) {
      if (error === null && !isSkipped && answering === model) store(capture.render)
    },
  }
  return { observer, skip }
}
