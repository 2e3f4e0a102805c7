/** Queries over a project's own prices. Pure; the caller provides the rows. */
import { COST_FIELDS, type CostQueryOutput } from '../../schemas/prices/cost.ts'
import type { RowQueryRequest } from '../../schemas/query/row-query.ts'
import { timestampUs } from '../../schemas/timestamp.ts'
import { timeValue } from '../query/query-values.ts'
import { createRowSelection, resolveRowQuery } from '../query/row-query.ts'
import { type ProjectPrice, renderPrice } from './project-prices.ts'

/**
 * The page of prices that a request asks for, each with the wanted fields.
 *
 * @throws ApiError query_invalid
 */
export function queryPrices(
  prices: readonly ProjectPrice[],
  request: Omit<RowQueryRequest, 'project_id'>,
): CostQueryOutput[] {
  const query = resolveRowQuery(request, COST_FIELDS)
  const selection = createRowSelection(query, fieldOf)
  for (const price of prices) if (!selection.add(renderPrice(price))) break
  return selection
    .rows()
    .map((row) =>
      Object.fromEntries(query.fields.map(({ name }) => [name, row[name as keyof Row]])),
    )
}

type Row = ReturnType<typeof renderPrice>

function fieldOf(row: Row, [field, ...rest]: readonly string[]): unknown {
  if (rest.length > 0) return undefined
  if (field === 'effective_date') return timeValue(timestampUs(row.effective_date))
  return row[field as keyof Row]
}
