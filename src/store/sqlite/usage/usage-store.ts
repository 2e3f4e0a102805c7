/** Usage over trees of calls in SQLite: jobs of the readers. */
import type { UsageStore } from '../../api/usage/usage.ts'
import type { ReadPool } from '../read/read-pool.ts'

export function createUsageStore(reads: ReadPool): UsageStore {
  return {
    sumTraceUsage: (query, caller) => reads.run('trace_usage', query, caller),
    sumCallsUsage: (query, caller) => reads.run('calls_usage', query, caller),
    countFailures: (query, caller) => reads.run('tree_failures', query, caller),
  }
}
