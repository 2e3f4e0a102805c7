import { describe, expect, it } from 'vitest'
import { readUsage } from '../../src/domain/usage/usage.ts'
import { runInSlices, runInTurns } from '../../src/store/base/read/pausing-work.ts'
import { countFailures, sumTrees } from '../../src/store/base/usage/call-trees.ts'
import {
  createFoundCalls,
  renderCallsUsage,
  renderTraceUsage,
} from '../../src/store/base/usage/usage-trees.ts'

const CALLS = 5_000
/** One yield for each thousand calls, in each of some passes over all of them. */
const YIELDS_MIN = 2 * (CALLS / 1_000)
const OPTIONS = { prices: [], counting: 'own', limit: CALLS, project_id: 'acme/demo' } as const

function makeCalls() {
  const found = createFoundCalls({ expression: null, prices: [], limit: CALLS })
  for (let n = 0; n < CALLS; n++) {
    const parent_id = n === 0 ? null : `c${Math.floor(n / 4)}`
    const at = { started_at_us: n, ended_at_us: n + 1, exception: 'failed' }
    const usage = {
      usage: readUsage({ usage: { m: { input_tokens: 1 } } }),
      request: `request-${n}`,
    }
    found.add({ id: `c${n}`, trace_id: 't', parent_id, ...at }, () => usage)
  }
  return found.take()
}

const WORKS = {
  'the sums of trees': () => sumTrees(makeCalls(), true),
  'the usage of a trace': () =>
    renderTraceUsage(makeCalls(), { ...OPTIONS, filter: {}, expression: null }),
  'the usage of calls': () => renderCallsUsage([makeCalls()], { ...OPTIONS, call_ids: ['c0'] }),
  'the failures of traces': () =>
    countFailures(
      ['t'],
      makeCalls().map((call) => ({ ...call, is_failed: 1 })),
    ),
}

describe.each(Object.entries(WORKS))('%s', (_name, begin) => {
  it('let other work of the event loop in, and give the same', async () => {
    let turns = 0
    let isOver = false
    const count = () => {
      turns += 1
      if (!isOver) setImmediate(count)
    }
    setImmediate(count)
    const { signal } = new AbortController()
    const value = await runInTurns<unknown>(begin(), { signal })
    isOver = true
    expect(turns).toBeGreaterThanOrEqual(YIELDS_MIN)
    const slices = runInSlices<unknown>(begin(), () => false)
    expect(slices.next()).toEqual({ done: true, value })
  })

  it('stop when nobody waits for them any more', async () => {
    const abort = new AbortController()
    const running = runInTurns<unknown>(begin(), abort)
    abort.abort()
    await expect(running).rejects.toMatchObject({ code: 'client_closed_request' })
    const left = new Error('nobody waits')
    const slices = runInSlices<unknown>(begin(), () => {
      throw left
    })
    expect(() => slices.next()).toThrow(left)
  })

  it('pause where others wait for the reader', () => {
    const slices = [...runInSlices<unknown>(begin(), () => true)]
    expect(slices.length).toBeGreaterThanOrEqual(YIELDS_MIN)
  })
})
