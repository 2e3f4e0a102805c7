import { expect, it } from 'vitest'
import { LIST_WAITING_LOGS } from '../../../src/store/clickhouse/calls/call-logs.sql.ts'
import {
  freePartition,
  LIST_DELETED,
} from '../../../src/store/clickhouse/calls/removal/call-removal.sql.ts'
import { createCallRemoval } from '../../../src/store/clickhouse/calls/removal/call-removal.ts'
import type { ClickHouse } from '../../../src/store/clickhouse/db/client.ts'

it.each([
  ['deleted calls', LIST_DELETED],
  ['records of logs', LIST_WAITING_LOGS],
])('a round frees the disk, also when %s cannot be read', async (_, failing) => {
  const removals: string[] = []
  const db = {
    async read(sql: string) {
      if (sql === failing) throw new Error('refused')
      return sql.includes('_partition_id') ? [{ partition: '1', stored: 4, deleted: 1 }] : []
    },
    async remove(sql: string) {
      removals.push(sql)
    },
  } as unknown as ClickHouse
  const { removeDeleted } = createCallRemoval(db)
  await expect(removeDeleted(new AbortController().signal)).rejects.toThrow()
  expect(removals).toContain(freePartition('calls'))
})
