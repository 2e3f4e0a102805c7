import { describe, expect, it } from 'vitest'
import { createSharedReads } from '../../../src/store/base/read/shared-reads.ts'

/** Reads that the test ends by hand. */
function openRead() {
  const reads = createSharedReads<string>()
  const started: { signal: AbortSignal; resolve: (value: string) => void }[] = []
  const start = (abandoned: AbortSignal) => {
    const { promise, resolve, reject } = Promise.withResolvers<string>()
    abandoned.addEventListener('abort', () => reject(abandoned.reason))
    started.push({ signal: abandoned, resolve })
    return promise
  }
  const ask = (key: string, signal = new AbortController().signal) => reads.run(key, start, signal)
  return { ask, started }
}

const turn = () => new Promise(setImmediate)

describe('createSharedReads', () => {
  it('a caller never shares a read that began before its request', async () => {
    const { ask, started } = openRead()
    const first = ask('a')
    const later = [ask('a'), ask('a'), ask('a')]
    expect(started).toHaveLength(1)
    started[0]?.resolve('old')
    expect(await first).toBe('old')
    await turn()
    expect(started).toHaveLength(2)
    started[1]?.resolve('new')
    expect(await Promise.all(later)).toEqual(['new', 'new', 'new'])
    const last = ask('a')
    started[2]?.resolve('newest')
    expect(await last).toBe('newest')
  })

  it('different queries are read concurrently', () => {
    const { ask, started } = openRead()
    void ask('a')
    void ask('b')
    expect(started).toHaveLength(2)
  })

  it('a shared read continues while one caller waits, and stops when the last has left', async () => {
    const { ask, started } = openRead()
    void ask('a')
    const [first, second] = [new AbortController(), new AbortController()]
    const left = Promise.allSettled([ask('a', first.signal), ask('a', second.signal)])
    started[0]?.resolve('value')
    await turn()
    first.abort()
    expect(started[1]?.signal.aborted).toBe(false)
    second.abort()
    expect(started[1]?.signal.aborted).toBe(true)
    for (const result of await left) {
      expect(result).toMatchObject({ reason: { code: 'client_closed_request' } })
    }
    const again = ask('a')
    await turn()
    started[2]?.resolve('fresh')
    expect(await again).toBe('fresh')
  })

  it('a waiting read that all callers have left does not begin', async () => {
    const { ask, started } = openRead()
    const first = ask('a')
    const leaver = new AbortController()
    const left = ask('a', leaver.signal)
    leaver.abort()
    await expect(left).rejects.toMatchObject({ code: 'client_closed_request' })
    const waits = ask('a')
    started[0]?.resolve('value')
    await first
    await turn()
    expect(started).toHaveLength(2)
    started[1]?.resolve('next')
    expect(await waits).toBe('next')
  })

  it('nothing starts for a disconnected caller, and reads continue after a failure', async () => {
    const { ask, started } = openRead()
    await expect(ask('a', AbortSignal.abort())).rejects.toMatchObject({
      code: 'client_closed_request',
    })
    expect(started).toHaveLength(0)
    const leaver = new AbortController()
    const failed = ask('a', leaver.signal)
    leaver.abort()
    await expect(failed).rejects.toMatchObject({ code: 'client_closed_request' })
    await turn()
    const again = ask('a')
    started[1]?.resolve('value')
    expect(await again).toBe('value')
  })
})
