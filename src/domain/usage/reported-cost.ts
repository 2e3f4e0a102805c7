/** Reads what a client reports as the cost of a model in one call, whatever its naming. Pure. */
import { isObject } from '../json/is-object.ts'
import { toDouble } from '../json/json-text.ts'

type Json = Readonly<Record<string, unknown>>

interface ReportedCost {
  /** In 10^-8 US dollars, a whole number >= 0; null: none is reported, or none that counts. */
  readonly microcents: number | null
  /** What is no amount, as `<field> <rule>`. */
  readonly problems: readonly string[]
}

/** Limit: US dollars of one model in one call. */
const REPORTED_COST_MAX_USD = 1_000_000
const MICROCENTS_PER_USD = 1e8

/**
 * Names of a cost in US dollars: of OpenRouter (also an object, at Perplexity), LangSmith, Claude's SDKs, LiteLLM and
 * DeepInfra.
 */
const COST = ['cost', 'total_cost', 'cost_usd', 'total_cost_usd', 'response_cost', 'estimated_cost']
/** xAI's cost, in 10^-10 US dollars. */
const TICKS = 'cost_in_usd_ticks'
const TICKS_PER_USD = 1e10
/** Names of the sum in an object. */
const TOTAL = ['total_cost', 'total', 'total_cost_usd']
/** The four entries of a cost as Weave's servers add it to a summary. */
const PARTS = [
  'prompt_tokens_total_cost',
  'completion_tokens_total_cost',
  'cache_read_input_tokens_total_cost',
  'cache_creation_input_tokens_total_cost',
]
const DECIMAL_TEXT = /^\d{1,20}(\.\d{1,30})?([eE][+-]?\d{1,3})?$/

/**
 * Reads the cost that a report of usage holds.
 *
 * @param copied - the entry of the model in `summary.weave.costs`, which a call has that is copied from another server
 *
 * Spec: §2.5 summary (shape not shown). Choice: a cost counts as US dollars; one that is negative, no number or over
 * REPORTED_COST_MAX_USD is kept as sent, counts as none and is named. Where OpenRouter bills a key of the client's own,
 * its cost is the fee, to which that of the upstream is added.
 */
export function readReportedCost(report: Json, copied: unknown): ReportedCost {
  for (const name of COST) {
    const value = report[name]
    if (value === undefined || value === null) continue
    const amount = toAmount(isObject(value) ? totalOf(value) : value)
    const upstream = upstreamOf(report)
    if (amount === null || upstream === null) {
      const rule = `is no amount from 0 to ${REPORTED_COST_MAX_USD} US dollars`
      return { microcents: null, problems: [`${amount === null ? name : 'cost_details'} ${rule}`] }
    }
    return { microcents: Math.round((amount + upstream) * MICROCENTS_PER_USD), problems: [] }
  }
  const ticks = toAmount(report[TICKS], REPORTED_COST_MAX_USD * TICKS_PER_USD)
  if (ticks !== null) {
    return { microcents: Math.round((ticks * MICROCENTS_PER_USD) / TICKS_PER_USD), problems: [] }
  }
  const parts = isObject(copied) ? PARTS.map((name) => toAmount(copied[name] ?? 0)) : []
  const isCopied = parts.length > 0 && parts.every((part) => part !== null)
  const sum = isCopied ? parts.reduce<number>((total, part) => total + (part ?? 0), 0) : 0
  return { microcents: sum > 0 ? Math.round(sum * MICROCENTS_PER_USD) : null, problems: [] }
}

/** Returns the fields of a report that its cost is read from. */
export function costFields(report: Json): Json {
  const names = [...COST, TICKS, 'cost_details', 'is_byok']
  return Object.fromEntries(
    names.filter((name) => report[name] !== undefined).map((name) => [name, report[name]]),
  )
}

/** The sum that an object of costs has, or that of its parts. */
function totalOf(value: Json): unknown {
  const total = TOTAL.map((name) => value[name]).find((one) => one !== undefined && one !== null)
  if (total !== undefined) return total
  const parts = Object.values(value).map((part) => toAmount(part))
  return parts.length > 0 && parts.every((part) => part !== null)
    ? parts.reduce<number>((sum, part) => sum + (part ?? 0), 0)
    : null
}

/** What the upstream of OpenRouter takes beside its fee; null where that is no amount. */
function upstreamOf({ is_byok, cost_details: details }: Json): number | null {
  if (is_byok !== true || !isObject(details)) return 0
  return toAmount(details.upstream_inference_cost ?? 0)
}

/** Texts are read as decimals. */
function toAmount(value: unknown, max: number = REPORTED_COST_MAX_USD): number | null {
  const sent = toDouble(value)
  const amount = typeof sent === 'string' && DECIMAL_TEXT.test(sent) ? Number(sent) : sent
  const isAmount = typeof amount === 'number' && amount >= 0 && amount <= max
  return isAmount ? amount : null
}
