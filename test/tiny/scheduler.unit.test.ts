/** Turns, flow control and cancellation, on pretended generations. */
import { describe, expect, it } from 'vitest'
import { ApiError } from '../../src/errors.ts'
import type { CompletionPlan } from '../../src/inference/tiny/completion-plan.ts'
import type { Generation } from '../../src/inference/tiny/generation.ts'
import { createScheduler, REQUESTS_AT_ONCE } from '../../src/inference/tiny/scheduler.ts'
import { type FromWorker, PIECES_AHEAD_MAX } from '../../src/inference/tiny/worker-messages.ts'

/** A scheduler over pretended generations of `length` pieces; the plan's seed is the request's id. */
function setUp(length: number, fail: (id: number) => unknown = () => null) {
  const posted: FromWorker[] = []
  const steps = new Map<number, number>()
  const begin = (plan: CompletionPlan): Generation => {
    const id = Number(plan.seed)
    const failure = fail(id)
    if (failure !== null) throw failure
    return {
      step() {
        const done = (steps.get(id) ?? 0) + 1
        steps.set(id, done)
        const delta = { type: 'prompt', promptTokens: done, cachedTokens: 0 } as const
        return { delta, isDone: done === length }
      },
    }
  }
  const scheduler = createScheduler(begin, (message) => posted.push(message))
  return {
    posted,
    steps,
    scheduler,
    start: (id: number) => {
      scheduler.receive({ type: 'start', id, plan: { seed: BigInt(id) } as CompletionPlan })
    },
    runDry: () => {
      let count = 0
      while (scheduler.step()) count++
      return count
    },
    of: (id: number, type: FromWorker['type']) =>
      posted.filter((message) => message.type === type && 'id' in message && message.id === id),
  }
}

describe('createScheduler', () => {
  it('lets requests take turns', () => {
    const { start, scheduler, steps } = setUp(50)
    for (const id of [1, 2, 3]) start(id)
    for (let i = 0; i < 9; i++) scheduler.step()
    expect([...steps]).toEqual([
      [1, 3],
      [2, 3],
      [3, 3],
    ])
  })

  it('tells of each end once, and has nothing to do after that', () => {
    const { start, runDry, of, scheduler } = setUp(5)
    start(1)
    start(2)
    runDry()
    expect(of(1, 'delta')).toHaveLength(5)
    expect(of(1, 'done')).toHaveLength(1)
    expect(of(2, 'done')).toHaveLength(1)
    expect(scheduler.step()).toBe(false)
  })

  it('stops ahead of a slow consumer, and goes on by what was taken', () => {
    const { start, runDry, scheduler, of } = setUp(500)
    start(1)
    runDry()
    expect(of(1, 'delta')).toHaveLength(PIECES_AHEAD_MAX)
    expect(scheduler.step()).toBe(false)
    scheduler.receive({ type: 'ack', id: 1, count: 10 })
    runDry()
    expect(of(1, 'delta')).toHaveLength(PIECES_AHEAD_MAX + 10)
  })

  it('serves others while slow consumers are waited for', () => {
    const { start, runDry, of } = setUp(PIECES_AHEAD_MAX + 1)
    for (let id = 1; id <= REQUESTS_AT_ONCE + 1; id++) start(id)
    runDry()
    expect(of(REQUESTS_AT_ONCE + 1, 'delta')).toHaveLength(PIECES_AHEAD_MAX)
  })

  it('begins only so many requests at once', () => {
    const { start, scheduler, steps, runDry } = setUp(5)
    for (let id = 1; id <= REQUESTS_AT_ONCE + 4; id++) start(id)
    for (let i = 0; i < REQUESTS_AT_ONCE * 3; i++) scheduler.step()
    expect(steps.size).toBe(REQUESTS_AT_ONCE)
    runDry()
    expect(steps.size).toBe(REQUESTS_AT_ONCE + 4)
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
