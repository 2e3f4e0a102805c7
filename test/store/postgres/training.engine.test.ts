import { buffer } from 'node:stream/consumers'
import { Client } from 'pg'
import { describe, expect, it, onTestFinished } from 'vitest'
import { CHUNK_BYTES } from '../../../src/store/postgres/blobs/blobs.ts'
import { connectPostgres } from '../../../src/store/postgres/db/client.ts'
import { JOB, MODEL } from '../../training/store/preview-store-contract.ts'
import { openTestStores } from './open-postgres.ts'
import { openProxy } from './postgres-proxy.ts'
import { hasPostgres, makeDatabase } from './postgres-server.ts'

describe.skipIf(!hasPostgres)('training in PostgreSQL', () => {
  it("a process is notified of another's jobs, also after a lost connection", async () => {
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

  it('payloads of many chunks are stored, and removed when no job or checkpoint needs them', async () => {
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
      // More than one statement removes.
      await db.run("INSERT INTO blob_chunks SELECT 'left', n, '' FROM generate_series(0, 600) AS n")
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

  it('a reconnected listener notifies for missed notifications', async () => {
    const url = await makeDatabase()
    const proxy = await openProxy(url)
    const one = await openTestStores(url)
    const other = await openTestStores(proxy.url)
    await one.previewModels.insertModel(MODEL)
    proxy.cut()
    let heard = 0
    other.trainingQueue.onChange(() => {
      heard += 1
    })
    await one.trainingJobs.insertJob(JOB, '[]')
    expect(heard).toBe(0)
    proxy.mend()
    await expect.poll(() => heard, { timeout: 20_000 }).toBe(1)
  })

  it('other processes are notified of each move after which another job may be claimed', async () => {
    const url = await makeDatabase()
    const { previewModels, trainingJobs, trainingQueue } = await openTestStores(url)
    const listener = new Client({ connectionString: url })
    await listener.connect()
    onTestFinished(() => listener.end())
    let heard = 0
    listener.on('notification', () => {
      heard += 1
    })
    await listener.query('LISTEN weft_jobs')
    const expectHeard = (count: number) => expect.poll(() => heard, { timeout: 20_000 }).toBe(count)
    await previewModels.insertModel(MODEL)
    for (const id of ['a', 'b', 'c']) await trainingJobs.insertJob({ ...JOB, id }, '[]')
    await expectHeard(3)
    const claim = async (now_us: number) => {
      const token_hash = `lease of ${now_us}`
      const times = { now_us, retry_ms: 0, queue_timeout_ms: 0, chance: 0 }
      const claimed = await trainingQueue.claimJob({
        times,
        lease_token_hash: token_hash,
        lease_ms: 1000,
        wall_ms: 1000,
        worker_id: 'w',
        worker_version: '1',
        base_models: ['tiny'],
        projects: ['*'],
      })
      return { job_id: claimed?.job.id ?? '', token_hash, now_us: now_us + 1 }
    }
    await trainingQueue.releaseJob(await claim(10))
    await expectHeard(4)
    const failure = { code: 'trainer_failed', message: 'm', isRetryable: false }
    await trainingQueue.failAttempt(await claim(20), failure, {
      now_us: 21,
      retry_ms: 0,
      chance: 0,
    })
    await expectHeard(5)
    const outcome = { checkpoint_id: 'k', sha256: null, metrics: {}, reason: null }
    await trainingQueue.completeJob(await claim(30), outcome)
    await expectHeard(6)
    await trainingJobs.cancelJob('c', 40)
    await expectHeard(7)
    await previewModels.deleteModel(MODEL.id, 50)
    await expectHeard(8)
  })

  it('a stream breaks off when its bytes are removed during the read', async () => {
    const url = await makeDatabase()
    const { previewModels, trainingJobs } = await openTestStores(url)
    await previewModels.insertModel(MODEL)
    // All chunks are full: that another one follows is known by the number of bytes.
    const stored = await trainingJobs.insertJob(JOB, 'x'.repeat(4 * CHUNK_BYTES))
    const db = connectPostgres({ url, readTimeoutMs: 20_000 })
    try {
      await db.run('DELETE FROM blob_chunks WHERE chunk = 3')
      const payload = await trainingJobs.openPayload(stored)
      await expect(buffer(payload)).rejects.toMatchObject({ code: 'store_unavailable' })
    } finally {
      await db.close()
    }
  })
})
