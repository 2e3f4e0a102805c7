/** Routes of a project's own prices; additions to the spec. */
import { queryPrices } from '../../domain/prices/price-query.ts'
import { resolvePrice } from '../../domain/prices/project-prices.ts'
import type { StatColumn } from '../../domain/stats/metric-names.ts'
import type { Clock } from '../../domain/time/clock.ts'
import { resolveWindow } from '../../domain/time/time-window.ts'
import type { App } from '../../http/app-type.ts'
import { newId } from '../../http/new-id.ts'
import { addProjectRead, addProjectWrite } from '../../http/project-routes.ts'
import { idsOf, PurgeRequest } from '../../schemas/calls/ids-query.ts'
import {
  COST_FIELDS,
  CostCreateRequest,
  CostCreateResponse,
  CostQueryResponse,
  UnpricedModelsRequest,
  UnpricedModelsResponse,
} from '../../schemas/prices/cost.ts'
import { EmptyResponse } from '../../schemas/primitives.ts'
import { RowQueryRequest } from '../../schemas/query/row-query.ts'
import type { UsageMetric } from '../../schemas/stats/stats.ts'
import { renderTimestamp, timestampUs } from '../../schemas/timestamp.ts'
import type { StatsResult } from '../../store/api/stats/stats.ts'
import type { Stores } from '../../store/api/stores.ts'
import { recordBefore } from '../access/audit.ts'

/** The window of unpriced models where the client names none. */
const WINDOW_US = 30 * 86_400_000_000
/** Limit: values of one response, more than a thousand models have. */
const VALUES_MAX = 10_000
const UNPRICED_COLUMNS: StatColumn<UsageMetric>[] = (
  ['input_tokens', 'output_tokens', 'total_cost'] as const
).map((metric) => ({ key: metric, metric, of: 'sum' }))

type CostRoutesOptions = Pick<Stores, 'audit' | 'prices' | 'stats'> & Pick<Clock, 'nowUs'>

export async function costRoutes(app: App, options: CostRoutesOptions): Promise<void> {
  addCostCreate(app, options)
  addCostQuery(app, options)
  addCostPurge(app, options)
  addUnpriced(app, options)
}

function addCostCreate(app: App, { prices, nowUs }: CostRoutesOptions): void {
  addProjectWrite(
    app,
    '/cost/create',
    {
      tags: ['costs'],
      operationId: 'createCosts',
      summary:
        'Set prices of models in a project, each from a given time on (addition to the spec).',
      body: CostCreateRequest,
      response: CostCreateResponse,
    },
    async ({ project_id, costs }, { svc_user_id }) => {
      const created_at_us = nowUs()
      const created = Object.entries(costs).map(([llm_id, cost]) =>
        resolvePrice(llm_id, cost, { project_id, id: newId(), svc_user_id, created_at_us }),
      )
      await prices.createPrices(created)
      return { ids: created.map(({ id, llm_id }) => [id, llm_id]) }
    },
  )
}

function addCostQuery(app: App, { prices }: CostRoutesOptions): void {
  addProjectRead(
    app,
    '/cost/query',
    {
      tags: ['costs'],
      operationId: 'queryCosts',
      summary: "List a project's own prices that meet a condition (addition to the spec).",
      description: `The fields are ${COST_FIELDS.join(', ')}.`,
      body: RowQueryRequest,
      response: CostQueryResponse,
    },
    async ({ project_id, ...body }) => {
      return { results: queryPrices(await prices.listPrices(project_id), body) }
    },
  )
}

function addCostPurge(app: App, { audit, prices }: CostRoutesOptions): void {
  addProjectWrite(
    app,
    '/cost/purge',
    {
      tags: ['costs'],
      operationId: 'purgeCosts',
      summary: 'Delete prices by their ids (addition to the spec).',
      body: PurgeRequest,
      response: EmptyResponse,
    },
    async ({ project_id, query }, _caller, request) => {
      const ids = idsOf(query)
      await recordBefore(audit, request, { action: 'prices.delete', project_id, before: { ids } })
      await prices.purgePrices(project_id, ids)
      return {}
    },
  )
}

function addUnpriced(app: App, { prices, stats, nowUs }: CostRoutesOptions): void {
  addProjectRead(
    app,
    '/cost/unpriced',
    {
      tags: ['costs'],
      operationId: 'listUnpricedModels',
      summary: 'List the models of a project of which calls have no price (addition to the spec).',
      body: UnpricedModelsRequest,
      response: UnpricedModelsResponse,
    },
    async ({ project_id, start, end }, caller) => {
      const now = nowUs()
      const from = start ?? renderTimestamp((end ? timestampUs(end) : now) - WINDOW_US)
      const window = resolveWindow({ start: from, end }, Math.floor(now / 1000))
      const found = await stats.aggregate(
        {
          project_id,
          filter: {},
          ...window,
          startsUs: Float64Array.of(window.startUs),
          callColumns: [],
          usageColumns: UNPRICED_COLUMNS,
          prices: await prices.listPrices(project_id),
          counting: 'own',
          valuesMax: VALUES_MAX,
        },
        caller,
      )
      return {
        start: renderTimestamp(window.startUs),
        end: renderTimestamp(window.endUs),
        models: renderUnpriced(found),
      }
    },
  )
}

function renderUnpriced({ usage, unpricedModels, reportedModels }: StatsResult) {
  const [lacking, reported] = [new Set(unpricedModels), new Set(reportedModels)]
  const wanted = usage.filter(({ model }) => lacking.has(model) || reported.has(model))
  return wanted.map(({ model, table: { count, values } }) => {
    const [input = 0, output = 0, cost = Number.NaN] = values.map(([value]) => value ?? 0)
    return {
      llm_id: model,
      calls: count[0] ?? 0,
      input_tokens: input,
      output_tokens: output,
      known_cost: Number.isNaN(cost) ? null : cost,
      has_reported_cost: reported.has(model),
      lacks_cost: lacking.has(model),
    }
  })
}
