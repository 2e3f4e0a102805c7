import { describe, expect, it } from 'vitest'
import { ApiError } from '../../../../src/errors.ts'
import {
  type RetryClock,
  SYSTEM_CLOCK,
  TryFailure,
  USUAL_RETRIES,
  withRetries,
} from '../../../../src/inference/openai/upstream/targets.ts'

const AWAY = () => new TryFailure(new ApiError('upstream_unreachable', { param: 'p' }))

function startClock() {
  let now = 0
  const waits: number[] = []
  const clock: RetryClock = {
    nowMs: () => now,
    random: () => 0.5,
    async sleep(ms) {
      waits.push(ms)
      now += ms
    },
  }
  return { clock, waits, pass: (ms: number) => (now += ms) }
}

async function run(results: (unknown | (() => unknown))[], options = {}) {
  const time = startClock()
  let tryCount = 0
  const answer = withRetries(
    async () => {
      const result = results[tryCount++]
      const value = typeof result === 'function' ? result() : result
      if (value instanceof Error) throw value
      return value
    },
    {
      policy: USUAL_RETRIES,
      clock: time.clock,
      signal: new AbortController().signal,
      hasOther: () => false,
      ...options,
    },
  )
  return { ...time, answer: await answer.catch((error: unknown) => error), tryCount }
}

describe('withRetries', () => {
  it('the first success is returned', async () => {
    expect(await run(['a'])).toMatchObject({ answer: 'a', tryCount: 1, waits: [] })
  })

  it('retries wait for times drawn from a doubling range', async () => {
    expect(await run([AWAY(), AWAY(), 'a'])).toMatchObject({
      answer: 'a',
      tryCount: 3,
      waits: [100, 200],
    })
  })

  it('retries end after three tries, and clients are told not to retry', async () => {
    const { answer, tryCount } = await run([AWAY(), AWAY(), AWAY(), 'a'])
    expect(tryCount).toBe(3)
    expect(answer).toMatchObject({
      code: 'upstream_unreachable',
      param: 'p',
      headers: { 'x-should-retry': 'false' },
    })
  })

  it('never retries what must not be retried, and reports no tries that were not made', async () => {
    const error = new ApiError('upstream_error')
    expect(await run([error, 'a'])).toMatchObject({ answer: error, tryCount: 1 })
    expect(error.headers).toEqual({})
  })

  it('tells it of a second try that fails for good too, but not of a client that left', async () => {
    const { answer } = await run([AWAY(), new ApiError('upstream_error')])
    expect(answer).toMatchObject({ headers: { 'x-should-retry': 'false' } })
    const left = await run([AWAY(), new ApiError('client_closed_request')])
    expect(left.answer).toMatchObject({ code: 'client_closed_request', headers: {} })
  })

  it("a retry waits for the upstream's Retry-After, and a little more", async () => {
    const limited = new TryFailure(new ApiError('upstream_rate_limited'), 3_000)
    expect(await run([limited, 'a'])).toMatchObject({ answer: 'a', waits: [3_100] })
  })

  it('no retry waits when another upstream is available', async () => {
    expect(await run([AWAY(), 'a'], { hasOther: () => true })).toMatchObject({ waits: [] })
  })

  it('no try begins after its deadline', async () => {
    const time = startClock()
    const slow = () => {
      time.pass(9_950)
      return AWAY()
    }
    const { answer, tryCount } = await run([slow, 'a'], { clock: time.clock })
    expect(tryCount).toBe(1)
    expect(answer).toMatchObject({ code: 'upstream_unreachable', headers: {} })
  })

  it('a policy sets how often, and for how long, a request is sent again', async () => {
    const never = { ...USUAL_RETRIES, retriesMax: 0 }
    expect(await run([AWAY(), 'a'], { policy: never })).toMatchObject({
      tryCount: 1,
      answer: { code: 'upstream_unreachable', headers: {} },
    })
    const often = { ...USUAL_RETRIES, retriesMax: 4 }
    const failures = [AWAY(), AWAY(), AWAY(), AWAY()]
    expect(await run([...failures, 'a'], { policy: often })).toMatchObject({ answer: 'a' })
    const brief = { ...often, withinMs: 299 }
    expect(await run([...failures, 'a'], { policy: brief })).toMatchObject({ tryCount: 2 })
  })

  it('an abort ends the wait before a retry', async () => {
    const abort = new AbortController()
    const reason = new Error('gone')
    const sleeping = SYSTEM_CLOCK.sleep(60_000, abort.signal)
    abort.abort(reason)
    await expect(sleeping).rejects.toBe(reason)
    await expect(SYSTEM_CLOCK.sleep(60_000, abort.signal)).rejects.toBe(reason)
    await SYSTEM_CLOCK.sleep(1, new AbortController().signal)
  })
})
