import { describe, expect, it } from 'vitest'
import { createSharedReads } from '../../../src/store/sqlite/read/shared-reads.ts'

/** A read that the test ends by hand. */
function openRead() {
  const freed: string[] = []
  const reads = createSharedReads<string>({
    keptBytesMax: 10,
    bytesOf: ({ length }) => length,
    free: (value) => freed.push(value),
  })
  const started: { signal: AbortSignal; resolve: (value: string) => void }[] = []
  const hold = (key: string, signal = new AbortController().signal, version = '1') =>
    reads.run(
      key,
      version,
      (abandoned) => {
        const { promise, resolve, reject } = Promise.withResolvers<string>()
        abandoned.addEventListener('abort', () => reject(abandoned.reason))
        started.push({ signal: abandoned, resolve })
        return promise
      },
      signal,
    )
  const ask = async (key: string, signal?: AbortSignal) => {
    const { value, release } = await hold(key, signal)
    release()
    return value
  }
  return { ask, hold, started, freed }
}

describe('createSharedReads', () => {
  it('reads once for all who ask the same, and gives the value again', async () => {
    const { ask, started } = openRead()
    const both = Promise.all([ask('a'), ask('a')])
    started[0]?.resolve('value')
    expect(await both).toEqual(['value', 'value'])
    expect(await ask('a')).toBe('value')
    expect(started).toHaveLength(1)
  })

  it('goes on while one caller waits, and stops when the last has left', async () => {
    const { ask, started } = openRead()
    const [first, second] = [new AbortController(), new AbortController()]
    const left = Promise.allSettled([ask('a', first.signal), ask('a', second.signal)])
    first.abort()
    expect(started[0]?.signal.aborted).toBe(false)
    second.abort()
    expect(started[0]?.signal.aborted).toBe(true)
    for (const result of await left) {
      expect(result).toMatchObject({ reason: { code: 'client_closed_request' } })
    }
    const again = ask('a')
    started[1]?.resolve('fresh')
    expect(await again).toBe('fresh')
  })

  it('starts nothing for a caller that has left, and keeps no failure', async () => {
    const { ask, started } = openRead()
    await expect(ask('a', AbortSignal.abort())).rejects.toMatchObject({
      code: 'client_closed_request',
    })
    expect(started).toHaveLength(0)
  })

  it('keeps no value that takes more than half of all bytes', async () => {
    const { ask, started } = openRead()
    const first = ask('a')
    started[0]?.resolve('123456')
    expect(await first).toBe('123456')
    const second = ask('a')
    started[1]?.resolve('12345')
    expect(await second).toBe('12345')
    expect(await ask('a')).toBe('12345')
    expect(started).toHaveLength(2)
  })

  it('frees a value when it is not kept and the last caller has released it', async () => {
    const { hold, started, freed } = openRead()
    const both = Promise.all([hold('a'), hold('a')])
    started[0]?.resolve('123456')
    const [first, second] = await both
    first.release()
    await new Promise(setImmediate)
    expect(freed).toEqual([])
    second.release()
    expect(freed).toEqual(['123456'])
  })

  it('frees a kept value only after it was pushed out', async () => {
    const { ask, hold, started, freed } = openRead()
    const held = hold('a')
    started[0]?.resolve('aaaaa')
    const { release } = await held
    for (const [index, key] of ['b', 'c'].entries()) {
      const answer = ask(key)
      started[index + 1]?.resolve(key.repeat(5))
      await answer
    }
    await new Promise(setImmediate)
    expect(freed).toEqual([])
    release()
    expect(freed).toEqual(['aaaaa'])
  })

  it('gives no value of another version, and frees it', async () => {
    const { ask, hold, started, freed } = openRead()
    const { signal } = new AbortController()
    const first = ask('a')
    started[0]?.resolve('old')
    expect(await first).toBe('old')
    const [second, late] = [hold('a', signal, '2'), hold('a', signal, '3')]
    await new Promise(setImmediate)
    expect(freed).toEqual(['old'])
    started[1]?.resolve('new')
    started[2]?.resolve('newer')
    expect([(await second).value, (await late).value]).toEqual(['new', 'newer'])
    expect((await hold('a', signal, '3')).value).toBe('newer')
    expect(started).toHaveLength(3)
  })

  it('lets the values go that were used the longest time ago', async () => {
    const { ask, started } = openRead()
    for (const [index, key] of ['a', 'b', 'c'].entries()) {
      const answer = ask(key)
      started[index]?.resolve('12345')
      await answer
    }
    expect(await ask('c')).toBe('12345')
    void ask('a')
    expect(started).toHaveLength(4)
  })
})
