import { describe, expect, it } from 'vitest'
import { createArrivals } from '../../../src/store/base/recordings/recordings.ts'

const PROJECT = 'acme/demo'

/** Whether a promise has settled when all that is ready has run. */
async function hasSettled(promise: Promise<void>): Promise<boolean> {
  let isSettled = false
  void promise.then(() => {
    isSettled = true
  })
  await new Promise(setImmediate)
  return isSettled
}

describe('recorded calls on their way', () => {
  it('a reader waits until all announced calls that it queries have arrived, not for others', async () => {
    const arrivals = createArrivals()
    const arrive = ['a', 'b'].map((id) => arrivals.expect(PROJECT, id))
    arrivals.expect(PROJECT, 'c')
    expect(await hasSettled(arrivals.wait(PROJECT, ['x']))).toBe(true)
    expect(await hasSettled(arrivals.wait('acme/other', ['a']))).toBe(true)
    const wait = arrivals.wait(PROJECT, ['a', 'b', 'x'])
    arrive[0]?.()
    expect(await hasSettled(wait)).toBe(false)
    arrive[1]?.()
    await wait
    expect(await hasSettled(arrivals.wait(PROJECT, ['a', 'b']))).toBe(true)
  })

  it('a reader waits for announced calls up to the limit', async () => {
    const arrivals = createArrivals(5)
    arrivals.expect(PROJECT, 'a')
    await arrivals.wait(PROJECT, ['a'])
  })

  it('a reader does not wait for announced calls beyond those tracked', async () => {
    const arrivals = createArrivals()
    const arrive = Array.from({ length: 10_000 }, (_, n) => arrivals.expect(PROJECT, `c${n}`))
    arrivals.expect(PROJECT, 'more')
    expect(await hasSettled(arrivals.wait(PROJECT, ['more']))).toBe(true)
    arrive[0]?.()
    arrivals.expect(PROJECT, 'more')
    expect(await hasSettled(arrivals.wait(PROJECT, ['more']))).toBe(false)
    for (const end of arrive) end()
  })
})
