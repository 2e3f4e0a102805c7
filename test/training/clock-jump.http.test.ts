import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { buildTestApp } from '../support/build-test-app.ts'
import {
  claim,
  createJobs,
  report,
  SHORT_TRAINING,
  tryClaim,
  WORKER_URL,
} from './worker-fixtures.ts'

const DAY_MS = 86_400_000
const LONG_TRAINING = { ...SHORT_TRAINING, leaseMs: 60_000 }

/** Sets the wall clock of this process ahead, until the test ends. */
function moveWallClock() {
  const realNow = Date.now.bind(Date)
  let aheadMs = 0
  const spy = vi.spyOn(Date, 'now').mockImplementation(() => realNow() + aheadMs)
  onTestFinished(() => spy.mockRestore())
  return (ms: number) => {
    aheadMs = ms
  }
}

describe('a wall clock that goes forward by a day and back', () => {
  it('a clock that jumps by a day takes no job from a connected worker', async () => {
    const setAhead = moveWallClock()
    const testApp = await buildTestApp({ training: LONG_TRAINING })
    await createJobs(testApp, 1)
    const claimed = await claim(testApp)
    for (const aheadMs of [DAY_MS, 0, -DAY_MS, 0]) {
      setAhead(aheadMs)
      const payload = await testApp.get(`${WORKER_URL}/jobs/${claimed.id}/payload`, {
        headers: { 'x-weft-lease': claimed.lease_token },
      })
      expect([aheadMs, payload.status]).toEqual([aheadMs, 200])
      const { status, body } = await report(testApp, claimed, 'heartbeat')
      expect([aheadMs, status]).toEqual([aheadMs, 200])
      const leftMs = Date.parse(body.lease_expires_at) - Date.now()
      expect(leftMs).toBeGreaterThan(0)
      expect(leftMs).toBeLessThanOrEqual(LONG_TRAINING.leaseMs)
    }
  })

  it('the lease of a disconnected worker expires in spite of a clock jump', async () => {
    const setAhead = moveWallClock()
    setAhead(DAY_MS)
    const testApp = await buildTestApp({ training: SHORT_TRAINING })
    await createJobs(testApp, 1)
    const lost = await claim(testApp)
    setAhead(0)
    await expect.poll(async () => (await tryClaim(testApp)).status).toBe(200)
    expect((await report(testApp, lost, 'heartbeat')).status).toBe(409)
  })

  it('times in responses follow the wall clock after a jump', async () => {
    const setAhead = moveWallClock()
    const testApp = await buildTestApp({ training: LONG_TRAINING })
    setAhead(DAY_MS)
    await createJobs(testApp, 1)
    setAhead(0)
    const claimed = await claim(testApp)
    const { body } = await testApp.get(`/v1/preview/training-jobs/${claimed.id}`)
    expect(Math.abs(Date.parse(body.started_at) - Date.now())).toBeLessThan(DAY_MS / 2)
  })
})
