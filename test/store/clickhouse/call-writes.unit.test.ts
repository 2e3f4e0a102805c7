import { expect, it } from 'vitest'
import { createCallWrites } from '../../../src/store/clickhouse/calls/write/call-writes.ts'
import type { ClickHouse } from '../../../src/store/clickhouse/db/client.ts'

/** More than the steps from the end of an insert to the rest of the writer. */
const MICROTASKS = 40

/** @param microtasks - from the insert of the first name until the second is given */
async function renameTwice(microtasks: number): Promise<void> {
  let second: Promise<void> | null = null
  const db = {
    read: async () => [],
    async insert(table: string) {
      if (table === 'call_names') second ??= later()
    },
  } as unknown as ClickHouse
  const writes = createCallWrites(db, {
    queueMax: 9,
    queueBytesMax: 1000,
    waitMs: 10_000,
    closeMs: 0,
  })
  const rename = (id: string) =>
    writes.renameCall({ project_id: 'acme/demo', id, display_name: 'name' })
  async function later(): Promise<void> {
    for (let at = 0; at < microtasks; at++) await null
    await rename('second')
  }
  await rename('first')
  await second
}

it('a write that arrives while the writer goes idle is written', async () => {
  const renamed = Array.from({ length: MICROTASKS }, (_, at) => renameTwice(at))
  const ended = await Promise.allSettled(renamed)
  expect(ended.filter(({ status }) => status === 'rejected')).toEqual([])
})
