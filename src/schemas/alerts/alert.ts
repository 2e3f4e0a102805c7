/** Alerts on the wire: additions to the spec. Spec: §6 (notifications not shown). */
import { z } from 'zod'
import { CallsFilter } from '../calls/calls-filter.ts'
import { FeedbackWindowFields } from '../feedback/feedback-window.ts'
import { nameOf, ProjectId, Time } from '../primitives.ts'
import { PageQuery, pageOf } from '../query/page-query.ts'
import { AGGREGATIONS, CALL_METRICS, USAGE_METRICS } from '../stats/stats.ts'

const NAME_CHARS_MAX = 256
const PATH_CHARS_MAX = 2048
const URL_CHARS_MAX = 2048
const MODEL_CHARS_MAX = 512
/** Limits of a window, in seconds: 5 minutes and 7 days. */
const WINDOW_S_MIN = 300
const WINDOW_S_MAX = 604_800
/** Limit: checks in a row before a change. */
const CHECKS_MAX = 60

const of = {
  aggregation: z
    .enum(AGGREGATIONS)
    .nullish()
    .describe('How values are summed up. Default: `avg` for latency and feedback, else `sum`.'),
  percentile: z
    .number()
    .min(0)
    .max(100)
    .nullish()
    .describe('Instead of an aggregation: a percentile of the values.'),
}

const CallsAlertMetric = z
  .strictObject({
    kind: z.literal('calls').describe('A metric of calls, as `/calls/stats` computes it.'),
    metric: z
      .enum([...CALL_METRICS, 'error_share'])
      .describe('`error_share` is the share of calls with an error, from 0 to 1.'),
    ...of,
  })
  .meta({ id: 'CallsAlertMetric', description: 'Counts, errors or latency of calls.' })

const UsageAlertMetric = z
  .strictObject({
    kind: z.literal('usage').describe('A metric of usage, as `/calls/stats` computes it.'),
    metric: z.enum(USAGE_METRICS).describe('Tokens, or costs in US dollars.'),
    model: z
      .string()
      .max(MODEL_CHARS_MAX)
      .nullish()
      .describe('Only usage of this model; of all together when absent.'),
    ...of,
  })
  .meta({ id: 'UsageAlertMetric', description: 'Tokens or costs of calls.' })

const { feedback_type, trigger_ref } = FeedbackWindowFields
const FeedbackAlertMetric = z
  .strictObject({
    kind: z.literal('feedback').describe('A value of feedback payloads, as `/feedback/stats`.'),
    feedback_type,
    trigger_ref,
    json_path: z
      .string()
      .min(1, 'must not be empty')
      .max(PATH_CHARS_MAX)
      .nullish()
      .describe(
        'Path of the value in payloads. Default: of `output`, `output.score`, `output.passed`, `output.value`, `value` and `score` the first that has values in the window.',
      ),
    value_type: z
      .enum(['numeric', 'boolean'])
      .nullish()
      .describe(
        'Default: `numeric`, of `output.passed` `boolean`. Values of another type are not counted; true is 1 and false 0.',
      ),
    ...of,
  })
  .meta({ id: 'FeedbackAlertMetric', description: 'A score of feedback.' })

const AlertMetric = z.discriminatedUnion('kind', [
  CallsAlertMetric,
  UsageAlertMetric,
  FeedbackAlertMetric,
])

const AlertWebhook = z
  .strictObject({
    url: z
      .string()
      .min(1)
      .max(URL_CHARS_MAX)
      .describe('http or https address that is posted to.')
      .meta({ examples: ['https://hooks.example.com/weft'] }),
    format: z
      .enum(['standard', 'slack'])
      .nullish()
      .describe(
        'Default: `standard`: type, timestamp and data. `slack`: a text, as Slack takes it.',
      ),
  })
  .meta({ id: 'AlertWebhook', description: 'Where changes are sent.' })

