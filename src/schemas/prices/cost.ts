/** Prices of a project on the wire: create, query, purge; additions to the spec. */

import { z } from 'zod'
import { boundedMap } from '../bounded-fields.ts'
import { IgnoredUser, nameOf, ProjectId, Time, Timestamp, Total } from '../primitives.ts'

/** Limit: models of one request. */
const COSTS_MAX = 1000
/** Limit: dollars for one token. */
const TOKEN_COST_MAX = 1_000_000
const LLM_ID_MAX = 256
const PROVIDER_ID_MAX = 256

const tokenCost = z.number().min(0).max(TOKEN_COST_MAX)
const unit = z.literal('USD').nullish()
const LlmId = nameOf(LLM_ID_MAX)

/**
 * Prices of a model's tokens from a day on.
 *
 * Spec: §2.8 (prices not shown). Choice: the names of Weave; every price is in US dollars, because sums over models
 * are.
 */
export const CostCreateInput = z
  .strictObject({
    prompt_token_cost: tokenCost.describe('USD for one input token.'),
    completion_token_cost: tokenCost.describe('USD for one output token.'),
    cache_read_input_token_cost: tokenCost
      .nullish()
      .describe('USD for one input token read from a cache; prompt_token_cost when absent.'),
    cache_creation_input_token_cost: tokenCost
      .nullish()
      .describe('USD for one input token written to a cache; prompt_token_cost when absent.'),
    prompt_token_cost_unit: unit.describe('Only `USD`.'),
    completion_token_cost_unit: unit.describe('Only `USD`.'),
    effective_date: Timestamp.nullish().describe(
      'Time from which the price applies. Default: now.',
    ),
    provider_id: nameOf(PROVIDER_ID_MAX).nullish().describe('Provider. Default: `default`.'),
  })
  .meta({ id: 'CostCreateInput', description: 'Prices of a model in a project.' })
export type CostCreateInput = z.infer<typeof CostCreateInput>

export const CostCreateRequest = z.strictObject({
  project_id: ProjectId,
  costs: boundedMap(CostCreateInput, { max: COSTS_MAX })
    .refine(
      (costs) => Object.keys(costs).every((llm_id) => LlmId.safeParse(llm_id).success),
      `must have names of 1..${LLM_ID_MAX} characters`,
    )
    .describe('Prices by the name of the model, exactly as in summary.usage.'),
  svc_user_id: IgnoredUser,
})

export const CostCreateResponse = z.object({
  ids: z.array(z.array(z.string())).describe('Pairs of the id of the price and the model.'),
})

const cost = z.number().nullable()

/** Fields of a price that a query may select. */
export const COST_FIELDS = [
  'id',
  'llm_id',
  'provider_id',
  'effective_date',
  'prompt_token_cost',
  'completion_token_cost',
  'cache_read_input_token_cost',
  'cache_creation_input_token_cost',
  'prompt_token_cost_unit',
  'completion_token_cost_unit',
] as const

/** A price in a response, with only the selected fields. */
export const CostQueryOutput = z
  .object({
    id: z.string().describe('Id of the price.'),
    llm_id: z.string().describe('Name of the model.'),
    provider_id: z.string().describe('Provider.'),
    effective_date: Time.describe('Time from which the price applies, UTC.'),
    prompt_token_cost: z.number().describe('USD for one input token.'),
    completion_token_cost: z.number().describe('USD for one output token.'),
    cache_read_input_token_cost: cost.describe('USD for one input token read from a cache.'),
    cache_creation_input_token_cost: cost.describe('USD for one input token written to a cache.'),
    prompt_token_cost_unit: z.string().describe('USD.'),
    completion_token_cost_unit: z.string().describe('USD.'),
  })
  .partial()
  .meta({ id: 'CostQueryOutput', description: 'A price of the project.' })
export type CostQueryOutput = z.infer<typeof CostQueryOutput>

export const CostQueryResponse = z.object({
  results: z.array(CostQueryOutput).describe('The prices, in the requested order.'),
})

/** A window of calls whose models may have no price. */
export const UnpricedModelsRequest = z.strictObject({
  project_id: ProjectId,
  start: Timestamp.nullish().describe('Inclusive; 30 days ago when absent.'),
  end: Timestamp.nullish().describe('Exclusive, not before start; now when absent.'),
})

export const UnpricedModelsResponse = z.object({
  start: Time.describe('Start of the window, UTC.'),
  end: Time.describe('End of the window, UTC.'),
  models: z
    .array(
      z.object({
        llm_id: z.string().describe('Name of the model, for which `/cost/create` sets a price.'),
        calls: Total.describe('Calls with usage of the model.'),
        input_tokens: Total.describe('Input tokens of all of its calls.'),
        output_tokens: Total.describe('Output tokens of all of its calls.'),
        known_cost: z
          .number()
          .nullable()
          .describe(
            'Cost of its calls with a price or a reported cost, USD; null: no call has one.',
          ),
        has_reported_cost: z
          .boolean()
          .describe('Whether calls without a price have a cost that the clients report.'),
        lacks_cost: z.boolean().describe('Whether calls have neither a price nor a reported cost.'),
      }),
    )
    .describe('Models of which calls have no price, sorted by name.'),
})
