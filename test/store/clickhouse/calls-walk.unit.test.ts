import { expect, it } from 'vitest'
import { resolveCallsSelection } from '../../../src/domain/calls/calls-query.ts'
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
