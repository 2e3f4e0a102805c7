import { buffer } from 'node:stream/consumers'
import { describe, expect, it } from 'vitest'
import { connectPostgres } from '../../../src/store/postgres/db/client.ts'
import { JOB, MODEL } from '../../training/store/preview-store-contract.ts'
import { openTestStores } from './open-postgres.ts'
import { openProxy } from './postgres-proxy.ts'
import { hasPostgres, makeDatabase } from './postgres-server.ts'

describe.skipIf(!hasPostgres)('training in PostgreSQL', () => {
  it('tells a process of jobs of another, also after a connection was lost', async () => {
    const proxy = await openProxy(await makeDatabase())
    const one = await openTestStores(proxy.url)
    const other = await openTestStores(proxy.url)
    await one.previewModels.insertModel(MODEL)
    let heard = 0
    other.trainingQueue.onChange(() => {
      heard += 1
    })
    let sent = 0
    /** Until the other hears: it may not listen yet. */
    const sendUntilHeard = async () => {
      const before = heard
      const send = async () => {
        sent += 1
        await one.trainingJobs.insertJob({ ...JOB, id: `job-${sent}` }, '[]')
        return heard
      }
      await expect.poll(send, { timeout: 20_000 }).toBeGreaterThan(before)
    }
    await sendUntilHeard()
    proxy.cut()
    await expect(one.trainingJobs.findJob('job-1')).rejects.toMatchObject({
      code: 'store_unavailable',
    })
    proxy.mend()
    await sendUntilHeard()
  })

  it('keeps payloads of many chunks, and removes what no job and no checkpoint needs', async () => {
    const url = await makeDatabase()
    const { previewModels, trainingJobs, trainingQueue } = await openTestStores(url)
    await previewModels.insertModel(MODEL)
    const text = JSON.stringify('ü😀'.repeat(150_000))
    const job = { ...JOB, idempotency_key: 'k' }
    const stored = await trainingJobs.insertJob(job, text)
    expect(stored.payload_bytes).toBe(Buffer.byteLength(text))
    expect(String(await buffer(await trainingJobs.openPayload(stored)))).toBe(text)
    await trainingJobs.insertJob({ ...job, id: 'again' }, text)
    const broken = (async function* () {
      yield Buffer.from('[1')
      throw new Error('left')
    })()
    await expect(trainingJobs.insertJob({ ...JOB, id: 'third' }, broken)).rejects.toThrow('left')
    const artifact = await trainingQueue.receiveArtifact([Buffer.from('w')] as never, 10)
    await artifact.discard()
    const large = trainingQueue.receiveArtifact([Buffer.from('too large')] as never, 3)
    await expect(large).rejects.toMatchObject({ code: 'request_too_large' })
    const db = connectPostgres({ url, readTimeoutMs: 20_000 })
    try {
      const paths = () => db.all('SELECT path FROM blobs')
      expect(await paths()).toEqual([{ path: stored.payload_path }])
      const left = "INSERT INTO blobs VALUES ('left', now() - interval '2 days'), ('fresh', now())"
      await db.run(left)
      await db.run("UPDATE blobs SET received_at = now() - interval '2 days' WHERE path <> 'fresh'")
      await openTestStores(url)
      const kept = [{ path: 'fresh' }, { path: stored.payload_path }]
      await expect
        .poll(() => db.all('SELECT path FROM blobs ORDER BY path'), { timeout: 20_000 })
        .toEqual(kept)
    } finally {
      await db.close()
    }
  })
})
