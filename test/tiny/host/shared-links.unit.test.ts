/** Which thread a request goes to, with fake threads. */
import { describe, expect, it } from 'vitest'
import type { EngineLink } from '../../../src/inference/tiny/host/engine-link.ts'
import {
  createSharedLinks,
  REQUESTS_OF_ONE_LINK,
} from '../../../src/inference/tiny/host/shared-links.ts'
import type { CompletionPlan } from '../../../src/inference/tiny/sampling/completion-plan.ts'

function setUp(linksMax: number) {
  const threads: { count: number; isClosed: boolean; ready: PromiseWithResolvers<void> }[] = []
  const start = (): EngineLink => {
    const thread = { count: 0, isClosed: false, ready: Promise.withResolvers<void>() }
    threads.push(thread)
    return {
      ready: () => thread.ready.promise,
      open: () => {
        thread.count += 1
        return { next: async () => null, cancel: () => void thread.count-- }
      },
      runningCount: () => thread.count,
      close: async () => {
        thread.isClosed = true
      },
    }
  }
  const links = createSharedLinks(start, linksMax)
  const open = (count: number, priority = 0) =>
    Array.from({ length: count }, () => links.open({ priority } as CompletionPlan))
  return { threads, links, open, counts: () => threads.map(({ count }) => count) }
}

describe('createSharedLinks', () => {
  it('keeps few requests in one thread', () => {
    const { open, counts } = setUp(2)
    const runs = open(REQUESTS_OF_ONE_LINK)
    runs[0]!.cancel(null)
    open(1)
    expect(counts()).toEqual([REQUESTS_OF_ONE_LINK])
  })

  it('starts another thread for more, and uses it once it is ready', async () => {
    const { open, counts, threads, links } = setUp(2)
    open(6)
    expect(counts()).toEqual([6, 0])
    threads[1]!.ready.resolve()
    await threads[1]!.ready.promise
    open(6)
    expect(counts()).toEqual([6, 6])
    expect(links.runningCount()).toBe(12)
    open(4)
    expect(counts()).toEqual([8, 8])
  })

  it('never uses a thread that could not load the model', async () => {
    const { open, counts, threads } = setUp(2)
    open(5)
    threads[1]!.ready.reject(new Error('no memory'))
    await threads[1]!.ready.promise.catch(() => {})
    open(5)
    expect(counts()).toEqual([10, 0])
  })

  it('leaves requests with a priority to the first thread', async () => {
    const { open, counts, threads } = setUp(2)
    open(5)
    threads[1]!.ready.resolve()
    await threads[1]!.ready.promise
    open(5, -1)
    expect(counts()).toEqual([10, 0])
  })

  it('starts no more than it may, and closes all', async () => {
    const { open, links, threads } = setUp(1)
    open(20)
    expect(threads).toHaveLength(1)
    const pair = setUp(2)
    pair.open(5)
    await Promise.all([links.close(), pair.links.close()])
    expect([...threads, ...pair.threads].every(({ isClosed }) => isClosed)).toBe(true)
  })
})
