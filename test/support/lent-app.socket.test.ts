import { expect, it, onTestFinished, vi } from 'vitest'
import { readConfig } from '../../src/config.ts'
import { type Deps, openDeps } from '../../src/deps.ts'
import type { ClaimedTask } from '../../src/store/api/evaluators/evaluators.ts'
import { lendApp } from './lent-app.ts'

const config = { ...readConfig({}), dataDir: ':memory:', drainTimeoutMs: 50 }
const TASK = {
  evaluator_id: 'e',
  subject_id: 's',
  is_backfill: false,
  queued_at_us: 0,
  attempts: 1,
}

async function open(): Promise<Deps> {
  const deps = await openDeps(config)
  onTestFinished(() => deps.close())
  return deps
}

/** Lends an app that listens over these evaluators, waits for a call of one of them, gives it back, and lends the next. */
async function lendAtWork(evaluators: Partial<Deps['evaluators']>, awaited: () => unknown) {
  const deps = await open()
  const first = await lendApp(config, {
    ...deps,
    evaluators: { ...deps.evaluators, ...evaluators },
  })
  await first.app.listen({ host: '127.0.0.1', port: 0 })
  await vi.waitFor(() => expect(awaited).toHaveBeenCalled(), { timeout: 30_000 })
  await first.giveBack()
  const next = await lendApp(config, await open())
  onTestFinished(() => next.giveBack())
  return next.app === first.app
}

it('an app that rests is lent to the next test', async () => {
  const deps = await open()
  async function lendTwice(): Promise<boolean> {
    const first = await lendApp(config, deps)
    await first.giveBack()
    const next = await lendApp(config, deps)
    await next.giveBack()
    return next.app === first.app
  }
  // One of an earlier test may listen, and be at work just then.
  await expect.poll(lendTwice).toBe(true)
})

it('an app with a claimed task of an evaluator is not lent to the next test', async () => {
  const claimTasks = vi.fn(async (): Promise<ClaimedTask[]> => []).mockResolvedValueOnce([TASK])
  const findEvaluator = vi.fn(async () => null)
  const evaluators = { hasClaimable: async () => true, claimTasks, findEvaluator }
  expect(await lendAtWork(evaluators, findEvaluator)).toBe(false)
})

it('an app that waits for a store in the background is not lent to the next test', async () => {
  const { promise, resolve } = Promise.withResolvers<never[]>()
  onTestFinished(() => resolve([]))
  const listActive = vi.fn(() => promise)
  expect(await lendAtWork({ listActive }, listActive)).toBe(false)
})
