/** What a request may cost, and what it has cost, of the budgets of its key, project and person. */
import {
  atomsToNanos,
  type Budget,
  type BudgetPeriod,
  nameBudget,
  toUsd,
} from '../../../domain/access/budgets.ts'
import type { Principal } from '../../../domain/access/permissions.ts'
import { AS_REPORTED, add, findPricing, priceUsage } from '../../../domain/prices/cost.ts'
import type { PriceTable } from '../../../domain/prices/price-table.ts'
import { layerPrices } from '../../../domain/prices/project-prices.ts'
import type { Measured } from '../../../domain/stats/exact-sum.ts'
import { ApiError } from '../../../errors.ts'
import { renderTimestamp } from '../../../schemas/timestamp.ts'
import type { BudgetStore } from '../../../store/api/access/budgets.ts'
import type { PriceStore } from '../../../store/api/prices/prices.ts'
import { findUpstreamModel, type ServedModel } from '../../models/registry.ts'
import type { CompletionRecord } from '../record/completion-record.ts'
import { type BudgetAccounts, type Reservation, remainingOf, spentOf } from './budget-accounts.ts'
import type { Account } from './leases.ts'
import { costOf, type Rates, type Tokens, toRates } from './rates.ts'

/** How long budgets and prices are cached. */
const CACHE_MS = 1_000
/** Limit: cached entries, of callers or of projects. */
const CACHED_MAX = 10_000
/** Output of a choice that is reserved where the request limits none. */
const OUTPUT_TOKENS = 16_384
/** Bytes of text in a token, for a response that reports no usage. */
const BYTES_PER_TOKEN = 4
const RETRY_AFTER_S = 1

type Headers = Readonly<Record<string, string>>

/** How one model's attempt at a response ended. */
export type AttemptEnd = 'complete' | 'failed' | 'cancelled'

/** Replaces what is reserved by what was spent. */
export type Charge = (end: AttemptEnd) => void

interface SpendingRequest {
  readonly caller: Principal
  readonly projectId: string | null
  /** As received. */
  readonly body: string
  /** Has the limits of the output. */
  readonly request: Readonly<Record<string, unknown>>
  readonly record: Pick<CompletionRecord, 'usage'>
  readonly setHeaders: (headers: Headers) => void
}

export interface Spending {
  /**
   * Reserves what a model may cost, of all budgets that apply.
   *
   * @returns null if none applies; a promise only if the store must be asked
   * @throws ApiError budget_exceeded, model_unpriced, store_unavailable
   */
  reserve(request: SpendingRequest, model: ServedModel): Charge | null | Promise<Charge | null>
}

interface SpendingOptions {
  readonly budgets: Pick<BudgetStore, 'findBudgets'>
  readonly prices: Pick<PriceStore, 'listPrices'>
  readonly accounts: BudgetAccounts
  readonly nowUs: () => number
}

/**
 * Spec: §8 (not shown). Choice: a model without a price is refused by name under a budget, since its cost is not known;
 * `tiny` runs here and costs nothing.
 */
export function createSpending({ budgets, prices, accounts, nowUs }: SpendingOptions): Spending {
  const findBudgets = createCache<readonly Budget[]>()
  const findRates = createCache<Rates>()

  async function readRates(projectId: string | null, model: ServedModel): Promise<Rates> {
    const table = layerPrices(projectId === null ? [] : await prices.listPrices(projectId))
    const named = {
      model: model.id,
      provider: model.backend.findProvider?.() ?? null,
      upstream_model: findUpstreamModel(model),
      service_tier: null,
      reports_cost: false,
    }
    const pricing = findPricing(table, named, nowUs())
    if (pricing !== null && pricing !== AS_REPORTED) return toRates(table, pricing)
    const message = `The model \`${model.id}\` has no price, and a budget applies: set its price with /cost/create in the project that the request names.`
    throw new ApiError('model_unpriced', { param: 'model', message })
  }

  function reserve(
    request: SpendingRequest,
    model: ServedModel,
    applying: readonly Budget[],
  ): Charge | Promise<Charge> {
    const { projectId } = request
    const rates = findRates(`${projectId}\n${model.id}`, () => readRates(projectId, model))
    return after(rates, (found) => {
      const tokens = boundTokens(request)
      const reserved = costOf(found.most, tokens)
      return after(accounts.reserve(applying, reserved, refusalOf), (reservation) => {
        request.setHeaders(renderHeaders(reservation.accounts))
        return createCharge({ request, model, rates: found, tokens, reserved, reservation })
      })
    })
  }

  function createCharge(begun: Begun): Charge {
    const { request, model, rates, tokens, reserved, reservation } = begun
    const startedAtUs = nowUs()
    return (end) => {
      const usage = request.record.usage()
      if (usage !== null && !usage.isEstimated) {
        reservation.settle(spentOn(usage.counts, model, rates.table, startedAtUs))
      } else if (end === 'failed') reservation.settle(0)
      else if (end === 'cancelled' && usage === null) reservation.settle(reserved)
      else {
        const output = Number(usage?.counts.completion_tokens ?? 0)
        const input = Math.ceil(tokens.input / BYTES_PER_TOKEN)
        reservation.settle(costOf(rates.base, { input, output }))
      }
    }
  }

  return {
    reserve(request, model) {
      if (model.backend.kind === 'tiny') return null
      const { keyId: key_id, svc_user_id } = request.caller
      const project_id = request.projectId ?? ''
      const found = findBudgets(`${key_id}\n${project_id}`, () =>
        budgets.findBudgets({ key_id, project_id, svc_user_id }),
      )
      if (found instanceof Promise) {
        return found.then((all) => (all.length === 0 ? null : reserve(request, model, all)))
      }
      return found.length === 0 ? null : reserve(request, model, found)
    },
  }
}

