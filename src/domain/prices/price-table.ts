/**
 * The price of a token of a model at a given time. Prices come from the data of @pydantic/genai-prices, which is part
 * of the package; nothing is fetched.
 */
import type { ConditionalPrice, ModelPrice } from '@pydantic/genai-prices'
import type { Measured } from '../stats/exact-sum.ts'
import { findListedModel } from './price-list.ts'

/** Money is counted in whole atoms of 10^-15 dollars, so that no sum depends on its order. */
export const ATOMS_PER_USD = 1e15

/** Prices are given for a million tokens. */
const ATOMS_PER_TOKEN = ATOMS_PER_USD / 1e6
/** Limit: models remembered; names are free text. */
const MODELS_MAX = 10_000
const US_PER_DAY = 86_400_000_000

/** Atoms per token; a tier holds for a whole call whose input is longer than `above` tokens. */
export interface UnitPrice {
  readonly base: Measured
  /** Ascending. */
  readonly tiers: readonly { readonly above: number; readonly price: Measured }[]
}

/** Where a price of a project's own comes from. */
interface PriceOrigin {
  readonly pricing_level: 'project'
  readonly pricing_level_id: string
  readonly created_by: string
  readonly created_at: string
}

/** The prices of one model in one period. */
export interface UnitPrices {
  readonly provider_id: string
  /** When the period begins: a day `YYYY-MM-DD` or a date-time; null when it is not known. */
  readonly effective_date: string | null
  /** Absent in a price of the package. */
  readonly origin?: PriceOrigin
  /** The tier of service that the prices are those of; absent: the standard one. */
  readonly service_tier?: string
  readonly input: UnitPrice
  readonly output: UnitPrice
  readonly cacheRead: UnitPrice
  readonly cacheCreation: UnitPrice
  /** Kinds of tokens with a price of their own; otherwise they cost what the kind does that they are part of. */
  readonly cacheCreation1h?: UnitPrice
  readonly cacheReadAudio?: UnitPrice
  readonly inputAudio?: UnitPrice
  readonly inputImage?: UnitPrice
  readonly reasoning?: UnitPrice
  readonly outputAudio?: UnitPrice
  readonly outputImage?: UnitPrice
}

export interface PriceTable {
  /**
   * The prices that held when a call started, or null when the model has none.
   *
   * @param provider - who served the model, as the client names it; null: not known
   * @param startedAtUs - microseconds since the epoch
   */
  find(model: string, provider: string | null, startedAtUs: number): UnitPrices | null
  /** A time after `us`: for all times from `us` to before it, `find` gives the same. */
  steadyUntilUs(model: string, provider: string | null, us: number): number
}

interface Period {
  readonly holdsAt: (us: number) => boolean
  /** The first time after `us` at which it may begin or cease to hold. */
  readonly nextChangeUs: (us: number) => number
  readonly prices: UnitPrices | null
}

/** The names of the package for kinds of tokens. */
const KIND_PRICES = {
  cacheCreation1h: 'cache_write_1h_mtok',
  cacheReadAudio: 'cache_audio_read_mtok',
  inputAudio: 'input_audio_mtok',
  inputImage: 'input_image_mtok',
  reasoning: 'output_reasoning_mtok',
  outputAudio: 'output_audio_mtok',
  outputImage: 'output_image_mtok',
} as const satisfies Partial<Record<keyof UnitPrices, string>>

const ZERO: UnitPrice = { base: 0, tiers: [] }
const ALWAYS: Omit<Period, 'prices'> = {
  holdsAt: () => true,
  nextChangeUs: () => Number.POSITIVE_INFINITY,
}

/** The table of the package, with a memory: a model's periods are read once. */
export function createPriceTable(): PriceTable {
  const known = new Map<string | null, Map<string, readonly Period[]>>()
  let count = 0

  function periodsOf(model: string, provider: string | null): readonly Period[] {
    const found = known.get(provider)?.get(model)
    if (found) return found
    if (count === MODELS_MAX) {
      known.clear()
      count = 0
    }
    const read = readPeriods(model, provider)
    const models = known.get(provider) ?? new Map<string, readonly Period[]>()
    known.set(provider, models.set(model, read))
    count += 1
    return read
  }

  return {
    find(model, provider, startedAtUs) {
      for (const { holdsAt, prices } of periodsOf(model, provider)) {
        if (holdsAt(startedAtUs)) return prices
      }
      return null
    },
    steadyUntilUs(model, provider, us) {
      let untilUs = Number.POSITIVE_INFINITY
      for (const { nextChangeUs } of periodsOf(model, provider)) {
        untilUs = Math.min(untilUs, nextChangeUs(us))
      }
      return untilUs
    },
  }
}

