/** API keys on the wire: additions to the spec. Spec: §5 (keys are named, nothing of the spec makes one). */
import { z } from 'zod'
import { nameOf, Time, Timestamp } from '../primitives.ts'
import { SEGMENT } from '../shapes.ts'

const USER_CHARS_MAX = 128
const PATTERNS_MAX = 100
const PATTERN_CHARS_MAX = 257
const MODEL_CHARS_MAX = 256
/** Limits: seconds that a replaced secret is accepted; by default a day. */
const OVERLAP_S_MAX = 30 * 86_400
const OVERLAP_S = 86_400
/** Pattern of projects: a project id, with `*` only as the whole or as the last half; any other would never match. */
const PATTERN = new RegExp(`^(?:\\*|(?=[^*]+(?:/\\*)?$)${SEGMENT}/${SEGMENT})$`, 'u')
const SHOWN_HALF = '[^\\s/\\\\#?%:*]([^/\\\\#?%:*]*[^\\s/\\\\#?%:*])?'
/** Pattern in the OpenAPI document: other languages lack the character classes of JavaScript. */
const SHOWN_PATTERN = `^(\\*|${SHOWN_HALF}/(\\*|${SHOWN_HALF}))$`

/** Rights that a key may carry. `admin` includes all others. */
export const SCOPES = [
  'traces:read',
  'traces:write',
  'inference',
  'training',
  'worker',
  'metrics',
  'admin',
] as const

const scopes = z
  .array(z.enum(SCOPES))
  .min(1, 'must name at least one')
  .max(SCOPES.length, 'must name each one once')
/** Patterns of projects: `acme/demo`, `acme/*` or `*`. */
export const ProjectPatterns = z
  .array(
    z
      .string()
      .max(PATTERN_CHARS_MAX)
      .regex(PATTERN, 'must be *, <entity>/* or <entity>/<project>')
      .meta({ pattern: SHOWN_PATTERN }),
  )
  .min(1, 'must name at least one')
  .max(PATTERNS_MAX)

const limit = (max: number) => z.int().min(0).max(max).nullish()
const DEFAULTED = '0: no limit; null: the default of the server'

/** What of a key is optional and can be edited. */
const settings = {
  svc_username: nameOf(USER_CHARS_MAX)
    .nullish()
    .describe('Name of that user. Default: the user itself.'),
  name: nameOf(USER_CHARS_MAX).nullish().describe('What the key is for.'),
  models: z
    .array(nameOf(MODEL_CHARS_MAX))
    .min(1, 'must name at least one')
    .max(PATTERNS_MAX)
    .nullish()
    .describe('Models that it may use: a name, or the beginning of names and `*`. null: all.'),
  expires_at: Timestamp.nullish().describe('When it ends. null: never.'),
  requests_per_minute: limit(1_000_000_000).describe(
    `Completions that it may request per minute. ${DEFAULTED} (WEFT_KEY_REQUESTS_PER_MINUTE).`,
  ),
  tokens_per_minute: limit(1_000_000_000_000).describe(
    `Tokens that it may use per minute. ${DEFAULTED} (WEFT_KEY_TOKENS_PER_MINUTE).`,
  ),
  parallel_requests: limit(100_000).describe(
    `Completions of it that may run at the same time; others wait. ${DEFAULTED} (WEFT_KEY_COMPLETIONS_MAX).`,
  ),
}

const rights = {
  scopes: scopes.describe('Rights of the key; `admin` includes all.'),
  projects: ProjectPatterns.describe(
    'Projects that it may use: `acme/demo`, `acme/*` or `*`; no more than the caller may use.',
  ),
}

export const KeyCreateRequest = z
  .strictObject({
    svc_user_id: nameOf(USER_CHARS_MAX).describe('User that the key belongs to.'),
    ...rights,
    ...settings,
  })
  .meta({ id: 'KeyCreateRequest', description: 'A key to create.' })
export type KeyCreateRequest = z.infer<typeof KeyCreateRequest>

export const KeyUpdateRequest = z
  .strictObject({
    scopes: rights.scopes.optional(),
    projects: rights.projects.optional(),
    ...settings,
  })
  .meta({
    id: 'KeyUpdateRequest',
    description: 'What changes of a key, whose secret stays; a field that is absent stays, too.',
  })
export type KeyUpdateRequest = z.infer<typeof KeyUpdateRequest>

export const KeyRotateRequest = z
  .strictObject({
    overlap_seconds: z
      .int()
      .min(0)
      .max(OVERLAP_S_MAX)
      .default(OVERLAP_S)
      .describe('How long the replaced secret is still accepted.'),
  })
  .meta({ id: 'KeyRotateRequest', description: 'How a secret is replaced.' })

export const KeyResponse = z
  .object({
    id: z.string().describe('Id of the key; not secret.'),
    svc_user_id: z.string().describe('User that it belongs to.'),
    svc_username: z.string().describe('Name of that user.'),
    scopes: z.array(z.string()).describe('Rights of the key.'),
    projects: z.array(z.string()).describe('Projects that it may use.'),
    name: z.string().nullable().describe('What it is for; null: not named.'),
    models: z.array(z.string()).nullable().describe('Models that it may use; null: all.'),
    expires_at: Time.nullable().describe('When it ends, UTC; null: never.'),
    requests_per_minute: z.int().nullable().describe(`Its limit. ${DEFAULTED}.`),
    tokens_per_minute: z.int().nullable().describe(`Its limit. ${DEFAULTED}.`),
    parallel_requests: z.int().nullable().describe(`Its limit. ${DEFAULTED}.`),
    last_used_on: z
      .string()
      .nullable()
      .describe('The last day on which it was used, `YYYY-MM-DD` of UTC; null: none.'),
    previous_secret_expires_at: Time.nullable().describe(
      'Until when its secret before the last rotation is accepted, UTC; null: it was never rotated.',
    ),
    created_at: Time.describe('When it was created, UTC.'),
    revoked_at: Time.nullable().describe('When it was revoked, UTC; null: it is valid.'),
  })
  .meta({ id: 'KeyResponse', description: 'An API key without its secret.' })
export type KeyResponse = z.infer<typeof KeyResponse>

export const KeyCreateResponse = KeyResponse.extend({
  secret: z.string().describe('The key itself. It is returned only here and not stored.'),
}).meta({ id: 'KeyCreateResponse', description: 'A new key with its secret.' })

/** The list has no pages: all keys are streamed. */
export const KeyListQuery = z.strictObject({})

export const KeyListResponse = z.object({
  object: z.literal('list').describe('Always `list`.'),
  data: z.array(KeyResponse).describe('Keys, oldest first, including revoked ones.'),
})

export const KeyParams = z.object({ key_id: z.string().max(128).describe('Id of the key.') })
