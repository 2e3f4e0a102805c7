import { buffer } from 'node:stream/consumers'
import { Client } from 'pg'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { Artifact } from '../../../src/domain/models/checkpoint.ts'
import { PRICES_PER_PROJECT_MAX } from '../../../src/domain/prices/price-limits.ts'
import { resolvePrice } from '../../../src/domain/prices/project-prices.ts'
import { QUEUES_LIMIT_MAX } from '../../../src/schemas/limits.ts'
import { connectPostgres } from '../../../src/store/postgres/db/client.ts'
import { createRetentionStore } from '../../../src/store/postgres/projects/retention.ts'
import { LOCK_QUEUE } from '../../../src/store/postgres/training/training-queue.sql.ts'
import { feedbackAt } from '../../feedback/feedback-fixtures.ts'
import { readCaller } from '../../support/read-caller.ts'
import { JOB, MODEL } from '../../training/store/preview-store-contract.ts'
import { openTestStores } from './open-postgres.ts'
import { hasPostgres, makeDatabase } from './postgres-server.ts'

const project_id = 'acme/demo'

/** The stores of two processes. */
async function openTwo() {
  const url = await makeDatabase()
  return { url, one: await openTestStores(url), other: await openTestStores(url) }
}

/** How many of several concurrent attempts succeeded; the others were refused. */
async function countDone(tries: readonly Promise<unknown>[]): Promise<number> {
  const ended = await Promise.allSettled(tries)
  for (const end of ended) {
    if (end.status === 'rejected') expect(end.reason).toMatchObject({ code: 'validation_failed' })
  }
  return ended.filter(({ status }) => status === 'fulfilled').length
}

/** An advisory lock of 64 bits is listed as its two halves. */
const WAITING_FOR = `
SELECT FROM pg_locks WHERE NOT granted AND locktype = 'advisory' AND objsubid = 1
AND classid::bigint << 32 | objid::bigint = hashtextextended($1, 0)
AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`

/** A transaction of the test's own that others wait for. */
async function hold(url: string, sql: string) {
  const client = new Client({ connectionString: url })
  await client.connect()
  onTestFinished(() => client.end())
  await client.query(`BEGIN; ${sql}`)
  const waiting = `SELECT DISTINCT pid FROM pg_locks WHERE NOT granted
    AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`
  return {
    /** Waits until that many wait for it or for each other; timed work of the stores may be among them. */
    awaitWaiting: (count: number) =>
      expect
        .poll(async () => (await client.query(waiting)).rowCount, { timeout: 20_000 })
        .toBeGreaterThanOrEqual(count),
    /** Waits until a connection waits for the advisory lock of that name. */
    awaitLock: (name: string) =>
      expect
        .poll(async () => (await client.query(WAITING_FOR, [name])).rowCount, { timeout: 20_000 })
        .toBe(1),
    /** How many of them have come as far as the table. */
    async countAt(table: string) {
      const at = 'SELECT FROM pg_locks WHERE NOT granted AND relation = $1::regclass'
      return (await client.query(at, [table])).rowCount
    },
    commit: () => client.query('COMMIT'),
  }
}

