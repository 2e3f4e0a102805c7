/** When processes are ended, with fake ones. */
import { expect, it } from 'vitest'
import type { EngineLink } from '../../../src/inference/tiny/host/engine-link.ts'
import { createGuardedRuns } from '../../../src/inference/tiny/host/guarded-runs.ts'
import type { CompletionPlan } from '../../../src/inference/tiny/sampling/completion-plan.ts'

it('ends the process of each run that is cancelled, also at the moment when it gets its place', async () => {
  let running = 0
  const start = (): EngineLink => {
    running += 1
    return {
      ready: async () => undefined,
      open: () => ({ next: () => new Promise(() => undefined), cancel: () => undefined }),
      runningCount: () => 0,
      close: async () => {
        running -= 1
      },
    }
  }
  const guarded = createGuardedRuns(start, 2)
  const runs = ['a', 'b', 'c'].map((owner) =>
    guarded.open({ priority: 0 } as CompletionPlan, owner),
  )
  const [, , waiting] = runs.map((run) => run.next())
  await new Promise(setImmediate)
  expect(running).toBe(2)
  for (const run of runs) run.cancel(new Error('left'))
  await expect(waiting).rejects.toThrow('left')
  expect([running, guarded.runningCount()]).toEqual([0, 0])
})
