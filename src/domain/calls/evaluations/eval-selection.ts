/** Selects and orders the rows of evaluations. Pure. */
import type { EvalResultsRequest, EvalRow } from '../../../schemas/calls/eval-results.ts'
import { toDouble } from '../../json/json-text.ts'
import { parsePath, parseQuery } from '../../query/query-expression.ts'
import { createMatcher } from '../../query/query-matcher.ts'
import { orderForSort, severalValues, valueAt } from '../../query/query-values.ts'
import { addToSum, createSum, meanOf } from '../../stats/exact-sum.ts'

const FIELDS: ReadonlySet<string> = new Set(['scores', 'inputs', 'outputs', 'output'])

/** Whether rows meet conditions, and how they are compared. Reads `raw_data_row` where `readsInputs`. */
interface EvalSelection {
  readonly readsInputs: boolean
  isWanted(row: EvalRow): boolean
  compare(left: EvalRow, right: EvalRow): number
}

/**
 * Checks conditions and order of a request.
 *
 * Spec: §2.7 (queries are an addition). Choice: a row meets a comparison when one of its trials does.
 *
 * @param evaluations - ids of the evaluations that are asked for
 * @throws ApiError query_invalid; param is the place
 */
export function resolveEvalSelection(
  { filters, filter_logic_operator, sort_by }: EvalResultsRequest,
  evaluations: readonly string[],
): EvalSelection {
  const conditions = (filters ?? []).map(({ query, evaluation_call_id }, at) => {
    const expression = parseQuery(query, { fields: FIELDS, param: `filters[${at}].query` })
    const meets = createMatcher(expression)
    const meetsIn = (row: EvalRow, id: string) =>
      meets((path) => severalValues(valuesOf(row, id, path)))
    return (row: EvalRow) => {
      if (evaluation_call_id) return meetsIn(row, evaluation_call_id)
      return filter_logic_operator === 'and'
        ? evaluations.every((id) => meetsIn(row, id))
        : evaluations.some((id) => meetsIn(row, id))
    }
  })
  const terms = (sort_by ?? []).map(({ field, direction, mode, evaluation_call_id }, at) => {
    const path = parsePath(field, FIELDS, `sort_by[${at}].field`)
    const of = evaluation_call_id ?? evaluations[0] ?? ''
    const keyOf = (row: EvalRow) =>
      mode === 'value'
        ? oneValue(valuesOf(row, of, path))
        : spread(evaluations.map((id) => oneValue(valuesOf(row, id, path))))
    return { keyOf, direction }
  })
  return {
    readsInputs: (filters ?? []).length + terms.length > 0,
    isWanted: (row) => conditions.every((meets) => meets(row)),
    compare(left, right) {
      for (const { keyOf, direction } of terms) {
        const sign = orderForSort(keyOf(left), keyOf(right), direction)
        if (sign !== 0) return sign
      }
      return left.row_digest < right.row_digest ? -1 : Number(left.row_digest > right.row_digest)
    },
  }
}

/** The values of a field in the trials of an evaluation; what was given is one value. */
function valuesOf(
  row: EvalRow,
  evaluation: string,
  [first, ...rest]: readonly string[],
): unknown[] {
  const of = row.evaluations.find(({ evaluation_call_id }) => evaluation_call_id === evaluation)
  if (!of) return []
  if (first === 'inputs') return [toDouble(valueAt(row.raw_data_row, rest))]
  return of.trials.map((trial) =>
    toDouble(valueAt(first === 'scores' ? trial.scores : trial.model_output, rest)),
  )
}

function oneValue(values: readonly unknown[]): unknown {
  const numbers = values.filter((value) => typeof value === 'number')
  if (numbers.length === 0) return values.at(-1)
  const sum = createSum()
  for (const value of numbers) addToSum(sum, value)
  return meanOf(sum)
}

function spread(values: readonly unknown[]): number | undefined {
  const numbers = values.filter((value) => typeof value === 'number')
  return numbers.length === 0 ? undefined : Math.max(...numbers) - Math.min(...numbers)
}

/** Rows that all of these evaluations have. */
export function hasAll(row: EvalRow, evaluations: readonly string[]): boolean {
  const has = new Set(row.evaluations.map(({ evaluation_call_id }) => evaluation_call_id))
  return evaluations.every((id) => has.has(id))
}