describe.skipIf(!hasPostgres)('processes that write at once', () => {
  it("a retention change is answered when another process's step has ended", async () => {
    const { url, one, other } = await openTwo()
    const step = await other.retention.pinRetention(project_id)
    const { awaitLock } = await hold(url, 'SELECT 1')
    const order: string[] = []
    const changed = one.retention
      .setRetention({ project_id, retention_days: null })
      .then(() => order.push('changed'))
    await awaitLock(`retention ${project_id}`)
    expect(await other.retention.pinRetention(project_id)).toBeNull()
    order.push('step')
    await step?.end()
    await changed
    expect(order).toEqual(['step', 'changed'])
  })

  it("a retention change gets 503 while another process's step takes too long, and is stored", async () => {
    const { url, other } = await openTwo()
    const step = await other.retention.pinRetention(project_id)
    const db = connectPostgres({ url, readTimeoutMs: 1000, writeTimeoutMs: 300 })
    onTestFinished(() => db.close())
    const change = { project_id, retention_days: null }
    const changed = createRetentionStore(db, url).setRetention(change)
    await expect(changed).rejects.toMatchObject({ code: 'store_unavailable' })
    expect(await other.retention.findRetention(project_id)).toEqual(change)
    await step?.end()
  })

  it('concurrent processes keep the price limit of a project', async () => {
    const { url, one, other } = await openTwo()
    const half = Math.ceil((PRICES_PER_PROJECT_MAX + 1) / 2)
    const create = (name: string, { prices }: typeof one) => {
      const cost = { prompt_token_cost: 1, completion_token_cost: 2 }
      const priceOf = (_: unknown, at: number) =>
        resolvePrice('m', cost, {
          project_id,
          id: `${name}${at}`,
          svc_user_id: 'u',
          created_at_us: 1,
        })
      return prices.createPrices(Array.from({ length: half }, priceOf))
    }
    const held = await hold(url, 'LOCK TABLE prices IN SHARE MODE')
    const tries = [create('a', one), create('b', other), create('c', one), create('d', other)]
    await held.awaitWaiting(4)
    // The others wait for the one that writes first.
    expect(await held.countAt('prices')).toBe(1)
    await held.commit()
    expect(await countDone(tries)).toBe(1)
    expect(await one.prices.listPrices(project_id)).toHaveLength(half)
  })

  it('concurrent processes keep the annotation queue limit of a project', async () => {
    const { url, one, other } = await openTwo()
    const queue = {
      project_id,
      name: 'n',
      description: '',
      scorer_refs_json: '[]',
      queue_type: 'call' as const,
      created_by: 'u',
      created_at_us: 1,
      updated_at_us: 1,
      deleted_at_us: null,
      rules_json: null,
      rules_position: 0,
    }
    const db = connectPostgres({ url, readTimeoutMs: 20_000 })
    try {
      await db.run(
        `INSERT INTO annotation_queues (id, project_id, name, description, scorer_refs_json, created_by, created_at_us, updated_at_us)
        SELECT n::text, @project_id, 'n', '', '[]', 'u', 1, 1 FROM generate_series(2, @count::integer) AS n`,
        { project_id, count: QUEUES_LIMIT_MAX },
      )
    } finally {
      await db.close()
    }
    const tries = [one, other, one, other].map(({ annotation }, at) =>
      annotation.createQueue({ ...queue, id: `new ${at}` }),
    )
    expect(await countDone(tries)).toBe(1)
    const listed = await other.annotation.listQueues(readCaller())
    expect(listed).toHaveLength(QUEUES_LIMIT_MAX)
  })

  it('concurrent feedback with the same ids is refused', async () => {
    const { one, other } = await openTwo()
    const rowOf = (place: number, payload: object) =>
      feedbackAt('2026-01-01T00:00:00Z', `f${place % 4}`, { payload })
    await one.feedback.createFeedbackBatch([0, 1, 2, 3].map((place) => rowOf(place, {})))
    const tries = Array.from({ length: 60 }, (_, at) =>
      (at % 2 === 0 ? one : other).feedback.replaceFeedback(`f${at % 4}`, rowOf(at + 1, { at })),
    )
    const ended = await Promise.allSettled(tries)
    for (const end of ended) {
      expect(end).toMatchObject({ status: 'rejected', reason: { code: 'feedback_conflict' } })
    }
  })

  it('concurrent batches of the same feedback in different orders are stored', async () => {
    const { one, other } = await openTwo()
    const batch = Array.from({ length: 200 }, (_, at) =>
      feedbackAt('2026-01-01T00:00:00Z', `f${at}`),
    )
    const tries = Array.from({ length: 30 }, (_, at) =>
      (at % 2 === 0 ? one : other).feedback.createFeedbackBatch(
        at % 2 === 0 ? batch : batch.toReversed(),
      ),
    )
    for (const stored of await Promise.all(tries)) {
      expect(stored.filter((row) => row instanceof Error)).toEqual([])
    }
  })

  it('concurrent uploads store a content of a project once', async () => {
    const { url, one, other } = await openTwo()
    async function* bytes() {
      yield Buffer.from('the same')
    }
    const received = await Promise.all(
      [one, other, one, other].map(({ files }) => files.receiveFile(bytes())),
    )
    const held = await hold(url, 'LOCK TABLE files IN SHARE MODE')
    const keeping = Promise.all(received.map((file) => file.keep(project_id)))
    await held.awaitWaiting(4)
    await held.commit()
    await keeping
    expect(await other.files.sumFileBytes(project_id)).toBe(8)
  })

  it('weights of a job that begins during their deletion remain', async () => {
    const { url, one, other } = await openTwo()
    await one.previewModels.insertModel(MODEL)
    for (const id of ['a', 'b']) await one.trainingJobs.insertJob({ ...JOB, id }, '[]')
    const times = { now_us: 10, retry_ms: 0, queue_timeout_ms: 0, chance: 0 }
    await one.trainingQueue.claimJob({
      times,
      lease_token_hash: 'lease',
      lease_ms: 1000,
      wall_ms: 1000,
      worker_id: 'w',
      worker_version: '1',
      base_models: ['tiny'],
      projects: ['*'],
    })
    const lease = { job_id: 'a', token_hash: 'lease', now_us: 11 }
    async function* weights() {
      yield Buffer.from('weights')
    }
    const received = await one.trainingQueue.receiveArtifact(weights(), 100)
    await received.stage(lease)
    const outcome = { checkpoint_id: 'c', sha256: received.sha256, metrics: {}, reason: null }
    const { artifact } = await one.trainingQueue.completeJob(lease, outcome)
    // As a claim of another process is before its end.
    const held = await hold(
      url,
      `${LOCK_QUEUE}; UPDATE training_jobs SET state = 'running', parent_checkpoint_id = 'c' WHERE id = 'b'`,
    )
    const deleting = other.checkpoints.deleteSteps(MODEL.id, [1], 20)
    await held.awaitWaiting(1)
    await held.commit()
    expect(await deleting).toEqual({ deleted_count: 1, not_found_steps: [] })
    const kept = await one.checkpoints.openArtifact(artifact as Artifact)
    expect(String(await buffer(kept))).toBe('weights')
  })
})
