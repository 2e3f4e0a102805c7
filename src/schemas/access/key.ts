/** API keys on the wire: additions to the spec. Spec: §5 (keys are named, nothing of the spec makes one). */
import { z } from 'zod'
import { nameOf, Time } from '../primitives.ts'
import { SEGMENT } from '../shapes.ts'

const USER_CHARS_MAX = 128
const PATTERNS_MAX = 100
const PATTERN_CHARS_MAX = 257
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
const projects = z
  .array(
    z
      .string()
      .max(PATTERN_CHARS_MAX)
      .regex(PATTERN, 'must be *, <entity>/* or <entity>/<project>')
      .meta({ pattern: SHOWN_PATTERN }),
  )
  .min(1, 'must name at least one')
  .max(PATTERNS_MAX)

export const KeyCreateRequest = z
  .strictObject({
    svc_user_id: nameOf(USER_CHARS_MAX).describe('User that the key belongs to.'),
    svc_username: nameOf(USER_CHARS_MAX)
      .nullish()
      .describe('Name of that user. Default: the user itself.'),
    scopes: scopes.describe('Rights of the key; `admin` includes all.'),
    projects: projects.describe(
      'Projects that it may use: `acme/demo`, `acme/*` or `*`; no more than the caller may use.',
    ),
  })
  .meta({ id: 'KeyCreateRequest', description: 'A key to create.' })
export type KeyCreateRequest = z.infer<typeof KeyCreateRequest>

export const KeyResponse = z
  .object({
    id: z.string().describe('Id of the key; not secret.'),
    svc_user_id: z.string().describe('User that it belongs to.'),
    svc_username: z.string().describe('Name of that user.'),
    scopes: z.array(z.string()).describe('Rights of the key.'),
    projects: z.array(z.string()).describe('Projects that it may use.'),
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
