/** Shapes that many tables share: project ids, refs, ids, free JSON objects. */
import { z } from 'zod'
import {
  CALL_TAIL,
  isRefShape,
  PROJECT_ID,
  PROJECT_ID_CHARS_MAX,
  type RefKind,
  SEGMENT,
} from './shapes.ts'
import { parseTimestampUs } from './timestamp.ts'

const VISIBLE = /^[^\p{C}\s](?:[^\p{C}]*[^\p{C}\s])?$/u
const REF_LENGTH_MAX = 2048

/**
 * The patterns in the document instead of those above, for regular expression engines without `\\p{C}` or with limits on
 * its repetition. They refuse less.
 */
const SHOWN_SEGMENT = '[^\\s/\\\\#?%:]([^/\\\\#?%:]*[^\\s/\\\\#?%:])?'
const SHOWN_PROJECT_ID = `^${SHOWN_SEGMENT}/${SHOWN_SEGMENT}$`
const SHOWN_VISIBLE = '^[^\\x00-\\x20\\x7f]([^\\x00-\\x1f\\x7f]*[^\\x00-\\x20\\x7f])?$'
const SHOWN_NAME = '^[^\\x00-\\x1f\\x7f-\\x9f]*$'
const SHOWN_ANY_REF = '^[a-z][a-z0-9+.-]*:///[^/]+/[^/]+(/call/[^/]+(/[^/\\s]+)*|(/[^/\\s]+){2,})$'

/** `<entity>/<project>`. Spec: §2.1. */
export const ProjectId = z
  .string()
  .max(PROJECT_ID_CHARS_MAX)
  .regex(PROJECT_ID, 'must have the shape <entity>/<project>')
  .meta({
    description:
      'Project, `<entity>/<project>`: halves of at most 128 visible characters without / \\ # ? % :',
    pattern: SHOWN_PROJECT_ID,
    examples: ['acme/demo'],
  })

/** An id that a client may choose. Spec: §2.6 id. Choice: 1..128 visible characters. */
export const ClientId = z
  .string()
  .min(1, 'must not be empty')
  .max(128)
  .regex(VISIBLE, 'must consist of visible characters')
  .meta({ pattern: SHOWN_VISIBLE })

/** A name of 1..`max` characters without control characters and lone surrogates, which no store can represent. */
export function nameOf(max: number) {
  return z
    .string()
    .min(1, 'must not be empty')
    .max(max)
    .regex(/^[^\p{Cc}\p{Cs}]*$/u, 'must not contain control or half characters')
    .meta({ pattern: SHOWN_NAME })
}

/** A ref of one of the kinds. Spec: §2.1. */
export function refOf(...kinds: RefKind[]) {
  const shapes = kinds.map((kind) =>
    kind === 'call' ? '/call/<call_id>' : `/${kind}/<name>:<digest>`,
  )
  const rule = `must be a ref <scheme>:///<entity>/<project>${shapes.join(' or ')}`
  return z
    .string()
    .max(REF_LENGTH_MAX)
    .refine((text) => isRefShape(text, kinds), rule)
    .meta({ pattern: shownRefPattern(kinds) })
}

function shownRefPattern(kinds: readonly RefKind[]): string {
  const tails = kinds.map((kind) =>
    kind === 'call' ? 'call/[^/]+' : `${kind}/[^/:\\s]+:[^/:\\s]+`,
  )
  return `^[a-z][a-z0-9+.-]*:///[^/]+/[^/]+/(${tails.join('|')})(/[^/\\s]+)*$`
}

export type JsonObject = { [key: string]: unknown }

const ANY_REF = new RegExp(
  `^[a-z][a-z0-9+.-]*:///${SEGMENT}/${SEGMENT}(?:/call/${CALL_TAIL}|(?:/[^/\\s\\p{C}]+){2,})$`,
  'u',
)

/** A ref of any kind, `<scheme>:///<entity>/<project>/<kind>/...`. Spec: §2.1. Choice: kinds of clients pass. */
export const AnyRef = z
  .string()
  .max(REF_LENGTH_MAX)
  .regex(ANY_REF, 'must be a ref <scheme>:///<entity>/<project>/<kind>/<name>')
  .meta({ pattern: SHOWN_ANY_REF })

/** A number held as its source text, because a double would round it. */
interface RawJson {
  readonly rawJSON: string
}

declare global {
  /** Additions that TypeScript's types lack. */
  interface JSON {
    /** Returns a value that JSON.stringify writes as the given text. */
    rawJSON(text: string): RawJson
    isRawJSON(value: unknown): value is RawJson
  }
}

/** A free JSON object, passed on unchanged: its keys are not copied, checked or reordered. */
export const FreeObject = z
  .custom<JsonObject>(
    (value) =>
      typeof value === 'object' &&
      value !== null &&
      !Array.isArray(value) &&
      // A number held as text.
      !JSON.isRawJSON(value),
    'must be an object',
  )
  .meta({ type: 'object', additionalProperties: true })

/** A whole number that a double represents exactly. */
export const SafeInteger = z.int()

/** A count or a sum in a response. Beyond 2^53, where clients may report any number, it is the nearest double. */
export const Total = z.number().meta({ type: 'integer' })

/** A date-time string on the wire. Spec: §2.5, §4.2, §4.4. */
export const Timestamp = z
  .string()
  .max(64)
  .refine(
    (text) => parseTimestampUs(text) !== null,
    'must be an RFC 3339 date-time of the years 1900 to 2254, such as 2026-01-31T09:30:00Z',
  )
  .meta({ format: 'date-time', examples: ['2026-01-31T09:30:00.123456Z'] })

/** A time in a response. */
export const Time = z.string().meta({ format: 'date-time' })

/** Request that names a project and nothing else. */
export const ProjectOnly = z.strictObject({ project_id: ProjectId })

/** Response to a change that returns no data. */
export const EmptyResponse = z.object({}).describe('Empty on success.')

/** Returns an optional boolean field whose default is false. @param what - the description, as a sentence */
export function switchField(what: string) {
  return z
    .boolean()
    .nullish()
    .meta({ description: `${what} Default false.`, default: false })
}

/** Returns a field that must be null or absent. @param what - the reason, as the rest of a sentence */
export function refused(what: string) {
  return z
    .unknown()
    .refine((value) => value === undefined || value === null, {
      error: `is not supported: ${what}`,
    })
    .optional()
    .meta({ description: `Refused unless it is null: ${what}.` })
}

/** User named by a client; it is not stored. */
export const IgnoredUser = z
  .string()
  .max(256)
  .nullish()
  .describe('Ignored: the stored user is that of the key.')

/** A project in the address. */
export const ProjectPath = z.object({
  entity: z.string().describe('Entity of the project.'),
  project: z.string().describe('Name of the project.'),
})
