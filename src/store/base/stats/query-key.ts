/** Identifies equal queries, whose callers share one read. */
import type { StatsQuery } from '../../api/stats/stats.ts'

/** Returns the whole query as text. Prices never change, so their ids identify them. */
export function keyOf({ startsUs, prices, ...rest }: StatsQuery): string {
  const query = { ...rest, prices: prices.map(({ id }) => id) }
  const { buffer, byteOffset, byteLength } = startsUs
  return JSON.stringify(query) + Buffer.from(buffer, byteOffset, byteLength).toString('latin1')
}
