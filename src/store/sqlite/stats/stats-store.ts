/** Statistics in SQLite: jobs of the readers, shared by callers with the same query at the same time. */
import type { StatsQuery, StatsStore, StatsTexts } from '../../api/stats/stats.ts'
import type { ReadPool } from '../read/read-pool.ts'
import { createSharedReads } from '../../shared/read/shared-reads.ts'
import type { Writes } from '../write/writes.ts'

export function createStatsStore(writes: Writes, reads: ReadPool): StatsStore {
  const texts = createSharedReads<StatsTexts>()

  /** Has the builder rebuild broken hours. If this write fails, the next read of the hours reports them again. */
  async function spoil(broken: readonly number[]): Promise<void> {
    if (broken.length === 0) return
    await writes.run('spoil_hours', broken).catch(() => undefined)
  }

  return {
    async aggregate(query, caller) {
      const { result, broken } = await reads.run('stats', query, caller)
      await spoil(broken)
      return result
    },
    render(query, caller) {
      const read = async (signal: AbortSignal) => {
        const { broken, ...found } = await reads.run('stats_texts', query, { ...caller, signal })
        await spoil(broken)
        return found
      }
      return texts.run(keyOf(query), read, caller.signal)
    },
  }
}

/** Returns the whole query as text. Prices never change, so their ids identify them. */
export function keyOf({ startsUs, prices, ...rest }: StatsQuery): string {
  const query = { ...rest, prices: prices.map(({ id }) => id) }
  const { buffer, byteOffset, byteLength } = startsUs
  return JSON.stringify(query) + Buffer.from(buffer, byteOffset, byteLength).toString('latin1')
}
