/** The selected calls of a list as one query. Pure. */
import type { CallsQueryBody } from '../../api/wire.ts'
import { field, literal } from '../search/conditions.ts'
import type { Selection } from './selection.ts'

/** Limits of one query: ids in its filter, and ids that it leaves out. */
const IDS_MAX = 1000
const LEFT_OUT_MAX = 500

/** Calls that an action is about. */
export interface Target {
  readonly project: string
  /** The calls of the search. */
  readonly question: CallsQueryBody
  readonly selection: Selection
}

/** @throws Error when the selection is too long for one query, saying what is possible */
export function selectedQuery({ question, selection }: Target): CallsQueryBody {
  const { isAll, ids } = selection
  if (!isAll && ids.size > IDS_MAX)
    throw new Error(
      `At most ${IDS_MAX} single calls can be used this way; all calls of a search can, however many.`,
    )
  if (!isAll) return { project_id: question.project_id, filter: { call_ids: [...ids] } }
  if (ids.size === 0) return question
  if (ids.size > LEFT_OUT_MAX)
    throw new Error(`At most ${LEFT_OUT_MAX} calls of a search can be left out; narrow the search.`)
  const isLeftOut = { $in: [field('id'), [...ids].map(literal)] }
  return {
    ...question,
    query: { $expr: { $and: [question.query?.$expr, { $not: [isLeftOut] }] } },
  }
}
