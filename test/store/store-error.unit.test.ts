import { SqliteError } from 'better-sqlite3'
import { describe, expect, it } from 'vitest'
import { isLocked } from '../../src/store/sqlite/db/store-error.ts'

describe('isLocked', () => {
  it.each([
    ['SQLITE_BUSY', true],
    // Another process repairs the log after a crash.
    ['SQLITE_BUSY_RECOVERY', true],
    ['SQLITE_FULL', false],
  ])('tells of %s: %s', (code, expected) => {
    expect(isLocked(new SqliteError('x', code))).toBe(expected)
  })

  it('is false for what is not of SQLite', () => {
    expect(isLocked(new Error('SQLITE_BUSY'))).toBe(false)
  })
})
