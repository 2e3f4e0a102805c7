import { describe, expect, it } from 'vitest'
import { ApiError } from '../../../src/errors.ts'
import { renderFailure, toReplyError } from '../../../src/threads/thread-failure.ts'

/** An error on its way out of a thread. */
const carry = (error: unknown) => toReplyError(structuredClone(renderFailure(error)))

describe('errors of threads', () => {
  it('errors of threads keep their code, message and cause', () => {
    const cause = new Error('database or disk is full')
    const error = new ApiError('store_unavailable', { cause, retryAfterS: 5, param: 'p' })
    const carried = carry(error)
    expect(carried).toMatchObject({
      code: 'store_unavailable',
      message: error.message,
      retryAfterS: 5,
      param: 'p',
      cause: { message: expect.stringContaining('database or disk is full') },
    })
  })

  it('errors of threads have no cause where there was none, and are internal unless an ApiError', () => {
    expect(carry(new ApiError('call_conflict'))).toMatchObject({ cause: undefined })
    expect(carry(new TypeError('odd'))).toMatchObject({
      code: 'internal_error',
      cause: { message: expect.stringContaining('TypeError: odd') },
    })
    expect(toReplyError({})).toBeNull()
  })
})
