import { describe, expect, it } from 'vitest'
import type { ApiError } from '../../../src/errors.ts'
import { createKeyLimits } from '../../../src/inference/chat/key-limits.ts'

function open(requestsPerMinute: number | null, tokensPerMinute: number | null = null) {
  let now = 0
  const limits = createKeyLimits({ requestsPerMinute, tokensPerMinute, nowMs: () => now })
  const refusal = (keyId = 'k') => {
    try {
      limits.take(keyId)
      return null
    } catch (error) {
      return error as ApiError
    }
  }
  return { limits, refusal, pass: (ms: number) => (now += ms) }
}

describe('createKeyLimits', () => {
  it('a key without limits has no headers and no refusals', () => {
    const { limits } = open(null)
    for (let at = 0; at < 1_000; at++) expect(limits.take('k')).toEqual({})
  })

  it('a key may send its requests of a minute, then gets the time to wait', () => {
    const { limits, refusal, pass } = open(60)
    for (let at = 0; at < 60; at++) limits.take('k')
    pass(400)
    expect(refusal()).toMatchObject({
      code: 'rate_limit_exceeded',
      message: 'The key has used up its 60 requests a minute.',
      retryAfterS: 1,
      headers: {
        'retry-after-ms': '600',
        'x-ratelimit-limit-requests': '60',
        'x-ratelimit-remaining-requests': '0',
        'x-ratelimit-reset-requests': '59.600s',
      },
    })
    pass(600)
    expect(refusal()).toBeNull()
    expect(refusal()).not.toBeNull()
  })

  it('each key is counted separately', () => {
    const { limits, refusal } = open(1)
    limits.take('a')
    expect(refusal('a')).not.toBeNull()
    expect(refusal('b')).toBeNull()
  })

  it('the remaining requests and tokens are returned', () => {
    const { limits, pass } = open(2, 100)
    expect(limits.take('k')).toEqual({
      'x-ratelimit-limit-requests': '2',
      'x-ratelimit-remaining-requests': '1',
      'x-ratelimit-reset-requests': '30.000s',
      'x-ratelimit-limit-tokens': '100',
      'x-ratelimit-remaining-tokens': '100',
      'x-ratelimit-reset-tokens': '0.000s',
    })
    limits.charge('k', 40)
    pass(6_000)
    expect(limits.take('k')).toMatchObject({ 'x-ratelimit-remaining-tokens': '70' })
  })

  it('a key waits until its overdrawn tokens are refilled', () => {
    const { limits, refusal, pass } = open(null, 600)
    limits.take('k')
    limits.charge('k', 1_200)
    expect(refusal()).toMatchObject({ retryAfterS: 61, headers: { 'retry-after-ms': '60100' } })
    pass(60_100)
    expect(refusal()).toBeNull()
  })

  it('a key has its own limits instead of the defaults, and 0 is none', () => {
    const { limits } = open(5, 100)
    const none = { requests_per_minute: null, tokens_per_minute: null, parallel_requests: null }
    expect(limits.take('a', { ...none, requests_per_minute: 2 })).toMatchObject({
      'x-ratelimit-limit-requests': '2',
      'x-ratelimit-limit-tokens': '100',
    })
    expect(limits.take('b', { ...none, requests_per_minute: 0, tokens_per_minute: 0 })).toEqual({})
  })

  it('what a key has used stays used when its limit is edited', () => {
    const { limits } = open(10)
    const own = { requests_per_minute: 5, tokens_per_minute: null, parallel_requests: null }
    for (let at = 0; at < 4; at++) limits.take('k')
    expect(limits.take('k', own)).toMatchObject({ 'x-ratelimit-remaining-requests': '0' })
    expect(() => limits.take('k', own)).toThrow('5 requests a minute')
  })

  it('a key never accumulates more than the limit of one minute', () => {
    const { limits, refusal, pass } = open(1)
    limits.take('k')
    pass(3_600_000)
    limits.take('k')
    expect(refusal()).not.toBeNull()
  })

  it('the memory of key limits is bounded, whatever the number of keys', () => {
    const { limits, refusal } = open(1)
    for (let at = 0; at <= 10_000; at++) limits.take(`k${at}`)
    // The one that came first was forgotten, the newest was not.
    expect([refusal('k0'), refusal('k10000') === null]).toEqual([null, false])
  })
})
