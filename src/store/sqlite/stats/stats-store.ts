/** Statistics in SQLite: jobs of the readers, shared by callers with the same query at the same time. */
import type { StatsStore, StatsTexts } from '../../api/stats/stats.ts'
import { createSharedReads } from '../../base/read/shared-reads.ts'
import { keyOf } from '../../base/stats/sums.ts'
import type { ReadPool } from '../read/read-pool.ts'
import type { Writes } from '../write/writes.ts'

export function createStatsStore(writes: Writes, reads: ReadPool): StatsStore {
  const texts = createSharedReads<StatsTexts>()

  /** Has the builder rebuild broken hours. If this write fails, the next read of the hours reports them again. */
  async function invalidate(broken: readonly number[]): Promise<void> {
    if (broken.length === 0) return
    await writes.run('invalidate_hours', broken).catch(() => undefined)
  }

  return {
    async aggregate(query, caller) {
      const { result, broken } = await reads.run('stats', query, caller)
      await invalidate(broken)
      return result
    },
    async group(query, caller) {
      const { result, broken } = await reads.run('stats_groups', query, caller)
      await invalidate(broken)
      return result
    },
    render(query, caller) {
      const read = async (signal: AbortSignal) => {
        const { broken, ...found } = await reads.run('stats_texts', query, { ...caller, signal })
        await invalidate(broken)
        return found
      }
      return texts.run(keyOf(query), read, caller.signal)
    },
  }
}
