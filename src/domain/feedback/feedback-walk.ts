/** Plans how a store reads the feedback that can match a query, with as few reads as possible. Pure. */
import { fieldPaths } from '../query/query-expression.ts'
import { type RowQuery, requiredTexts } from '../query/row-query.ts'
import { type TimeBounds, timeBounds } from '../query/time-bounds.ts'

/** Plain data. */
export interface FeedbackWalk {
  /** The column that must have one of some texts; null for any feedback of the project. */
  readonly column: 'id' | 'weave_ref' | 'feedback_type' | null
  readonly texts: readonly string[]
  /** Range of created_at that can match. */
  readonly createdUs: TimeBounds
  /** Order of created_at; rows with equal times are always in ascending order of ids. */
  readonly direction: 'asc' | 'desc'
  /** Whether `direction` is the order of the first sort: the walk can end with the page. */
  readonly isPresorted: boolean
  /** The query to apply to the rows; without a sort when the walk delivers them in the full order. */
  readonly query: RowQuery
  /** Whether the condition or the order reads payloads. */
  readonly readsPayload: boolean
}

export function planFeedbackWalk(query: RowQuery): FeedbackWalk {
  const { expression, sort } = query
  const [first] = sort
  const isPresorted = first?.path.join('.') === 'created_at'
  const paths = [...(expression ? fieldPaths(expression) : []), ...sort.map(({ path }) => path)]
  const column =
    (['id', 'weave_ref', 'feedback_type'] as const).find(
      (name) => requiredTexts(expression, name) !== null,
    ) ?? null
  return {
    column,
    texts: (column && requiredTexts(expression, column)) ?? [],
    createdUs: timeBounds(expression, 'created_at'),
    direction: isPresorted ? first.direction : 'asc',
    isPresorted,
    query: isPresorted && sort.length === 1 ? { ...query, sort: [] } : query,
    readsPayload: paths.some(([name]) => name === 'payload'),
  }
}
