import { DatabaseError } from 'pg'
import { describe, expect, it } from 'vitest'
import { describe as describeFailure } from '../../../src/store/postgres/db/store-error.ts'

function failure(code: string, message: string): DatabaseError {
  return Object.assign(new DatabaseError(message, message.length, 'error'), { code })
}

describe('failures of PostgreSQL', () => {
  it.each([
    ['42501', 'permission denied for schema public'],
    ['25006', 'cannot execute CREATE TABLE in a read-only transaction'],
    ['53300', 'sorry, too many clients already'],
    ['57P03', 'the database system is starting up'],
  ])('a PostgreSQL failure names what an operator must fix: %s', (code, message) => {
    expect(describeFailure(failure(code, message))).toBe(message)
  })

  it.each([
    ['22P02', 'invalid input syntax for type integer: "secret"'],
    ['22001', 'value too long'],
    ['XX000', 'invalid memory'],
  ])(
    'a PostgreSQL failure shows only its code where the message may contain values: %s',
    (code, message) => {
      expect(describeFailure(failure(code, message))).toBe(`PostgreSQL: error ${code}`)
    },
  )
})
