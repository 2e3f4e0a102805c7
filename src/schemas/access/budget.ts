/** Budgets on the wire: additions to the spec. Spec: §8 (quotas not shown). */
import { z } from 'zod'
import { nameOf, Time } from '../primitives.ts'
import { TimeZone } from '../stats/stats.ts'

const SUBJECT_CHARS_MAX = 257
/** Limit: dollars of a budget, so that sums in 10^-9 dollars stay exact. */
const USD_MAX = 1_000_000

const amount = z.number().min(0).max(USD_MAX).nullish()
const limits = {
  hard_usd: amount.describe(
    'US dollars, counted to 10^-9: once so much is spent or reserved, no request begins. null: no limit.',
  ),
  soft_usd: amount.describe('US dollars: once so much is spent, responses warn. null: never.'),
}
const subject_kind = z
  .enum(['key', 'project', 'person'])
  .describe('Whose requests count: those of a key, of a project or of a user.')
const period = z
  .enum(['day', 'week', 'month', 'life'])
  .describe('When it begins anew; weeks on Monday, `life` never.')

export const BudgetCreateRequest = z
  .strictObject({
    subject_kind,
    subject_id: nameOf(SUBJECT_CHARS_MAX).describe(
      'Id of the key, `<entity>/<project>`, or the svc_user_id of keys.',
    ),
    period,
    zone: TimeZone.default('UTC').describe('IANA time zone in which periods begin.'),
    ...limits,
  })
  .refine(({ hard_usd, soft_usd }) => (hard_usd ?? soft_usd ?? null) !== null, {
    message: 'must be given, or soft_usd',
    path: ['hard_usd'],
  })
  .meta({ id: 'BudgetCreateRequest', description: 'A budget to create.' })
export type BudgetCreateRequest = z.infer<typeof BudgetCreateRequest>

export const BudgetUpdateRequest = z.strictObject(limits).meta({
  id: 'BudgetUpdateRequest',
  description: 'The limits to change; one that is absent stays. What is spent stays, too.',
})
export type BudgetUpdateRequest = z.infer<typeof BudgetUpdateRequest>

export const BudgetResponse = z
  .object({
    id: z.string().describe('Id of the budget.'),
    subject_kind,
    subject_id: z.string().describe('Id of the key, of the project or of the user.'),
    period,
    zone: z.string().describe('Time zone in which periods begin.'),
    hard_usd: z.number().nullable().describe('Limit in US dollars; null: none.'),
    soft_usd: z.number().nullable().describe('Warning in US dollars; null: none.'),
    spent_usd: z.number().describe('Spent in the period, settled every second.'),
    reserved_usd: z
      .number()
      .describe('Leased by servers: reserved by running requests, and what these lease beyond it.'),
    period_start: Time.describe('When the period began, UTC.'),
    period_end: Time.nullable().describe('When it ends, UTC; null: never.'),
    created_at: Time.describe('When the budget was created, UTC.'),
  })
  .meta({ id: 'BudgetResponse', description: 'A budget and what is spent of it.' })
export type BudgetResponse = z.infer<typeof BudgetResponse>

export const BudgetListResponse = z.object({
  object: z.literal('list').describe('Always `list`.'),
  data: z.array(BudgetResponse).describe('Budgets, oldest first.'),
})

export const BudgetListQuery = z.strictObject({})
export const BudgetParams = z.object({
  budget_id: z.string().max(128).describe('Id of the budget.'),
})
export const BudgetDeleteResponse = z.object({
  id: z.string().describe('Id of the budget.'),
  deleted: z.literal(true).describe('Always true.'),
})
