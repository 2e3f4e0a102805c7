import { describe, expect, it } from 'vitest'
import {
  createSignInAttempts,
  readClientAddress,
} from '../../../src/http/sign-in/sign-in-attempts.ts'

describe('attempts to sign in', () => {
  it('are allowed again one by one as time passes, and given back when they succeed', () => {
    let now = 0
    const attempts = createSignInAttempts(() => now)
    const take = () => attempts.take('ada', 'a')
    for (let n = 0; n < 20; n++) take()()
    for (let n = 0; n < 10; n++) take()
    expect(take).toThrow('Too many sign-ins have failed.')
    now = 59_000
    expect(take).toThrow(expect.objectContaining({ retryAfterS: 1 }))
    now = 60_000
    take()
    expect(take).toThrow('Too many')
    attempts.take('bob', 'a')
  })

  it('keep at most 10,000 accounts, and drop those with a full allowance first', () => {
    let now = 0
    const attempts = createSignInAttempts(() => now)
    for (let n = 0; n < 10; n++) attempts.take('ada', 'a')
    for (let n = 0; n < 9_999; n++) attempts.take(`n${n}`, `n${n}`)
    now = 60_000
    attempts.take('one more', 'b')
    attempts.take('ada', 'a')
    expect(() => attempts.take('ada', 'a')).toThrow('Too many')
  })
})

describe('the address of a client', () => {
  it.each([
    ['203.0.113.1', undefined, '203.0.113.1'],
    ['203.0.113.1', '198.51.100.1', '203.0.113.1'],
    ['127.0.0.1', '198.51.100.1, 198.51.100.2', '198.51.100.2'],
    ['::ffff:10.1.2.3', '198.51.100.1', '198.51.100.1'],
    ['172.17.0.1', 'unknown', '172.17.0.1'],
    ['::ffff:203.0.113.1', undefined, '203.0.113.1'],
    ['2001:db8:1:2:3:4:5:6', undefined, '2001:db8:1:2'],
    ['::1', '2001:0db8::6', '2001:db8:0:0'],
    ['fe80::1%eth0', undefined, 'fe80:0:0:0'],
  ])('of the peer %s that forwards for %s is %s', (ip, forwarded, address) => {
    const headers = forwarded === undefined ? {} : { 'x-forwarded-for': forwarded }
    expect(readClientAddress({ ip, headers })).toBe(address)
  })
})
