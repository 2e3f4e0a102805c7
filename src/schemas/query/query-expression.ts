/** The query language of the list routes on the wire. Its grammar is checked by domain/query/query-expression.ts. */

import { z } from 'zod'
import { QUERY_DEPTH_MAX, QUERY_NODES_MAX } from '../limits.ts'

/** Limit: terms of one sort. */
export const SORT_TERMS_MAX = 16
/** Limit: characters of a dotted field name. */
const FIELD_LENGTH_MAX = 512

/** Condition in the query language of the tracing SDKs, an addition to the spec. */
export const Query = z
  .strictObject({
    $expr: z
      .unknown()
      .describe(
        'One of `$and` `$or` `$not` `$eq` `$gt` `$gte` `$lt` `$lte` `$in` (lists of operands) or `$contains` ' +
          '`{input, substr, case_insensitive}`. An operand is an operation, `{"$literal": value}`, ' +
          '`{"$getField": "inputs.a.b"}`, `{"$size": operand}` (items of a list or members of an object) or ' +
          '`{"$convert": {input, to}}` with `to` one of `double`, `string`, `int`, `bool`, `exists`. ' +
          `At most ${QUERY_DEPTH_MAX} deep and ${QUERY_NODES_MAX} long.`,
      ),
  })
  .meta({ id: 'Query', description: 'A condition on the results.' })
export type Query = z.infer<typeof Query>

/** A name of a field, dotted into JSON. */
export const FieldPath = z.string().min(1, 'must not be empty').max(FIELD_LENGTH_MAX)

/** One term of an order. */
export const SortTerm = z
  .strictObject({
    field: FieldPath.describe('Field to sort by, dotted into JSON: `inputs.a.b`.'),
    direction: z.enum(['asc', 'desc']).describe('Direction; missing values come last in both.'),
  })
  .meta({ id: 'SortTerm', description: 'One term of an order.' })

/** Direction of an order. */
export const SortDirection = z.enum(['asc', 'desc']).describe('Ascending or descending.')

/** Returns the schema of an order by the given fields. */
export function orderOf<const Fields extends readonly string[]>(fields: Fields) {
  const field = z.enum(fields).describe('Field to sort by.')
  return z
    .array(z.strictObject({ field, direction: SortDirection }))
    .max(fields.length)
    .nullish()
}
