/** Turns, flow control and cancellation, with fake generations. */
import { describe, expect, it } from 'vitest'
import { ApiError } from '../../../src/errors.ts'
import {
  CHUNKS_AHEAD_MAX,
  type FromEngine,
} from '../../../src/inference/tiny/host/engine-messages.ts'
import type { EnginePlan } from '../../../src/inference/tiny/host/engine-work.ts'
import {
  type Begun,
  createScheduler,
  OWN_REQUESTS_AT_ONCE,
  REQUESTS_AT_ONCE,
} from '../../../src/inference/tiny/host/scheduler.ts'
import type { KvCache } from '../../../src/inference/tiny/model/kv-cache.ts'
import type { Transformer } from '../../../src/inference/tiny/model/transformer.ts'
import type { CompletionPlan } from '../../../src/inference/tiny/sampling/completion-plan.ts'
import type { Generation } from '../../../src/inference/tiny/sampling/steps.ts'

const PASS_CPU_MS = 10
const REQUEST_CPU_MS_MAX = 2_000

/** A scheduler over fake generations of `length` pieces; the plan's seed is the request's id. */
function setUp(length: number, fail: (id: number) => unknown = () => null, width = 1, logit = 0) {
  const posted: FromEngine[] = []
  const steps = new Map<number, number>()
  const passes: number[][] = []
  const readied: number[] = []
  /** By id, what it waits for behind its next step. */
  const waits = new Map<number, Promise<unknown>>()
  let cpuMs = 0
  const cache = {} as KvCache
  const begin = (plan: EnginePlan): Begun => {
    const id = Number('seed' in plan ? plan.seed : 0)
    const failure = fail(id)
    if (failure !== null) throw failure
    return { generation: speak(id), transformer: plan.adapterPath === null ? base : adapted }
  }
  function* speak(id: number): Generation {
    for (let done = 1; ; done++) {
      steps.set(id, done)
      const deltas = [{ type: 'prompt', promptTokens: done, cachedTokens: 0 } as const]
      if (done === length) return deltas
      const waitsFor = waits.get(id)
      if (waitsFor !== undefined) {
        yield { deltas, parts: [], waitsFor }
        continue
      }
      const ids = Array(width).fill(id)
      yield { deltas, parts: width === 0 ? [] : [{ ids, cache, wants: 'last' }] }
    }
  }
  const run: Transformer['run'] = (parts) => {
    passes.push(parts.map(({ ids }) => ids[0]!))
    cpuMs += PASS_CPU_MS
    return parts.map(() => [Float32Array.of(0, logit)])
  }
  const base: Transformer = { run }
  const adapted: Transformer = { run }
  const scheduler = createScheduler(begin, (message) => posted.push(message), {
    onReady: () => readied.push(cpuMs),
    readCpuMs: () => cpuMs,
    requestCpuMsMax: REQUEST_CPU_MS_MAX,
  })
  return {
    posted,
    passes,
    readied,
    steps,
    waits,
    scheduler,
    start: (
      id: number,
      priority = 0,
      adapterPath: string | null = null,
      owner = `key ${id % 4}`,
    ) => {
      const prompt = { template: null }
      const plan = {
        seed: BigInt(id),
        priority,
        adapterPath,
        prompt,
        constraint: null,
      } as CompletionPlan
      scheduler.receive({ type: 'start', id, plan, owner })
    },
    runDry: () => {
      let count = 0
      while (scheduler.step()) count++
      return count
    },
    of: (id: number, type: FromEngine['type']) =>
      posted.filter((message) => message.type === type && 'id' in message && message.id === id),
  }
}

