/** Lists of threads in ClickHouse, summed up in the domain. */
import { createThreadList } from '../../../domain/threads/thread-list.ts'
import type { ThreadStore } from '../../api/threads/threads.ts'
import type { Reads } from '../db/reads.ts'
import { selectTurns } from './threads.sql.ts'

interface TurnRow {
  readonly thread_id: string
  readonly id: string
  readonly started_at_us: number
  readonly ended_at_us: number | null
}

export function createThreadStore(reads: Reads): ThreadStore {
  return {
    async listThreads(listing, caller) {
      const { project_id, thread_ids } = listing
      const parameters = { project_id, ...(thread_ids ? { thread_ids } : {}) }
      const list = createThreadList(listing)
      const rows = reads.stream<TurnRow>(selectTurns(thread_ids !== null), parameters, caller)
      for await (const part of rows) {
        for (const { thread_id, ...turn } of part) list.add(thread_id, turn)
      }
      return list.page()
    },
  }
}
