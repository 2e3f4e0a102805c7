/** Overrides the default prices with those of a project. Pure; the caller provides the rows. */
import type { CostCreateInput, CostQueryOutput } from '../../schemas/prices/cost.ts'
import { renderTimestamp, timestampUs } from '../../schemas/timestamp.ts'
import { decimalAtoms, renderDecimal } from './decimal.ts'
import {
  createPriceTable,
  type PriceTable,
  type UnitPrice,
  type UnitPrices,
} from './price-table.ts'

/** The package's prices; the same for all, and a model's periods are read once. */
const PACKAGE_PRICES = createPriceTable()

/** A stored price: USD per token as decimal text, times in microseconds. */
export interface ProjectPrice {
  readonly project_id: string
  readonly id: string
  readonly llm_id: string
  readonly provider_id: string
  readonly effective_at_us: number
  readonly prompt_token_cost: string
  readonly completion_token_cost: string
  /** null: cached tokens cost what other input tokens cost. */
  readonly cache_read_input_token_cost: string | null
  readonly cache_creation_input_token_cost: string | null
  readonly svc_user_id: string
  readonly created_at_us: number
}

interface PriceDefaults {
  readonly project_id: string
  readonly id: string
  readonly svc_user_id: string
  readonly created_at_us: number
}

/**
 * Resolves a price that a client sends.
 *
 * Spec: §2.8 (prices not shown). Choice: a price without a date holds from now on; one without prices of
 * cached tokens has them at the price of the input, a sent 0 is 0.
 */
export function resolvePrice(
  llm_id: string,
  cost: CostCreateInput,
  defaults: PriceDefaults,
): ProjectPrice {
  const decimal = (value: number | null | undefined) =>
    typeof value === 'number' ? renderDecimal(value) : null
  return {
    ...defaults,
    llm_id,
    provider_id: cost.provider_id ?? 'default',
    effective_at_us: cost.effective_date
      ? timestampUs(cost.effective_date)
      : defaults.created_at_us,
    prompt_token_cost: renderDecimal(cost.prompt_token_cost),
    completion_token_cost: renderDecimal(cost.completion_token_cost),
    cache_read_input_token_cost: decimal(cost.cache_read_input_token_cost),
    cache_creation_input_token_cost: decimal(cost.cache_creation_input_token_cost),
  }
}

/** A stored price as `/cost/query` shows it. */
export function renderPrice(price: ProjectPrice): Required<CostQueryOutput> {
  const cost = (text: string | null) => (text === null ? null : Number(text))
  return {
    id: price.id,
    llm_id: price.llm_id,
    provider_id: price.provider_id,
    effective_date: renderTimestamp(price.effective_at_us),
    prompt_token_cost: Number(price.prompt_token_cost),
    completion_token_cost: Number(price.completion_token_cost),
    cache_read_input_token_cost: cost(price.cache_read_input_token_cost),
    cache_creation_input_token_cost: cost(price.cache_creation_input_token_cost),
    prompt_token_cost_unit: 'USD',
    completion_token_cost_unit: 'USD',
  }
}

/**
 * The price table of a project. Prices that hold at the time come first, then the project's before the
 * defaults, then the newest, of equal ones the last stored.
 *
 * @param prices - all of the project, in the order in which they were stored
 *
 * Spec: §2.8 (cost metrics not shown). Choice: the order of Weave, so that a price of tomorrow does not
 * price yesterday while another one holds.
 */
export function layerPrices(
  prices: readonly ProjectPrice[],
  defaults: PriceTable = PACKAGE_PRICES,
): PriceTable {
  const byModel = Map.groupBy(prices.toReversed(), ({ llm_id }) => llm_id)
  const known = new Map<string, readonly Dated[]>()

  function pricesOf(model: string): readonly Dated[] {
    const own = byModel.get(model)
    if (own === undefined) return []
    const found = known.get(model)
    if (found) return found
    const newestFirst = own.sort((a, b) => b.effective_at_us - a.effective_at_us)
    const read = newestFirst.map((price) => ({
      fromUs: price.effective_at_us,
      prices: toUnitPrices(price),
    }))
    known.set(model, read)
    return read
  }

  return {
    find(model, provider, startedAtUs) {
      const own = pricesOf(model)
      if (own.length === 0) return defaults.find(model, provider, startedAtUs)
      const holding = own.find(({ fromUs }) => fromUs <= startedAtUs)
      if (holding) return holding.prices
      const fallback = defaults.find(model, provider, startedAtUs)
      return fallback && holdsAt(fallback, startedAtUs) ? fallback : (own[0]?.prices ?? null)
    },
    steadyUntilUs(model, provider, us) {
      const later = pricesOf(model).filter(({ fromUs }) => fromUs > us)
      const ofDefaults = defaults.steadyUntilUs(model, provider, us)
      return Math.min(ofDefaults, ...later.map(({ fromUs }) => fromUs))
    },
  }
}

interface Dated {
  readonly fromUs: number
  readonly prices: UnitPrices
}

/** A default price without a date always holds. */
function holdsAt({ effective_date }: UnitPrices, us: number): boolean {
  return effective_date === null || timestampUs(`${effective_date}T00:00:00Z`) <= us
}

function toUnitPrices(price: ProjectPrice): UnitPrices {
  const unit = (text: string): UnitPrice => ({ base: decimalAtoms(text), tiers: [] })
  const input = unit(price.prompt_token_cost)
  const { cache_read_input_token_cost: read, cache_creation_input_token_cost: creation } = price
  return {
    provider_id: price.provider_id,
    effective_date: renderTimestamp(price.effective_at_us),
    origin: {
      pricing_level: 'project',
      pricing_level_id: price.project_id,
      created_by: price.svc_user_id,
      created_at: renderTimestamp(price.created_at_us),
    },
    input,
    output: unit(price.completion_token_cost),
    cacheRead: read === null ? input : unit(read),
    cacheCreation: creation === null ? input : unit(creation),
  }
}
