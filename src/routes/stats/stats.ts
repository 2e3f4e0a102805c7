/** Statistics over calls. Spec: §4.4. */
import { Readable } from 'node:stream'
import { requireAccess } from '../../domain/access/permissions.ts'
import type { ReadCaller } from '../../domain/access/read-caller.ts'
import {
  type BucketGrid,
  buildBucketGrid,
  doubleRoundS,
  type TimeWindow,
} from '../../domain/stats/buckets.ts'
import { checkGroupBy } from '../../domain/stats/groups.ts'
import { isMoney, toColumns } from '../../domain/stats/metric-names.ts'
import { renderGroups, renderModelNames } from '../../domain/stats/stats-view.ts'
import { resolveWindow } from '../../domain/time/time-window.ts'
import { chooseCounting } from '../../domain/usage/own-usage.ts'
import type { App } from '../../http/app-type.ts'
import { openReadCaller } from '../../http/stream/read-caller.ts'
import { CallStatsRequest, CallStatsResponse } from '../../schemas/stats/stats.ts'
import { renderTimestamp } from '../../schemas/timestamp.ts'
import { isTooManyValues, type StatsTexts } from '../../store/api/stats/stats.ts'
import type { Stores } from '../../store/api/stores.ts'

/** Limit: values of one response, some 20 MB of JSON, written at once. */
const VALUES_MAX = 500_000
/** Limit: at this number of buckets they are not made longer, since any window may overlap two. */
const BUCKETS_MIN = 2

export async function statsRoutes(
  app: App,
  options: Pick<Stores, 'stats' | 'prices'>,
): Promise<void> {
  app.post(
    '/calls/stats',
    {
      schema: {
        tags: ['calls'],
        operationId: 'getCallStats',
        summary: 'Statistics of calls by time or by group: tokens, costs, latency, counts.',
        description:
          'When costs are requested, the header `x-weft-unpriced-models` names the models whose costs are unknown, and `x-weft-reported-cost-models` those without a price whose total cost is what the clients report.',
        body: CallStatsRequest,
        response: { 200: CallStatsResponse },
      },
    },
    async (request, reply) => {
      const { project_id } = request.body
      requireAccess(request.principal, 'traces:read', project_id)
      const caller = openReadCaller(request, reply, project_id)
      const found = await renderCallStats(request.body, caller, options, VALUES_MAX)
      const { chunks, unpricedModels, reportedModels } = found
      if (unpricedModels.length > 0) {
        reply.header('x-weft-unpriced-models', renderModelNames(unpricedModels))
      }
      if (reportedModels.length > 0) {
        reply.header('x-weft-reported-cost-models', renderModelNames(reportedModels))
      }
      const length = chunks.reduce((sum, chunk) => sum + chunk.length, 0)
      reply.type('application/json; charset=utf-8').header('content-length', length)
      // Why a cast: these are the bytes of a CallStatsResponse; validating them would take longer than everything else.
      return reply.send(Readable.from(chunks) as unknown as CallStatsResponse)
    },
  )
}

/**
 * Returns a CallStatsResponse as bytes, and the models whose costs are not by a price.
 *
 * @param valuesMax - maximum number of values; there are fewer buckets where there would be more
 * @throws ApiError validation_failed, and what the store throws
 */
export async function renderCallStats(
  request: CallStatsRequest,
  caller: ReadCaller,
  { stats, prices }: Pick<Stores, 'stats' | 'prices'>,
  valuesMax: number,
) {
  const { project_id, granularity, timezone, usage_counting, ...body } = request
  const filter = body.filter ?? {}
  const window = resolveWindow(body, Date.now())
  const callColumns = toColumns(body.call_metrics ?? [])
  const usageColumns = toColumns(body.usage_metrics ?? [])
  const counting = chooseCounting(usage_counting, filter)
  const asUsed = {
    start: renderTimestamp(window.startUs),
    end: renderTimestamp(window.endUs),
    timezone,
    usage_counting: counting,
  }
  const requested = buildBucketGrid(window, granularity ?? null, timezone)
  const groupBy = body.group_by ?? null
  if (groupBy) checkGroupBy(groupBy, callColumns, usageColumns)
  else if (callColumns.length + usageColumns.length === 0) {
    const none = [Buffer.from('[]')]
    const empty = { usageBuckets: none, callBuckets: none, unpricedModels: [], reportedModels: [] }
    return {
      ...empty,
      chunks: toBodyChunks({ ...asUsed, granularity: requested.granularityS }, empty),
    }
  }
  const needsPrices = usageColumns.some(({ metric }) => isMoney(metric))
  const query = {
    project_id,
    filter,
    ...window,
    callColumns,
    usageColumns,
    prices: needsPrices ? await prices.listPrices(project_id) : [],
    counting,
  }
  if (groupBy) {
    const found = await stats.group({ ...query, groupBy }, caller)
    const head = { ...asUsed, granularity: requested.granularityS }
    const rendered = renderGroups(found, [...callColumns, ...usageColumns])
    const body = { ...head, usage_buckets: [], call_buckets: [], ...rendered }
    return { ...found, chunks: [Buffer.from(JSON.stringify(body))] }
  }
  const { grid, found } = await widenWhileTooLarge(requested, window, timezone, ({ startsUs }) =>
    stats.render({ ...query, startsUs, valuesMax }, caller),
  )
  return { ...found, chunks: toBodyChunks({ ...asUsed, granularity: grid.granularityS }, found) }
}

/** Retries with longer buckets while there are too many values, which depend on the models, known only to the store. */
async function widenWhileTooLarge<Found>(
  requested: BucketGrid,
  window: TimeWindow,
  timezone: string,
  readGrid: (grid: BucketGrid) => Promise<Found>,
): Promise<{ grid: BucketGrid; found: Found }> {
  for (let grid = requested; ; ) {
    try {
      return { grid, found: await readGrid(grid) }
    } catch (error) {
      if (!isTooManyValues(error) || grid.startsUs.length <= BUCKETS_MIN) throw error
      grid = buildBucketGrid(window, doubleRoundS(grid.granularityS), timezone)
    }
  }
}

/** Returns the response as bytes: the head, and the buckets as the store rendered them. */
function toBodyChunks(
  head: object,
  { usageBuckets, callBuckets }: Pick<StatsTexts, 'usageBuckets' | 'callBuckets'>,
): Uint8Array[] {
  return [
    Buffer.from(`${JSON.stringify(head).slice(0, -1)},"usage_buckets":`),
    ...usageBuckets,
    Buffer.from(',"call_buckets":'),
    ...callBuckets,
    Buffer.from('}'),
  ]
}
