/** Cached completions in SQLite and PostgreSQL alike. */
import type { CachedCompletion, CompletionCacheStore } from '../../api/chat/completion-cache.ts'
import type { Dialect } from '../db/dialect.ts'
import { all, first, run, type StepRuns, type Steps } from '../db/steps.ts'
import * as SQL from './cached-completions.sql.ts'

/** Rows that are listed and removed at once. */
const REMOVED_MAX = 100

interface StoreInput {
  readonly completion: CachedCompletion
  readonly bytes_max: number
}

type Sum = Pick<SizedRow, 'bytes'>

interface SizedRow {
  readonly digest: string
  readonly bytes: number
}

type FoundCompletion = Pick<CachedCompletion, 'created_at_us' | 'response_json'>
type CacheWrites = ReturnType<typeof createCompletionCacheWrites>

export function createCompletionCacheWrites({ forUpdate }: Pick<Dialect, 'forUpdate'>) {
  const lockTotal = SQL.lockTotal(forUpdate)

  return {
    *store_completion({ completion, bytes_max }: StoreInput): Steps<void> {
      const { digest, created_at_us, response_json } = completion
      const sum = (yield* first<Sum>(lockTotal, {})) ?? (yield* first<Sum>(SQL.SUM_BYTES, {}))
      let total = sum?.bytes ?? 0
      const expiry = { now_us: created_at_us, limit: REMOVED_MAX }
      total -= yield* removeRows(yield* all<SizedRow>(SQL.FIND_COMPLETION_BYTES, { digest }))
      total -= yield* removeRows(yield* all<SizedRow>(SQL.LIST_EXPIRED, expiry))
      const bytes = Buffer.byteLength(response_json)
      while (total + bytes > bytes_max) {
        const rows = yield* all<SizedRow>(SQL.LIST_OLDEST, { limit: REMOVED_MAX })
        if (rows.length === 0) break
        total -= yield* removeRows(listFirst(rows, total + bytes - bytes_max))
      }
      if (bytes <= bytes_max) {
        yield* run(SQL.INSERT_COMPLETION, { ...completion, bytes })
        total += bytes
      }
      yield* run(SQL.SET_TOTAL, { bytes: total })
    },
  }
}

/** Returns the first rows that have so many bytes, or all. */
function listFirst(rows: readonly SizedRow[], bytes: number): SizedRow[] {
  let left = bytes
  return rows.filter((row) => {
    const isNeeded = left > 0
    left -= row.bytes
    return isNeeded
  })
}

/** Returns the sum of their bytes. */
function* removeRows(rows: readonly SizedRow[]): Steps<number> {
  let bytes = 0
  for (const row of rows) {
    yield* run(SQL.DELETE_COMPLETION, { digest: row.digest })
    bytes += row.bytes
  }
  return bytes
}

export function createCompletionCacheStore({
  read,
  write,
}: StepRuns<CacheWrites>): CompletionCacheStore {
  return {
    async findCompletion(digest, now_us) {
      return (await read(first<FoundCompletion>(SQL.FIND_COMPLETION, { digest, now_us }))) ?? null
    },
    storeCompletion: (completion, bytes_max) =>
      write('store_completion', { completion, bytes_max }),
  }
}
