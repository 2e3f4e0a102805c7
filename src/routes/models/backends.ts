/** Backends of the models, and their latencies. Spec: §4.7 (not shown); an addition to the spec. */
import { requireScope } from '../../domain/access/permissions.ts'
import type { App } from '../../http/app-type.ts'
import type { UpstreamState } from '../../inference/backend.ts'
import type { ModelLatencies, ModelStatistics } from '../../inference/chat/track-completion.ts'
import { listOffers } from '../../inference/models/offers.ts'
import type { ModelRegistry } from '../../inference/models/registry.ts'
import { type Backend, BackendListResponse } from '../../schemas/models/backend.ts'

interface BackendRoutesOptions {
  readonly models: ModelRegistry
  readonly latencies: ModelLatencies
}

const NO_REQUESTS: ModelStatistics = {
  answers: 0,
  failures: 0,
  firstMs: [],
  totalMs: [],
  lastResponseMs: null,
  lastFailure: null,
}

/**
 * Spec: §4.7. Choice: for admins only, since the response shows addresses of upstreams and other users' usage.
 * Trained models are listed for admins of all projects only, since a model's name does not say which project owns it.
 */
export async function backendRoutes(
  app: App,
  { models, latencies }: BackendRoutesOptions,
): Promise<void> {
  app.get(
    '/v1/backends',
    {
      schema: {
        tags: ['inference'],
        operationId: 'listBackends',
        summary:
          'List the engines behind the models, with their latencies and failures (addition to the spec).',
        response: { 200: BackendListResponse },
      },
    },
    async (request) => {
      const { projects } = requireScope(request.principal, 'admin')
      const statistics = latencies.read()
      const served = models.listEntries().map(({ id }) => models.getModel(id))
      const known = new Set(served.map(({ id }) => id))
      const trained = projects.includes('*') ? [...statistics].filter(([id]) => !known.has(id)) : []
      const data = [
        ...served.map((model): Backend => {
          const { id, aliases, backend } = model
          return {
            id,
            aliases: [...aliases],
            engine: backend.kind,
            offers: [...listOffers(model)],
            upstreams: (backend.describeUpstreams?.() ?? []).map(renderUpstream),
            ...renderStatistics(statistics.get(id) ?? NO_REQUESTS),
          }
        }),
        ...trained.map(([id, found]): Backend => {
          const unknown = { engine: null, aliases: [], offers: [], upstreams: [] }
          return { id, ...unknown, ...renderStatistics(found) }
        }),
      ]
      return { object: 'list' as const, data }
    },
  )
}

function renderUpstream(state: UpstreamState) {
  const { number, address, busyCount, failureCount, restsMs, firstEventMs, responseMs } = state
  return {
    number,
    address,
    requests: busyCount,
    failures: failureCount,
    rests_ms: Math.ceil(restsMs),
    first_event_ms: roundMs(firstEventMs),
    response_ms: roundMs(responseMs),
  }
}

function renderStatistics(statistics: ModelStatistics) {
  const { answers, failures, firstMs, totalMs, lastResponseMs, lastFailure } = statistics
  return {
    answers,
    failures,
    first_ms_p50: percentile(firstMs, 50),
    first_ms_p95: percentile(firstMs, 95),
    total_ms_p50: percentile(totalMs, 50),
    total_ms_p95: percentile(totalMs, 95),
    last_answer_at: lastResponseMs === null ? null : renderMs(lastResponseMs),
    last_failure: lastFailure && { code: lastFailure.code, at: renderMs(lastFailure.atMs) },
  }
}

/** Returns a percentile by nearest rank; null without values. @param sorted - ascending */
function percentile(sorted: readonly number[], percent: number): number | null {
  const value = sorted[Math.ceil((sorted.length * percent) / 100) - 1]
  return roundMs(value ?? null)
}

function roundMs(ms: number | null): number | null {
  return ms === null ? null : Math.round(ms * 1000) / 1000
}

function renderMs(ms: number): string {
  return new Date(ms).toISOString()
}
