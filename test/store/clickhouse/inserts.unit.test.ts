import { expect, it } from 'vitest'
import { createInserts } from '../../../src/store/clickhouse/db/inserts.ts'

it('an insert is not retried once the store stops', async () => {
  const inserts = createInserts({ insert: () => Promise.reject(new Error('away')) })
  const running = inserts.insert('calls', [{ id: 'a' }])
  inserts.stop()
  await expect(running).rejects.toThrow('away')
})
