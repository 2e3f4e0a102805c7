/** Routes of a project's own prices; additions to the spec. */
import { queryPrices } from '../../domain/prices/price-query.ts'
import { resolvePrice } from '../../domain/prices/project-prices.ts'
import type { Clock } from '../../domain/time/clock.ts'
import type { App } from '../../http/app-type.ts'
import { newId } from '../../http/new-id.ts'
import { addProjectRead, addProjectWrite } from '../../http/project-routes.ts'
import { idsOf, PurgeRequest } from '../../schemas/calls/ids-query.ts'
import {
  COST_FIELDS,
  CostCreateRequest,
  CostCreateResponse,
  CostQueryResponse,
} from '../../schemas/prices/cost.ts'
import { EmptyResponse } from '../../schemas/primitives.ts'
import { RowQueryRequest } from '../../schemas/query/row-query.ts'
import type { Stores } from '../../store/api/stores.ts'

type CostRoutesOptions = Pick<Stores, 'prices'> & Pick<Clock, 'nowUs'>

export async function costRoutes(app: App, options: CostRoutesOptions): Promise<void> {
  addCostCreate(app, options)
  addCostQuery(app, options)
  addCostPurge(app, options)
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

function addCostPurge(app: App, { prices }: CostRoutesOptions): void {
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
    async ({ project_id, query }) => {
      await prices.purgePrices(project_id, idsOf(query))
      return {}
    },
  )
}
