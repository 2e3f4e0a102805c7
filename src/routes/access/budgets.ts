/** Budgets of keys, projects and persons over HTTP. Additions to the spec. */
import {
  type Budget,
  type BudgetPeriod,
  periodOf,
  renderLimits,
  toNanos,
  toUsd,
} from '../../domain/access/budgets.ts'
import { ownsProjects } from '../../domain/access/key-view.ts'
import { type Principal, requireScope } from '../../domain/access/permissions.ts'
import type { Clock } from '../../domain/time/clock.ts'
import { ApiError, refuseField } from '../../errors.ts'
import type { App } from '../../http/app-type.ts'
import { originOf } from '../../http/audit-origin.ts'
import { newId } from '../../http/new-id.ts'
import {
  BudgetCreateRequest,
  BudgetDeleteResponse,
  BudgetListQuery,
  BudgetListResponse,
  BudgetParams,
  BudgetResponse,
  BudgetUpdateRequest,
} from '../../schemas/access/budget.ts'
import { ProjectId } from '../../schemas/primitives.ts'
import { renderTimestamp } from '../../schemas/timestamp.ts'
import type { BudgetSpending } from '../../store/api/access/budgets.ts'
import type { Stores } from '../../store/api/stores.ts'

const tags = ['server']
const url = '/v1/budgets'

interface BudgetRoutesOptions extends Pick<Stores, 'budgets' | 'keys'>, Pick<Clock, 'nowUs'> {}

export async function budgetRoutes(app: App, options: BudgetRoutesOptions): Promise<void> {
  const { budgets, nowUs } = options
  app.get(
    url,
    {
      schema: {
        tags,
        operationId: 'listBudgets',
        summary: 'List the budgets that the key may see, and what is spent (addition to the spec).',
        querystring: BudgetListQuery,
        response: { 200: BudgetListResponse },
      },
    },
    async (request) => {
      const caller = requireScope(request.principal, 'admin')
      const data: BudgetResponse[] = []
      for (const budget of await budgets.listBudgets()) {
        if (await mayManage(options, budget, caller)) data.push(await view(options, budget))
      }
      return { object: 'list' as const, data }
    },
  )

  app.post(
    url,
    {
      schema: {
        tags,
        operationId: 'createBudget',
        summary: 'Create a budget, of which nothing is spent (addition to the spec).',
        body: BudgetCreateRequest,
        response: { 200: BudgetResponse },
      },
    },
    async (request) => {
      const caller = requireScope(request.principal, 'admin')
      const { hard_usd, soft_usd, ...named } = request.body
      const isProject = named.subject_kind === 'project'
      if (isProject && !ProjectId.safeParse(named.subject_id).success) {
        refuseField('subject_id', 'must have the shape <entity>/<project>')
      }
      const amounts = { hard_nanos: toAmount(hard_usd), soft_nanos: toAmount(soft_usd) }
      const budget = { ...named, ...amounts, id: newId(), created_at_us: nowUs() }
      if (!(await mayManage(options, budget, caller))) {
        throw new ApiError(named.subject_kind === 'key' ? 'key_not_found' : 'project_forbidden', {
          param: 'subject_id',
        })
      }
      await budgets.createBudget(budget, originOf(request, caller))
      return view(options, budget)
    },
  )

  addChanges(app, options)
}

function addChanges(app: App, options: BudgetRoutesOptions): void {
  const { budgets } = options
  app.patch(
    `${url}/:budget_id`,
    {
      schema: {
        tags,
        operationId: 'updateBudget',
        summary: 'Change the limits of a budget, within a second (addition to the spec).',
        params: BudgetParams,
        body: BudgetUpdateRequest,
        response: { 200: BudgetResponse },
      },
    },
    async (request) => {
      const caller = requireScope(request.principal, 'admin')
      const found = await requireOwn(options, request.params.budget_id, caller)
      const { hard_usd, soft_usd } = request.body
      const changed = {
        ...found,
        hard_nanos: hard_usd === undefined ? found.hard_nanos : toAmount(hard_usd),
        soft_nanos: soft_usd === undefined ? found.soft_nanos : toAmount(soft_usd),
      }
      const { id, hard_nanos, soft_nanos } = changed
      const limits = { id, hard_nanos, soft_nanos }
      if (!(await budgets.updateBudget(limits, originOf(request, caller)))) throw notFound()
      return view(options, changed)
    },
  )

  app.delete(
    `${url}/:budget_id`,
    {
      schema: {
        tags,
        operationId: 'deleteBudget',
        summary: 'Delete a budget and what was counted of it (addition to the spec).',
        params: BudgetParams,
        response: { 200: BudgetDeleteResponse },
      },
    },
    async (request) => {
      const caller = requireScope(request.principal, 'admin')
      const { id } = await requireOwn(options, request.params.budget_id, caller)
      if (!(await budgets.deleteBudget(id, originOf(request, caller)))) throw notFound()
      return { id, deleted: true as const }
    },
  )
}

function toAmount(usd: number | null | undefined): number | null {
  return typeof usd === 'number' ? toNanos(usd) : null
}

/**
 * Spec: §5 (permission rules not shown). Choice: an admin of some projects manages the budgets of these and of keys of
 * these; a person has no project, so that budgets of persons need all projects.
 */
async function mayManage(
  { keys }: BudgetRoutesOptions,
  { subject_kind, subject_id }: Budget,
  caller: Principal,
): Promise<boolean> {
  if (subject_kind === 'person') return caller.projects.includes('*')
  if (subject_kind === 'project') return ownsProjects(caller, [subject_id])
  const key = await keys.findKey(subject_id)
  return key === null ? false : ownsProjects(caller, key.projects)
}

/** @throws ApiError budget_not_found, also for a budget of others */
async function requireOwn(
  options: BudgetRoutesOptions,
  id: string,
  caller: Principal,
): Promise<Budget> {
  const budget = await options.budgets.findBudget(id)
  if (budget === null || !(await mayManage(options, budget, caller))) throw notFound()
  return budget
}

function notFound(): ApiError {
  return new ApiError('budget_not_found', { param: 'budget_id' })
}

async function view({ budgets, nowUs }: BudgetRoutesOptions, budget: Budget) {
  const period = periodOf(budget, nowUs())
  return renderBudget(budget, period, await budgets.readSpending(budget.id, period.startUs))
}

function renderBudget(
  budget: Budget,
  { startUs, endUs }: BudgetPeriod,
  { spent_nanos, held_nanos }: BudgetSpending,
): BudgetResponse {
  return {
    id: budget.id,
    ...renderLimits(budget),
    spent_usd: toUsd(spent_nanos),
    reserved_usd: toUsd(held_nanos),
    period_start: renderTimestamp(startUs),
    period_end: Number.isFinite(endUs) ? renderTimestamp(endUs) : null,
    created_at: renderTimestamp(budget.created_at_us),
  }
}
