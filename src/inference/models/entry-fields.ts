/** Fields that several kinds of entries of the models file have. */
import { z } from 'zod'
import { CAPABILITIES } from '../backend.ts'
import { RETRIED_CODES, USUAL_RETRIES } from '../openai/upstream/targets.ts'

/** Limits for an entry. */
const ALIASES_MAX = 100
const NAME_CHARS_MAX = 512
const UPSTREAMS_MAX = 64
const FALLBACKS_MAX = 8
const CONCURRENT_MAX = 100_000
const TIMEOUT_MS_MAX = 3_600_000
/** 30 days. */
const CACHE_TTL_S_MAX = 2_592_000
/** Codes of refusals that another model may not have. */
const FALLBACK_REFUSALS = ['context_length_exceeded', 'content_filter'] as const
const PATH_CHARS_MAX = 4_096
const RETRIES_MAX = 10

const modelName = () =>
  z
    .string('must be a string')
    .regex(/^[^\s\p{C}](?:[^\p{C}]*[^\s\p{C}])?$/u, 'must be visible text without spaces around it')
    .regex(/^(?!\/).*(?<!\/)$/, 'must not begin or end with a slash')
    .max(NAME_CHARS_MAX, `must have at most ${NAME_CHARS_MAX} characters`)

const timeout = (fallback: number) =>
  z
    .int('must be a whole number of milliseconds')
    .min(1, 'must be 1 or more')
    .max(TIMEOUT_MS_MAX, `must be at most ${TIMEOUT_MS_MAX}`)
    .default(fallback)

const Timeouts = z.strictObject({
  connect: timeout(5_000).describe('Until the connection is established. Default 5000.'),
  first_byte: timeout(120_000).describe(
    'From the request to the first byte of a stream; answers that are not streamed are bounded by total alone. Default 120000.',
  ),
  idle: timeout(60_000).describe('Between two chunks of an answer. Default 60000.'),
  total: timeout(600_000).describe('For the whole answer. Default 600000.'),
})

export const baseUrl = () =>
  z
    .string('must be a string')
    .refine(isBaseUrl, 'must be an http or https address without credentials or fragment')
    .regex(/^(?!.*\/chat\/completions\/?(?:\?|$))/, 'must end before /chat/completions')
export const keyVariable = () =>
  z
    .string('must be a string')
    .regex(/^[A-Za-z_]\w{0,127}$/, 'must be the name of a variable with the key, not the key')
    .regex(/^(?!WEFT_)/, "must name a variable that is not Weft's own")
    .optional()

/** An HTTP service that is asked before and after completions. */
const Guard = z.strictObject({
  url: z
    .string('must be a string')
    .refine(isBaseUrl, 'must be an http or https address without credentials or fragment')
    .describe('Address that verdicts are requested from, by POST.'),
  api_key_env: keyVariable().describe(
    'Environment variable that holds a bearer token for it. Default: none is sent.',
  ),
  timeout_ms: z
    .int('must be a whole number of milliseconds')
    .min(1, 'must be 1 or more')
    .max(60_000, 'must be at most 60000')
    .default(2_000)
    .describe('For each verdict. Default 2000.'),
  on_failure: z
    .enum(['closed', 'open'], 'must be closed or open')
    .default('closed')
    .describe('Whether completions fail, or go on, where no valid verdict comes. Default closed.'),
  phases: z
    .array(z.enum(['request', 'response'], 'must be request or response'), 'must be a list')
    .min(1, 'must not be empty')
    .max(2, 'must name each one once')
    .default(['request', 'response'])
    .describe('When it is asked. Default: both.'),
})

