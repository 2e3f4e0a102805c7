/** Reads of the main thread let other requests run. */
import { describe, expect, it, onTestFinished } from 'vitest'
import { all, type Steps } from '../../../src/store/base/db/steps.ts'
import { openDatabase } from '../../../src/store/sqlite/db/connection.ts'
import { createStepReader } from '../../../src/store/sqlite/db/run-steps.ts'

/** Some milliseconds of work. */
const COUNT = `
WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 20000)
SELECT count(*) AS count FROM numbers
`
const STEPS = 200

function openMemory() {
  const db = openDatabase(':memory:')
  onTestFinished(() => void db.close())
  return db
}

describe('reads in steps', () => {
  it('other work of the thread runs between the steps of a long read', async () => {
    let isOtherDone = false
    setImmediate(() => {
      isOtherDone = true
    })
    function* readAll(): Steps<boolean> {
      for (let count = 0; count < STEPS && !isOtherDone; count++) yield* all(COUNT, {})
      return isOtherDone
    }
    expect(await createStepReader(openMemory())(readAll())).toBe(true)
  })

  it('a read in steps ends with server_draining when the database is closed in between', async () => {
    const db = openMemory()
    setImmediate(() => void db.close())
    function* readAll(): Steps<void> {
      for (let count = 0; count < STEPS; count++) yield* all(COUNT, {})
    }
    await expect(createStepReader(db)(readAll())).rejects.toMatchObject({ code: 'server_draining' })
  })
})
