/** Tokens and costs of observations of Langfuse's API. Pure. */
import type { JsonObject } from '../../schemas/primitives.ts'
import { isObject } from '../json/is-object.ts'
import { toDouble } from '../json/json-text.ts'
import { countOrZero, objectOrEmpty } from '../json/json-values.ts'
import { parseText } from '../otel/span-reader.ts'
import type { CallCosts } from '../prices/cost.ts'

/** Counts of tokens as they were sent, or as the call reports them. */
export function usageDetails(sent: unknown, summary: JsonObject): Record<string, number> {
  const counts = parseText(sent)
  if (isObject(counts)) return numbersOf(counts)
  const details = { input: 0, output: 0, total: 0 }
  const models = Object.values(objectOrEmpty(summary.usage)).map(objectOrEmpty)
  for (const { prompt_tokens, completion_tokens, total_tokens, ...own } of models) {
    const input = countOrZero(prompt_tokens ?? own.input_tokens)
    const output = countOrZero(completion_tokens ?? own.output_tokens)
    details.input += input
    details.output += output
    details.total += countOrZero(total_tokens) || input + output
  }
  return models.length === 0 ? {} : details
}

/** Costs in US dollars as they were sent, or at the prices of the project. */
export function costDetails(sent: unknown, costs: CallCosts): Record<string, number> {
  const amounts = parseText(sent)
  if (isObject(amounts)) return numbersOf(amounts)
  if (costs.total_cost === undefined) return {}
  const models = Object.values(costs.costs ?? {}).map(objectOrEmpty)
  const sumOf = (...fields: readonly string[]) =>
    models.reduce(
      (sum, model) => sum + fields.reduce((all, name) => all + numberOf(model[name]), 0),
      0,
    )
  return {
    input: sumOf(
      'prompt_tokens_total_cost',
      'cache_read_input_tokens_total_cost',
      'cache_creation_input_tokens_total_cost',
    ),
    output: sumOf('completion_tokens_total_cost'),
    total: costs.total_cost,
  }
}

function numberOf(value: unknown): number {
  const number = toDouble(value)
  return typeof number === 'number' ? number : 0
}

function numbersOf(values: object): Record<string, number> {
  const entries = Object.entries(values).map(([name, value]) => [name, toDouble(value)] as const)
  return Object.fromEntries(
    entries.filter((entry): entry is [string, number] => typeof entry[1] === 'number'),
  )
}