const checks = z.int().min(1).max(CHECKS_MAX)
const settings = {
  name: nameOf(NAME_CHARS_MAX).describe('Name, for people.'),
  is_enabled: z.boolean().describe('Whether it is checked. Disabled, it no longer fires.'),
  metric: AlertMetric.describe('What is measured.'),
  filter: CallsFilter.nullish().describe('Which calls are measured; not for feedback.'),
  window_s: z
    .int()
    .min(WINDOW_S_MIN)
    .max(WINDOW_S_MAX)
    .describe('Seconds before a check that are measured.'),
  direction: z.enum(['above', 'below']).describe('On which side of the threshold it fires.'),
  threshold: z.number().describe('It fires for values beyond this.'),
  clear_threshold: z
    .number()
    .nullish()
    .describe('It clears once values are not beyond this. Default: the threshold.'),
  fire_after_checks: checks.describe('Checks in a row beyond the threshold until it fires.'),
  clear_after_checks: checks.describe(
    'Checks in a row within the clear threshold until it clears.',
  ),
  no_value: z
    .enum(['keep', 'clear'])
    .describe('Whether a window without a value keeps the state, or counts as within it.'),
  webhook: AlertWebhook.describe('Where changes are sent.'),
}
const secret = z
  .string()
  .regex(
    /^whsec_([A-Za-z0-9+/]{4}){8,21}([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/,
    'must be whsec_ and 24 to 64 bytes in base64',
  )
  .nullish()
  .meta({ examples: [`whsec_${'A'.repeat(32)}`] })

export const AlertCreateRequest = z
  .strictObject({
    project_id: ProjectId,
    ...settings,
    is_enabled: settings.is_enabled.default(true),
    direction: settings.direction.default('above'),
    fire_after_checks: settings.fire_after_checks.default(1),
    clear_after_checks: settings.clear_after_checks.default(1),
    no_value: settings.no_value.default('keep'),
    secret: secret.describe('Signs what is sent (Standard Webhooks). Default: a new one.'),
  })
  .meta({ id: 'AlertCreateRequest', description: 'An alert to create.' })
export type AlertCreateRequest = z.infer<typeof AlertCreateRequest>

export const AlertUpdateRequest = z
  .strictObject({ ...settings, secret: secret.describe('Replaces the secret.') })
  .partial()
  .meta({ id: 'AlertUpdateRequest', description: 'What to change; what is absent stays.' })
export type AlertUpdateRequest = z.infer<typeof AlertUpdateRequest>

const measured = z.number().nullable()

const view = z.object({
  id: z.string().describe('Id of the alert.'),
  project_id: z.string().describe('Project.'),
  ...settings,
  measures: z.string().describe('What is measured in words, as `p95 of latency in ms`.'),
  filter: CallsFilter.nullable().describe('Which calls are measured; null: all.'),
  clear_threshold: measured.describe('Where it clears; null: at the threshold.'),
  state: z
    .enum(['unknown', 'ok', 'firing'])
    .describe('`unknown` until the first check and while it is disabled.'),
  value: measured.describe('Value of the last check; null: none.'),
  checked_at: Time.nullable().describe('Last check, UTC.'),
  changed_at: Time.nullable().describe('When it last fired or cleared, UTC.'),
  error: z.string().nullable().describe('Why the last check failed; null: it did not.'),
  created_at: Time.describe('When it was created, UTC.'),
})

export const AlertResponse = view.meta({ id: 'AlertResponse', description: 'An alert.' })
export type AlertResponse = z.infer<typeof AlertResponse>

export const AlertCreateResponse = view
  .extend({ secret: z.string().describe('The secret of signatures, shown this once.') })
  .meta({ id: 'AlertCreateResponse', description: 'An alert and its secret.' })

export const AlertListQuery = z.strictObject({ project_id: ProjectId })
export const AlertListResponse = z.object({
  object: z.literal('list').describe('Always `list`.'),
  data: z.array(AlertResponse).describe('Alerts, oldest first.'),
})

export const AlertParams = z.object({ alert_id: z.string().max(128).describe('Id of the alert.') })
export const AlertQuery = z.strictObject({})
export const AlertDeleteResponse = z.object({
  id: z.string().describe('Id of the alert.'),
  deleted: z.literal(true).describe('Always true.'),
})

export const AlertHistoryQuery = PageQuery
const AlertEventResponse = z
  .object({
    id: z.string().describe('Id of the change: the webhook-id of its deliveries.'),
    kind: z.enum(['fired', 'cleared']).describe('What changed.'),
    created_at: Time.describe('Check that found it, UTC.'),
    value: measured.describe('Value of the check; null: it had none.'),
    threshold: z.number().describe('The threshold that it passed.'),
    window_s: z.int().describe('Seconds that were measured.'),
    delivery: z
      .enum(['pending', 'delivered', 'failed'])
      .describe('`failed`: given up after the last attempt, or gone (410).'),
    attempts: z.int().describe('Requests that were made for it.'),
    response_status: z.int().nullable().describe('Status of the last response; null: none.'),
    error: z.string().nullable().describe('Why the last attempt failed; null: it did not.'),
    next_attempt_at: Time.nullable().describe('When it is sent next, at the earliest, UTC.'),
    delivered_at: Time.nullable().describe('When the receiver took it, UTC.'),
  })
  .meta({ id: 'AlertEventResponse', description: 'A change of an alert and its delivery.' })
export type AlertEventResponse = z.infer<typeof AlertEventResponse>
export const AlertHistoryResponse = pageOf(AlertEventResponse)

export const AlertTestResponse = z.object({
  delivered: z.boolean().describe('Whether the receiver responded with a status of 2xx.'),
  response_status: z.int().nullable().describe('Status of the response; null: none.'),
  error: z.string().nullable().describe('Why it was not delivered; null: it was.'),
})
