import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createLeaseRenewer } from '../../../src/training/worker/lease-renewer.ts'
import { LeaseLostError } from '../../../src/training/worker/worker-client.ts'

const lease = (id: string) => ({ id, lease_token: `token of ${id}`, heartbeat_seconds: 20 })
const fail = (error: unknown) => {
  throw error
}

describe('a lease keeper', () => {
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => void vi.useRealTimers())

  it('the current lease is renewed whenever due, until it is cleared', async () => {
    const renewed: string[] = []
    const keeper = createLeaseRenewer(async ({ id }) => void renewed.push(id), fail)
    keeper.keep(lease('a'))
    await vi.advanceTimersByTimeAsync(19_999)
    expect(renewed).toEqual([])
    await vi.advanceTimersByTimeAsync(20_001)
    keeper.keep(lease('b'))
    expect(keeper.current()).toEqual(lease('b'))
    await vi.advanceTimersByTimeAsync(20_000)
    keeper.keep(null)
    expect(keeper.current()).toBeNull()
    await vi.advanceTimersByTimeAsync(60_000)
    expect(renewed).toEqual(['a', 'a', 'b'])
  })

  it('a failed renewal is retried, but not when the lease is lost', async () => {
    const failures = [new TypeError('fetch failed'), new LeaseLostError(), new Error('too late')]
    const told: unknown[] = []
    let tries = 0
    const keeper = createLeaseRenewer(
      () => Promise.reject(failures[tries++]),
      (error) => told.push(error),
    )

    keeper.keep(lease('a'))
    await vi.advanceTimersByTimeAsync(100_000)
    expect(tries).toBe(2)
    keeper.keep(lease('b'))
    await vi.advanceTimersByTimeAsync(20_000)
    expect(tries).toBe(3)
    expect(told).toEqual([failures[0], failures[2]])
  })

  it('a renewal without a response ends when the next one is due', async () => {
    const signals: AbortSignal[] = []
    const keeper = createLeaseRenewer(async (_lease, signal) => void signals.push(signal), fail)
    keeper.keep({ ...lease('a'), heartbeat_seconds: 0.01 / 3 })
    await vi.advanceTimersByTimeAsync(4)
    keeper.keep(null)
    vi.useRealTimers()
    await expect.poll(() => signals.map(({ aborted }) => aborted)).toEqual([true])
  })
})
