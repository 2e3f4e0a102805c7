import { expect, it, onTestFinished } from 'vitest'
import { readUsage } from '../../src/domain/usage/usage.ts'
import { packId } from '../../src/store/sqlite/calls/columns/id-columns.ts'
import { openDatabase } from '../../src/store/sqlite/db/connection.ts'
import { migrate } from '../../src/store/sqlite/db/migrate.ts'
import { createUsageRequests } from '../../src/store/sqlite/usage/usage-requests.ts'

it('names no request for a call whose response id too many calls share, so that its parent only adds it up', () => {
  const db = openDatabase(':memory:')
  onTestFinished(() => void db.close())
  migrate(db)
  const requests = createUsageRequests(db, {
    findReports: () => [],
    setRepeat: () => undefined,
    onMoved: () => undefined,
  })
  const usage = readUsage({ usage: { m: { prompt_tokens: 5, completion_tokens: 1 } } })
  const enter = (call_key: number) => {
    const id = `call-${call_key}`
    const call = { call_key, project_key: 1, id, packed_id: packId(id), started_at_us: call_key }
    const marks = { response_id: 'chatcmpl-0123456789abcdef', linked_id: null }
    return requests.enter({ ...call, ...marks }, usage, false)
  }
  expect(enter(1)).toMatch(/^[\w-]{16}$/)
  expect(enter(2)).toBe(enter(1))
  db.exec('UPDATE call_requests SET is_shared = 1')
  expect(enter(3)).toBeNull()
})