export const COMMON_FIELDS = {
  id: modelName().describe('Name that clients send as `model`; may contain slashes.'),
  aliases: z
    .array(modelName())
    .max(ALIASES_MAX, `must have at most ${ALIASES_MAX} entries`)
    .default([])
    .describe('Other names of the model.'),
  owned_by: z
    .string('must be a string')
    .min(1, 'must not be empty')
    .max(256, 'must have at most 256 characters')
    .default('weft')
    .describe('Owner of the model, shown in the listing as owned_by. Default weft.'),
  tools: z
    .boolean('must be true or false')
    .default(false)
    .describe('Whether it supports tool calls.'),
  capabilities: z
    .array(z.enum(CAPABILITIES, `must be one of ${CAPABILITIES.join(', ')}`), 'must be a list')
    .min(1, 'must not be empty')
    .max(CAPABILITIES.length, 'must name each one once')
    .optional()
    .describe('Endpoints that it serves. Default: those that are usual for the engine.'),
  priority_scheduling: z
    .boolean('must be true or false')
    .default(false)
    .describe('Whether `priority` may be other than 0; waiting requests are then ordered by it.'),
  max_concurrent: z
    .int('must be a whole number')
    .min(1, 'must be 1 or more')
    .max(CONCURRENT_MAX, `must be at most ${CONCURRENT_MAX}`)
    .optional()
    .describe('Completions that may run at once; others wait. Default: no limit.'),
  fallbacks: z
    .array(modelName(), 'must be a list')
    .max(FALLBACKS_MAX, `must have at most ${FALLBACKS_MAX} entries`)
    .default([])
    .describe(
      'Models that are tried, in this order, when this one fails before its answer begins.',
    ),
  fallback_on: z
    .array(z.enum(FALLBACK_REFUSALS, `must be ${FALLBACK_REFUSALS.join(' or ')}`), 'must be a list')
    .max(FALLBACK_REFUSALS.length, 'must name each one once')
    .optional()
    .describe('Refusals of a request after which fallbacks are tried, too. Default: none.'),
  guard: Guard.optional().describe(
    'A service that may refuse, redact or annotate its chats. Default: none.',
  ),
  cache: z
    .strictObject({
      ttl_s: z
        .int('must be a whole number of seconds')
        .min(1, 'must be 1 or more')
        .max(CACHE_TTL_S_MAX, `must be at most ${CACHE_TTL_S_MAX}`)
        .default(3_600)
        .describe('Seconds that a completion stays. Default 3600.'),
      mode: z
        .enum(['automatic', 'requested'], 'must be automatic or requested')
        .default('automatic')
        .describe(
          'Whether all requests use it, or those with `X-Weft-Cache: on`. Default automatic.',
        ),
    })
    .optional()
    .describe('Whether the same request gets the same completion again. Default: it does not.'),
  default: z
    .boolean('must be true or false')
    .default(false)
    .describe(
      'Whether requests without a model use this one; otherwise they use the first of the file.',
    ),
} as const

const caFile = () =>
  z
    .string('must be a string')
    .min(1, 'must not be empty')
    .max(PATH_CHARS_MAX, `must have at most ${PATH_CHARS_MAX} characters`)
    .optional()

const Upstream = z.strictObject({
  base_url: baseUrl().describe('Like base_url of the model.'),
  upstream_model: modelName().optional().describe('Default: that of the model.'),
  api_key_env: keyVariable().describe('Default: that of the model.'),
  ca_file: caFile().describe('Default: that of the model.'),
  weight: z
    .number('must be a number')
    .positive('must be above 0')
    .max(1_000, 'must be at most 1000')
    .default(1)
    .describe('Its share of the load, relative to the other upstreams. Default 1.'),
})

/** One of several upstreams of a model; the weight is 1 if absent. */
export type UpstreamEntry = Omit<z.output<typeof Upstream>, 'weight'> & { weight?: number }

const Retries = z.strictObject({
  max: z
    .int('must be a whole number')
    .min(0, 'must be 0 or more')
    .max(RETRIES_MAX, `must be at most ${RETRIES_MAX}`)
    .default(USUAL_RETRIES.retriesMax)
    .describe('Tries after the first one; 0: none. Default 2.'),
  within_ms: timeout(USUAL_RETRIES.withinMs).describe(
    'From the first try to the beginning of the last one. Default 10000.',
  ),
  on: z
    .array(z.enum(RETRIED_CODES, `must be one of ${RETRIED_CODES.join(', ')}`), 'must be a list')
    .max(RETRIED_CODES.length, 'must name each one once')
    .default([])
    .describe(
      'Failures after which a request is sent again although the upstream may have processed it. Default: none.',
    ),
})
export type RetriesEntry = z.output<typeof Retries>

/** Fields of all models that this server does not run itself. */
export const REMOTE_FIELDS = {
  unsupported: z
    .enum(['reject', 'drop'], 'must be reject or drop')
    .default('reject')
    .describe('What happens to fields that the engine does not support. Default reject.'),
  upstream_model: modelName()
    .optional()
    .describe('Name of the model at the upstream. Default: the id.'),
  api_key_env: keyVariable().describe(
    'Environment variable that holds the key of the upstream. Default: no key is sent.',
  ),
  ca_file: caFile().describe(
    'File of PEM certificates that replace the default certificate authorities for the upstream; relative to the folder of the models file.',
  ),
  timeout_ms: Timeouts.prefault({}).describe('Timeouts, in milliseconds.'),
  retries: Retries.prefault({}).describe('When a request is sent to an upstream again.'),
}

/** Fields of models that may have several upstreams. */
export const UPSTREAM_FIELDS = {
  ...REMOTE_FIELDS,
  upstreams: z
    .array(Upstream, 'must be a list')
    .min(1, 'must not be empty')
    .max(UPSTREAMS_MAX, `must have at most ${UPSTREAMS_MAX} entries`)
    .optional()
    .describe('Several servers of the same model, instead of base_url.'),
  balance: z
    .enum(['least_busy', 'latency'], 'must be least_busy or latency')
    .default('least_busy')
    .describe(
      'Which upstream a request goes to: the least busy one by weight, or also by its latency. Default least_busy.',
    ),
}

function isBaseUrl(text: string): boolean {
  const url = URL.parse(text)
  if (url === null || !/^https?:$/.test(url.protocol)) return false
  return url.username === '' && url.password === '' && url.hash === ''
}
