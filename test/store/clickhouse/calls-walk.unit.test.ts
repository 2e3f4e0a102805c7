import { expect, it } from 'vitest'
import { resolveCallsSelection, resolveCallsShape } from '../../../src/domain/calls/calls-query.ts'
import { createCallsQueryStore } from '../../../src/store/clickhouse/calls/query/calls-query.ts'
import { walkKeys } from '../../../src/store/clickhouse/calls/query/calls-walk.ts'
import type { Reads } from '../../../src/store/clickhouse/db/reads.ts'
import { readCaller } from '../../support/read-caller.ts'

const KEYS = Array.from({ length: 5 }, (_, at) => ({ started_at_us: at, id: `c${at}` }))

it('a page of a list asks for no more keys than it has', async () => {
  const limits: unknown[] = []
  const reads = {
    async read(_sql: string, { limit, after_us }: Readonly<Record<string, unknown>>) {
      if (limit === undefined) return [{ us: 1 }]
      limits.push(limit)
      const behind = KEYS.filter(({ started_at_us }) => started_at_us > Number(after_us))
      return behind.slice(0, Number(limit))
    },
  } as unknown as Reads
  const selection = resolveCallsSelection(
    { project_id: 'acme/demo' },
    { refScheme: 'weave', projects: ['*'] },
  )
  const [page] = await Array.fromAsync(walkKeys(reads, selection, readCaller(), 3))
  expect(page).toEqual(KEYS.slice(0, 3))
  const all = await Array.fromAsync(walkKeys(reads, selection, readCaller()))
  expect(all.flat()).toEqual(KEYS)
  expect(limits.slice(0, 2)).toEqual([3, 3])
})

it('a page sorted by latency walks the calls within its bound, and all if one of those has gone', async () => {
  const limits: unknown[] = []
  const walked: unknown[] = []
  const reads = {
    async read(sql: string, { limit, latency_bound }: Readonly<Record<string, unknown>>) {
      if (sql.includes('AS latency')) {
        limits.push(limit)
        // The first call was stored twice.
        return [9, 9, 7, 5, 3].map((latency, at) => ({ id: `c${Math.max(1, at)}`, latency }))
      }
      walked.push(latency_bound)
      return []
    },
  } as unknown as Reads
  const store = createCallsQueryStore({
    reads,
    joinedDataOf: () => ({ beside: {}, prepare: async () => undefined }) as never,
    arrivals: { wait: async () => undefined },
  })
  const sort_by = [{ field: 'summary.weave.latency_ms', direction: 'desc' as const }]
  const selection = resolveCallsSelection({ project_id: 'acme/demo', sort_by, offset: 1, limit: 2 })
  const shape = resolveCallsShape({ project_id: 'acme/demo' })
  expect(await Array.fromAsync(store.pages(selection, shape, readCaller()))).toEqual([])
  expect(limits).toEqual([6])
  expect(walked).toEqual([5, undefined])
})