interface Begun {
  readonly request: SpendingRequest
  readonly model: ServedModel
  readonly rates: Rates
  readonly tokens: Tokens
  readonly reserved: number
  readonly reservation: Reservation
}

/** Continues at once with a value that is there: most requests wait for nothing. */
function after<T, U>(value: T | Promise<T>, next: (value: T) => U | Promise<U>): U | Promise<U> {
  return value instanceof Promise ? value.then(next) : next(value)
}

/** Returns a function that finds values by name, cached for a second; a promise only if the value must be read. */
function createCache<T>() {
  let values = new Map<string, T>()
  let untilMs = 0
  return (name: string, read: () => Promise<T>): T | Promise<T> => {
    const now = performance.now()
    if (now >= untilMs || values.size >= CACHED_MAX) {
      values = new Map()
      untilMs = now + CACHE_MS
    }
    const cached = values.get(name)
    if (cached !== undefined) return cached
    const target = values
    return read().then((value) => {
      target.set(name, value)
      return value
    })
  }
}

/** Upper bounds: a token has a byte at least. */
function boundTokens({ body, request }: SpendingRequest) {
  const { max_completion_tokens, max_output_tokens, max_tokens, n, best_of } = request
  const limit = [max_completion_tokens, max_output_tokens, max_tokens].find(isCount)
  const choices = Math.max(isCount(n) ? n : 1, isCount(best_of) ? best_of : 1)
  return { input: Buffer.byteLength(body), output: (limit ?? OUTPUT_TOKENS) * choices }
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0
}

/** The cost of a response in 10^-9 dollars, by the rules of the costs of calls. */
export function spentOn(
  counts: Readonly<Record<string, unknown>>,
  model: ServedModel,
  table: PriceTable,
  startedAtUs: number,
): number {
  const upstream_model = findUpstreamModel(model)
  const provider = model.backend.findProvider?.() ?? null
  const report = { ...counts, ...(upstream_model === null ? {} : { upstream_model }) }
  const call = {
    summary: { usage: { [model.id]: report } },
    attributes: provider === null ? {} : { provider },
    started_at_us: startedAtUs,
  }
  return atomsToNanos(
    priceUsage(call, table).reduce<Measured>((sum, { atoms }) => add(sum, atoms), 0),
  )
}

/**
 * Spec: §8 (not shown). Choice: when only running requests hold the rest, a client may retry soon; otherwise not before
 * the next period.
 */
function refusalOf(account: Account): ApiError {
  const { budget, period } = account
  const spent = spentOf(account)
  const reserved = account.open + (account.state?.others_nanos ?? 0)
  const isSpent = budget.hard_nanos !== null && spent >= budget.hard_nanos
  const until = Number.isFinite(period.endUs)
    ? `The next period begins at ${renderTimestamp(period.endUs)}.`
    : 'It has no next period.'
  const message = `The ${nameBudget(budget)} is used up: ${toUsd(spent)} of ${toUsd(budget.hard_nanos ?? 0)} dollars are spent, ${toUsd(reserved)} are reserved by requests that run. ${until}`
  return new ApiError('budget_exceeded', {
    message,
    ...(isSpent ? {} : { retryAfterS: RETRY_AFTER_S }),
    headers: { ...renderHeaders([account]), ...(isSpent ? { 'x-should-retry': 'false' } : {}) },
  })
}

/** The texts of ends of periods, each of which many responses have. */
const ends = new WeakMap<BudgetPeriod, string>()

function renderEnd(period: BudgetPeriod): string {
  const known = ends.get(period)
  if (known !== undefined) return known
  const text = renderTimestamp(period.endUs)
  ends.set(period, text)
  return text
}

/** Names the budget of which least is left, and one whose soft limit is passed. */
function renderHeaders(accounts: readonly Account[]): Headers {
  const limited = accounts.filter(({ budget }) => budget.hard_nanos !== null)
  const [first, ...others] = limited
  const tightest = others.reduce(
    (least, one) => ((remainingOf(one) ?? 0) < (remainingOf(least as Account) ?? 0) ? one : least),
    first,
  )
  const warned = accounts.find(
    (account) =>
      account.budget.soft_nanos !== null && spentOf(account) >= account.budget.soft_nanos,
  )
  return {
    ...(tightest === undefined
      ? {}
      : {
          'x-weft-budget': nameBudget(tightest.budget),
          'x-weft-budget-limit-usd': String(toUsd(tightest.budget.hard_nanos ?? 0)),
          'x-weft-budget-remaining-usd': String(toUsd(Math.max(0, remainingOf(tightest) ?? 0))),
          ...(Number.isFinite(tightest.period.endUs)
            ? { 'x-weft-budget-reset': renderEnd(tightest.period) }
            : {}),
        }),
    ...(warned === undefined
      ? {}
      : {
          'x-weft-budget-warning': `${nameBudget(warned.budget)}: ${toUsd(spentOf(warned))} of ${toUsd(warned.budget.soft_nanos ?? 0)} dollars are spent`,
        }),
  }
}
