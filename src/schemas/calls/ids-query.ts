/** Queries allowed for deletions: by id only. Additions to the spec. */
import { z } from 'zod'
import { ClientId, ProjectId } from '../primitives.ts'

/** Limit: ids of one request. */
const IDS_MAX = 1000

const idField = z.strictObject({ $getField: z.literal('id').describe('Only the id.') })
const idLiteral = z.strictObject({ $literal: ClientId.describe('An id.') })
const isId = z.strictObject({ $eq: z.tuple([idField, idLiteral]).describe('The id equals this.') })
const isOneOf = z.strictObject({
  $in: z
    .tuple([idField, z.array(idLiteral).min(1).max(IDS_MAX)])
    .describe('The id is one of these.'),
})
const anyOf = z.strictObject({
  $or: z
    .array(z.union([isId, isOneOf]))
    .min(1)
    .max(IDS_MAX)
    .describe('At least one of these holds.'),
})

/**
 * `$eq` with an id, `$in` with ids, or `$or` of these.
 *
 * Spec: §1 (deleting not shown). Choice: what Weave allows; a query that could match by accident is
 * refused.
 */
const IdsQuery = z
  .strictObject({
    $expr: z
      .union([isId, isOneOf, anyOf], 'must name ids: $eq, $in or $or of such')
      .describe('Which ids.'),
  })
  .meta({ id: 'IdsQuery', description: 'Which ids: `$eq` or `$in` on `id`, or `$or` of such.' })
type IdsQuery = z.infer<typeof IdsQuery>

/** Body of a purge. */
export const PurgeRequest = z.strictObject({
  project_id: ProjectId,
  query: IdsQuery.describe('Which to delete, by their ids.'),
})

type IdsExpression = IdsQuery['$expr']

/** The ids of a query, each once. */
export function idsOf({ $expr }: IdsQuery): string[] {
  return [...new Set(idsIn($expr))]
}

function idsIn(expression: IdsExpression): string[] {
  if ('$or' in expression) return expression.$or.flatMap(idsIn)
  if ('$in' in expression) return expression.$in[1].map(({ $literal }) => $literal)
  return [expression.$eq[1].$literal]
}