/**
 * The periods of a model, the first that holds wins; none for an unknown model. A time before the first known price has
 * that price.
 */
function readPeriods(model: string, provider: string | null): Period[] {
  const found = findListedModel(model, provider)
  if (!found) return []
  const { provider_id } = found
  const { prices } = found.model
  if (!Array.isArray(prices)) {
    return [{ ...ALWAYS, prices: readPrices(prices, provider_id, null) }]
  }
  const periods = prices.toReversed().map((entry) => readPeriod(entry, provider_id))
  const oldest = periods.at(-1)
  return oldest ? [...periods, { ...oldest, holdsAt: () => true }] : []
}

function readPeriod({ constraint, prices }: ConditionalPrice, providerId: string): Period {
  if (constraint?.type === 'start_date') {
    const fromUs = Date.parse(constraint.start_date) * 1000
    return {
      holdsAt: (us) => us >= fromUs,
      nextChangeUs: (us) => (us < fromUs ? fromUs : Number.POSITIVE_INFINITY),
      prices: readPrices(prices, providerId, constraint.start_date),
    }
  }
  const found = readPrices(prices, providerId, null)
  if (!constraint) return { ...ALWAYS, prices: found }
  const fromUs = timeOfDayUs(constraint.start_time)
  const toUs = timeOfDayUs(constraint.end_time)
  return {
    holdsAt: (us) => isWithinDay(us, fromUs, toUs),
    nextChangeUs: (us) => Math.min(nextTimeOfDayUs(us, fromUs), nextTimeOfDayUs(us, toUs)),
    prices: found,
  }
}

/** The next time after `us` that is at this time of day, UTC. */
function nextTimeOfDayUs(us: number, timeUs: number): number {
  const days = Math.floor((us - timeUs) / US_PER_DAY) + 1
  return days * US_PER_DAY + timeUs
}

/** Whether the time of day, UTC, lies in [from, to), which may pass midnight. */
function isWithinDay(us: number, fromUs: number, toUs: number): boolean {
  const time = ((us % US_PER_DAY) + US_PER_DAY) % US_PER_DAY
  return toUs < fromUs ? time >= fromUs || time < toUs : time >= fromUs && time < toUs
}

/** Microseconds from midnight UTC of a text as `16:30:00Z` or `00:30:00+08:00`. */
function timeOfDayUs(text: string): number {
  const us = Date.parse(`1970-01-02T${text}`) * 1000
  return us % US_PER_DAY
}

function readPrices(
  prices: ModelPrice,
  provider_id: string,
  effective_date: string | null,
): UnitPrices | null {
  const input = readPrice(prices.input_mtok)
  const output = readPrice(prices.output_mtok)
  if (!input && !output) return null
  const kinds = Object.entries(KIND_PRICES).flatMap(([kind, name]) => {
    const price = readPrice(prices[name])
    return price ? [[kind, price] as const] : []
  })
  return {
    provider_id,
    effective_date,
    input: input ?? ZERO,
    output: output ?? ZERO,
    cacheRead: readPrice(prices.cache_read_mtok) ?? input ?? ZERO,
    cacheCreation: readPrice(prices.cache_write_mtok) ?? input ?? ZERO,
    ...Object.fromEntries(kinds),
  }
}

function readPrice(price: ModelPrice[string]): UnitPrice | null {
  if (price === undefined) return null
  if (typeof price === 'number') return { base: toAtoms(price), tiers: [] }
  const tiers = price.tiers.map(({ start, price: above }) => ({
    above: start,
    price: toAtoms(above),
  }))
  return { base: toAtoms(price.base), tiers: tiers.sort((a, b) => a.above - b.above) }
}

function toAtoms(usdPerMillion: number): number {
  return Math.round(usdPerMillion * ATOMS_PER_TOKEN)
}
