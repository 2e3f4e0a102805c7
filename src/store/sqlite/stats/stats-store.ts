/** Statistics in SQLite: jobs of the readers, one for all who ask the same at the same time. */
import type { StatsQuery, StatsStore, StatsTexts } from '../../api/stats/stats.ts'
import type { ReadPool } from '../read/read-pool.ts'
import { createSharedReads } from '../read/shared-reads.ts'
import type { Writes } from '../write/writes.ts'

export function createStatsStore(writes: Writes, reads: ReadPool): StatsStore {
  const texts = createSharedReads<StatsTexts>()

  /** The builder makes them again. Where it cannot be written now, the next answer tells it again. */
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

/** The whole question as text. A price never changes, so that its id tells it. */
export function keyOf({ startsUs, prices, ...rest }: StatsQuery): string {
  const query = { ...rest, prices: prices.map(({ id }) => id) }
  const { buffer, byteOffset, byteLength } = startsUs
  return JSON.stringify(query) + Buffer.from(buffer, byteOffset, byteLength).toString('latin1')
}