describe('createScheduler', () => {
  it('does no pass for one that only waits', () => {
    const { passes, scheduler, start, runDry, of } = setUp(3, () => null, 0)
    start(1)
    runDry()
    expect(of(1, 'done')).toHaveLength(1)
    expect(passes).toEqual([])
    expect(scheduler.step()).toBe(false)
  })

  it('never puts requests of two networks into one pass, and lets them take turns', () => {
    const { start, runDry, passes } = setUp(4)
    for (const id of [1, 2]) start(id)
    for (const id of [11, 12]) start(id, 0, '/checkpoint')
    runDry()
    for (const pass of passes) expect(new Set(pass.map((id) => id > 10)).size).toBe(1)
    expect(passes.some((pass) => pass.length === 2 && pass.includes(11))).toBe(true)
    expect(passes.flat().filter((id) => id === 12)).toHaveLength(3)
  })

  it('fails those whose weights overflow', () => {
    const { start, runDry, of } = setUp(3, () => null, 1, Number.NaN)
    start(1)
    runDry()
    expect(of(1, 'failed')).toMatchObject([{ error: { code: 'checkpoint_unusable' } }])
    expect(of(1, 'done')).toEqual([])
  })

  it('puts all running requests into one pass', () => {
    const { start, scheduler, steps, passes } = setUp(50)
    for (const id of [1, 2, 3]) start(id)
    for (let i = 0; i < 9; i++) scheduler.step()
    expect([...steps.keys()]).toEqual([1, 2, 3])
    expect(passes.at(-1)?.toSorted()).toEqual([1, 2, 3])
    expect(passes.every((pass) => pass.length <= 3)).toBe(true)
  })

  it('lets requests take turns that do not fit into one pass', () => {
    const { start, scheduler, passes } = setUp(50, () => null, 20)
    for (const id of [1, 2, 3]) start(id)
    for (let i = 0; i < 15; i++) scheduler.step()
    expect(
      passes
        .slice(-6)
        .map(([id]) => id)
        .toSorted(),
    ).toEqual([1, 1, 2, 2, 3, 3])
    expect(passes.every((pass) => pass.length === 1)).toBe(true)
  })

  it('reports each end once, and is then idle', () => {
    const { start, runDry, of, scheduler } = setUp(5)
    start(1)
    start(2)
    runDry()
    expect(of(1, 'delta')).toHaveLength(5)
    expect(of(1, 'done')).toHaveLength(1)
    expect(of(2, 'done')).toHaveLength(1)
    expect(scheduler.step()).toBe(false)
  })

  it('ends a request that has had its time, by its share of the passes, and goes on with others', () => {
    const { start, scheduler, of } = setUp(350)
    for (const id of [1, 2]) start(id)
    for (let n = 0; n < 370; n++) {
      scheduler.step()
      scheduler.receive({ type: 'ack', id: 1, count: 1 })
      // The second one waits for its consumer, so that the first one has most passes alone.
      if (n >= 200) scheduler.receive({ type: 'ack', id: 2, count: 1 })
    }
    expect(of(1, 'failed')).toMatchObject([{ error: { code: 'invalid_value' } }])
    expect(of(1, 'delta').length).toBeGreaterThan(200)
    expect(of(1, 'delta').length).toBeLessThan(280)
    expect(of(2, 'failed')).toEqual([])
    expect(of(2, 'delta').length).toBeGreaterThan(200)
  })

  it('stops ahead of a slow consumer, and goes on by what was taken', () => {
    const { start, runDry, scheduler, of } = setUp(500)
    start(1)
    runDry()
    expect(of(1, 'delta')).toHaveLength(CHUNKS_AHEAD_MAX)
    expect(scheduler.step()).toBe(false)
    scheduler.receive({ type: 'ack', id: 1, count: 10 })
    runDry()
    expect(of(1, 'delta')).toHaveLength(CHUNKS_AHEAD_MAX + 10)
  })

  it('serves others while slow consumers are waited for', () => {
    const { start, runDry, of } = setUp(CHUNKS_AHEAD_MAX + 1)
    for (let id = 1; id <= REQUESTS_AT_ONCE + 1; id++) start(id)
    runDry()
    expect(of(REQUESTS_AT_ONCE + 1, 'delta')).toHaveLength(CHUNKS_AHEAD_MAX)
  })

  it('begins only so many requests at once', () => {
    const { start, scheduler, steps, runDry } = setUp(5)
    for (let id = 1; id <= REQUESTS_AT_ONCE + 4; id++) start(id)
    for (let i = 0; i <= REQUESTS_AT_ONCE; i++) scheduler.step()
    expect(steps.size).toBe(REQUESTS_AT_ONCE)
    runDry()
    expect(steps.size).toBe(REQUESTS_AT_ONCE + 4)
  })

  it('leaves slots of one key to others, of which the one with the fewest running is next', () => {
    const { start, scheduler, steps } = setUp(500)
    for (let id = 1; id <= REQUESTS_AT_ONCE * 2; id++) start(id, 0, null, 'many')
    for (let i = 0; i < REQUESTS_AT_ONCE * 2; i++) scheduler.step()
    expect(steps.size).toBe(OWN_REQUESTS_AT_ONCE)
    start(99, 0, null, 'few')
    for (let i = 0; i <= OWN_REQUESTS_AT_ONCE; i++) scheduler.step()
    expect(steps.has(99)).toBe(true)
  })

  it('does not continue one that waits for a promise, and reports when it can be', async () => {
    const { start, scheduler, steps, readied, waits } = setUp(3)
    const { promise, resolve } = Promise.withResolvers<void>()
    waits.set(1, promise)
    start(1)
    scheduler.step()
    expect(scheduler.step()).toBe(false)
    expect(steps.get(1)).toBe(1)
    resolve()
    await promise
    await Promise.resolve()
    expect(readied).toHaveLength(1)
    waits.clear()
    while (scheduler.step());
    expect(steps.get(1)).toBe(3)
  })

  it('does no further step of a cancelled request, running or waiting', () => {
    const { start, scheduler, steps, runDry } = setUp(50)
    start(1)
    start(2)
    scheduler.step()
    scheduler.receive({ type: 'cancel', id: 1 })
    start(3)
    scheduler.receive({ type: 'cancel', id: 3 })
    runDry()
    expect([...steps.keys()]).toEqual([1, 2])
    expect(steps.get(1)).toBe(1)
  })

  it('serves lower priorities first, also before those that already run', () => {
    const { start, scheduler, posted } = setUp(3)
    start(1, 5)
    start(2, 5)
    scheduler.step()
    start(3, -1)
    start(4, 9)
    start(5, -1)
    while (scheduler.step());
    const done = posted.flatMap((message) => (message.type === 'done' ? [message.id] : []))
    expect(done.slice(0, 2)).toEqual([3, 5])
    expect(done.slice(2, 4).toSorted()).toEqual([1, 2])
    expect(done[4]).toBe(4)
  })

  it('does not let many of lesser importance keep a place', () => {
    const { start, scheduler, steps } = setUp(50)
    for (let id = 1; id <= REQUESTS_AT_ONCE * 2; id++) start(id, 1)
    for (let i = 0; i < REQUESTS_AT_ONCE * 2; i++) scheduler.step()
    start(99, 0)
    scheduler.step()
    expect(steps.has(99)).toBe(true)
  })

  it('fails one request alone, with its code or as an internal error', () => {
    const refusal = new ApiError('context_length_exceeded', { param: 'messages' })
    const { start, runDry, posted, of } = setUp(3, (id) =>
      id === 1 ? refusal : id === 2 ? new TypeError('secret') : null,
    )
    for (const id of [1, 2, 3]) start(id)
    runDry()
    const errors = posted.flatMap((message) => (message.type === 'failed' ? [message.error] : []))
    expect(errors[0]).toMatchObject({ code: 'context_length_exceeded', param: 'messages' })
    expect(errors[1]?.code).toBe('internal_error')
    expect(errors[1]?.message).not.toContain('secret')
    expect(of(3, 'done')).toHaveLength(1)
  })
})
