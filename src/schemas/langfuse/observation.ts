/**
 * Lists of observations, traces and sessions on the wire of Langfuse's API.
 *
 * Spec: none, an addition. Choice: the names that its SDKs send; unknown ones are dropped.
 */
import { z } from 'zod'
import { ClientId, nameOf, Timestamp } from '../primitives.ts'
import { CursorQuery, listOf, PageQuery } from './page.ts'

const NAME_MAX = 1024
const JSON_CHARS_MAX = 65_536
const FILTERS_MAX = 50
const VALUE_MAX = 65_536
const VALUES_MAX = 1000
/** Limit: traces of one deletion. */
const TRACES_MAX = 1000

const name = nameOf(NAME_MAX)
const text = z.string().max(NAME_MAX)

/** One condition of a `filter`; which columns and operators there are depends on the list. */
export const ColumnFilter = z.object({
  type: z.string().max(NAME_MAX).optional(),
  column: z.string().max(NAME_MAX),
  operator: z.string().max(NAME_MAX),
  key: z.string().max(NAME_MAX).optional(),
  value: z
    .union([
      z.string().max(VALUE_MAX),
      z.boolean(),
      z.number(),
      z.array(z.string().max(VALUE_MAX)).max(VALUES_MAX),
    ])
    .nullish(),
})
export type ColumnFilter = z.output<typeof ColumnFilter>

/** A JSON text in a query parameter. @param name - of its content, in errors */
export function jsonTextOf<Content extends z.ZodType>(content: Content, name: string) {
  return z
    .string()
    .max(JSON_CHARS_MAX)
    .transform((json, context): unknown => {
      try {
        return JSON.parse(json)
      } catch {
        context.addIssue(`must be the JSON text of ${name}`)
        return z.NEVER
      }
    })
    .pipe(content)
}

export const Filters = z.array(ColumnFilter).max(FILTERS_MAX)
const Filter = jsonTextOf(Filters, 'a list of conditions')

const fields = z
  .string()
  .max(NAME_MAX)
  .transform((groups) => groups.split(',').map((group) => group.trim()))

const observationConditions = {
  name: text.optional(),
  userId: text.optional(),
  sessionId: text.optional(),
  type: text.optional(),
  traceId: text.optional(),
  level: text.optional(),
  parentObservationId: text.optional(),
  environment: listOf(NAME_MAX).optional(),
  fromStartTime: Timestamp.optional(),
  toStartTime: Timestamp.optional(),
  version: text.optional(),
  filter: Filter.optional(),
}

export const ObservationsPageQuery = z.object({ ...PageQuery, ...observationConditions })

export const ObservationsCursorQuery = z.object({
  ...CursorQuery,
  ...observationConditions,
  isRootObservation: z.stringbool().optional(),
  fields: fields.optional(),
})

export const ObservationPath = z.object({ observationId: ClientId })

const TraceFields = z.object({ fields: fields.optional() })

const times = { fromTimestamp: Timestamp.optional(), toTimestamp: Timestamp.optional() }

export const TracesQuery = z.object({
  ...PageQuery,
  ...TraceFields.shape,
  ...times,
  userId: text.optional(),
  name: text.optional(),
  sessionId: text.optional(),
  orderBy: text.optional(),
  tags: listOf(NAME_MAX).optional(),
  version: text.optional(),
  release: text.optional(),
  environment: listOf(NAME_MAX).optional(),
  filter: Filter.optional(),
})

export const TraceQuery = TraceFields

export const TracePath = z.object({ traceId: ClientId })

export const TracesDeleteBody = z.object({ traceIds: z.array(ClientId).min(1).max(TRACES_MAX) })

export const SessionsQuery = z.object({
  ...PageQuery,
  ...times,
  environment: listOf(NAME_MAX).optional(),
})

export const SessionPath = z.object({ sessionId: name })

/** What the lists select by. */
export type CallConditions = Partial<
  z.output<typeof ObservationsCursorQuery> & z.output<typeof TracesQuery>
>
