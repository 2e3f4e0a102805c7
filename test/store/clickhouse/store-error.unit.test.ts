import { ClickHouseError } from '@clickhouse/client'
import { describe, expect, it } from 'vitest'
import {
  describe as describeError,
  isPassing,
  toStoreError,
} from '../../../src/store/clickhouse/db/store-error.ts'

function errorOf(code: string, type: string) {
  return new ClickHouseError({ message: `secret ${type}`, code, type })
}

describe('an error of ClickHouse', () => {
  it.each([
    ['285', 'TOO_FEW_LIVE_REPLICAS'],
    ['286', 'UNSATISFIED_QUORUM_FOR_PREVIOUS_WRITE'],
    ['319', 'UNKNOWN_STATUS_OF_INSERT'],
    ['242', 'TABLE_IS_READ_ONLY'],
    ['243', 'NOT_ENOUGH_SPACE'],
    ['394', 'QUERY_WAS_CANCELLED'],
    ['745', 'SERVER_OVERLOADED'],
  ])('ClickHouse error %s %s is temporary, and callers may retry', (code, type) => {
    const error = errorOf(code, type)
    expect(isPassing(error)).toBe(true)
    expect(toStoreError(error)).toMatchObject({ code: 'store_unavailable', retryAfterS: 5 })
  })

  it.each([
    ['60', 'UNKNOWN_TABLE'],
    ['62', 'SYNTAX_ERROR'],
    ['497', 'ACCESS_DENIED'],
    ['516', 'AUTHENTICATION_FAILED'],
  ])(
    'ClickHouse error %s %s is permanent, and discloses nothing of the statement',
    (code, type) => {
      const error = errorOf(code, type)
      expect(isPassing(error)).toBe(false)
      const told = toStoreError(error)
      expect(told.code).toBe('internal_error')
      expect((told.cause as Error).message).toBe(`ClickHouse: ${type} (code ${code})`)
    },
  )

  it('an error about a slow read is a timeout, and one about the network is temporary', () => {
    expect(toStoreError(errorOf('159', 'TIMEOUT_EXCEEDED')).code).toBe('read_timeout')
    expect(isPassing(new Error('read ECONNRESET'))).toBe(true)
    expect(describeError(new Error('Timeout error.'))).toBe('Timeout error.')
  })

  it("a network error has the system's message, or its code without one", () => {
    const refused = Object.assign(new Error('connect ECONNREFUSED ::1:8123'), {
      code: 'ECONNREFUSED',
    })
    expect(describeError(refused)).toBe('connect ECONNREFUSED ::1:8123')
    const both = Object.assign(new AggregateError([refused]), { code: 'ECONNREFUSED' })
    expect(describeError(both)).toBe('ECONNREFUSED')
  })

  it.each([
    '<html>secret</html>',
    'blocked by a firewall: SELECT secret',
    'Code: 241. DB::Exception: while reading secret: (version 24.8.1)',
  ])('an error in another form is not repeated: %s', (text) => {
    const told = toStoreError(new Error(text))
    expect(told.code).toBe('store_unavailable')
    expect((told.cause as Error).message).toBe('an answer that cannot be read')
  })
})
