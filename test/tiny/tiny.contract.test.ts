import { afterAll } from 'vitest'
import { createTinyBackend } from '../../src/inference/tiny/backend.ts'
import { describeBackendContract } from '../chat/backend-contract.ts'

const PLACES = 3

const backend = createTinyBackend({ queueMax: PLACES })
afterAll(() => backend.close())

describeBackendContract('the tiny backend', async () => {
  /** Counts the places in use, by taking and freeing all others. */
  async function runningCount(): Promise<number> {
    const request = { messages: [{ role: 'user', content: 'hi' }] }
    const call = { request, body: '', model: 'tiny', requestId: 'probe' }
    const { signal } = new AbortController()
    const probes: AsyncIterator<unknown>[] = []
    try {
      while (probes.length < PLACES) {
        const probe = backend.complete(call, { signal })[Symbol.asyncIterator]()
        await probe.next()
        probes.push(probe)
      }
    } catch {
      // Full: the rest is taken by others.
    }
    await Promise.all(probes.map((probe) => probe.return?.()))
    return PLACES - probes.length
  }

  return { backend, model: 'tiny', runningCount, isShared: true }
})
