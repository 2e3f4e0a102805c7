/**
 * Projects on the wire: their contents and settings. Additions to the spec; the routes and fields are those of the
 * public tracing clients.
 */
import { z } from 'zod'
import { IgnoredUser, ProjectId } from '../primitives.ts'

/** Limit: projects of one request. */
const PROJECTS_MAX = 1000

const size = (what: string) =>
  z
    .boolean()
    .nullish()
    .meta({ description: `Whether to sum up ${what}. Default true.`, default: true })

/** Limit: projects listed for a caller. */
export const LISTED_PROJECTS_MAX = 1000

export const CallerResponse = z.object({
  key_id: z.string().describe('Id of the key; not secret.'),
  svc_user_id: z.string().describe('User of the key.'),
  svc_username: z.string().describe('Name of that user.'),
  scopes: z.array(z.string()).describe('Rights of the key; `admin` includes all.'),
  project_patterns: z
    .array(z.string())
    .describe('Projects that the key may use: `acme/demo`, `acme/*` or `*`.'),
  projects: z
    .array(z.string())
    .describe(`Those of its projects that have calls, sorted; at most ${LISTED_PROJECTS_MAX}.`),
})

export const ProjectStatsRequest = z.strictObject({
  project_id: ProjectId,
  include_trace_storage_size: size('calls'),
  include_object_storage_size: size('objects'),
  include_table_storage_size: size('tables'),
  include_file_storage_size: size('files'),
})

const bytes = (what: string) => z.int().describe(`Bytes of ${what}; 0 when not requested.`)

export const ProjectStatsResponse = z.object({
  trace_storage_size_bytes: bytes('the bodies of calls that are not deleted'),
  objects_storage_size_bytes: bytes('the versions of objects that are not deleted'),
  tables_storage_size_bytes: bytes('the rows of tables'),
  files_storage_size_bytes: bytes('files'),
})

/** Limit: days in the retention setting of a project. */
const RETENTION_DAYS_MAX = 36_500

export const TtlSettingsResponse = z.object({
  retention_days: z
    .int()
    .nullable()
    .describe(
      'Days after its start when a call is removed; null: calls are kept until they are deleted.',
    ),
})

export const TtlSettingsUpdateRequest = z.strictObject({
  project_id: ProjectId,
  retention_days: z
    .int()
    .min(1, 'must be null or at least 1')
    .max(RETENTION_DAYS_MAX, `must be null or at most ${RETENTION_DAYS_MAX}`)
    .nullish()
    .describe(
      'Days after its start when a call is removed; existing calls that are older are removed within minutes. null or absent: calls are kept until they are deleted, even if the server has a default.',
    ),
  svc_user_id: IgnoredUser,
})

export const IngestSamplingResponse = z.object({
  sample_rate: z.literal(1).describe('Always 1: everything is stored.'),
  dry_run: z.literal(false).describe('Always false.'),
})

export const SensitiveDataResponse = z.object({
  policy: z
    .enum(['off', 'redact'])
    .describe('`redact` if the project has redaction (`/project/redaction/read`), else `off`.'),
})

/** Limits of the own patterns of a project. */
const PATTERNS_MAX = 32
const PATTERN_CHARS_MAX = 512

const RedactionPattern = z.strictObject({
  name: z
    .string()
    .regex(/^[a-z][a-z0-9_-]{0,31}$/, 'must be 1 to 32 small letters, digits, _ or -')
    .describe('Name in the mark, such as `order` for `[redacted:order]`.'),
  pattern: z
    .string()
    .min(1, 'must not be empty')
    .max(PATTERN_CHARS_MAX, `must have at most ${PATTERN_CHARS_MAX} characters`)
    .describe('Regular expression in the syntax of RE2, which must not match the empty text.'),
})

export const RedactionSettings = z.object({
  kinds: z
    .array(z.enum(['email', 'card', 'phone', 'key'], 'must be email, card, phone or key'))
    .max(4, 'must have at most 4 entries')
    .default([])
    .describe(
      'What Weft finds by itself: e-mail addresses, numbers of cards, of phones, API keys.',
    ),
  patterns: z
    .array(RedactionPattern)
    .max(PATTERNS_MAX, `must have at most ${PATTERNS_MAX} entries`)
    .default([])
    .describe('Own patterns, which are looked for first.'),
})

export const RedactionUpdateRequest = z.strictObject({
  project_id: ProjectId,
  ...RedactionSettings.shape,
  svc_user_id: IgnoredUser,
})

export const ProjectsInfoRequest = z.strictObject({
  project_ids: z
    .array(ProjectId)
    .max(PROJECTS_MAX)
    .describe('Projects; those that the key may not use are omitted from the answer.'),
})

export const ProjectsInfoResponse = z
  .array(
    z.object({
      external_project_id: z.string().describe('The project.'),
      internal_project_id: z.string().describe('Equal to external_project_id.'),
    }),
  )
  .describe('The projects that the key may use, in the order of the request.')
