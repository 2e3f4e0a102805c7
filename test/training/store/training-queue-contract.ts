/** What a training queue must do, whatever it stores in. All times are given, so that nothing waits. */
import { text } from 'node:stream/consumers'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type {
  Claim,
  ClaimedJob,
  Lease,
  TrainingQueue,
} from '../../../src/store/api/training/training-queue.ts'
import { JOB, MODEL, type PreviewStores } from './preview-store-contract.ts'

export interface QueueStores extends PreviewStores {
  readonly trainingQueue: TrainingQueue
}

/** Events of one attempt. */
const ATTEMPT_EVENTS_MAX = 100_000
const SECOND_US = 1_000_000
const LEASE_MS = 10_000
const WALL_MS = 60_000
const RETRY_MS = 1_000

async function* bytesOf(content: string): AsyncGenerator<Buffer> {
  yield Buffer.from(content)
}

const timesAt = (seconds: number, queue_timeout_ms = 0) => ({
  now_us: Math.round(seconds * SECOND_US),
  retry_ms: RETRY_MS,
  queue_timeout_ms,
  chance: 0,
})

export function claimAt(seconds: number, fields: Partial<Claim> = {}): Claim {
  return {
    times: timesAt(seconds),
    lease_token_hash: `lease of ${seconds}`,
    lease_ms: LEASE_MS,
    wall_ms: WALL_MS,
    worker_id: 'w',
    worker_version: '1',
    base_models: ['tiny'],
    projects: ['*'],
    ...fields,
  }
}

export const leaseOf = ({ job }: ClaimedJob, seconds: number): Lease => ({
  job_id: job.id,
  token_hash: job.lease_token_hash ?? '',
  now_us: Math.round(seconds * SECOND_US),
})

export const outcomeOf = (id: string) => ({
  checkpoint_id: `c-${id}`,
  sha256: null,
  metrics: {},
  reason: 'no_variance',
})

export async function mustClaim(queue: TrainingQueue, claim: Claim): Promise<ClaimedJob> {
  const claimed = await queue.claimJob(claim)
  if (claimed === null) throw new Error('there is no job')
  return claimed
}

const LOST = { code: 'lease_lost' }

/** @param create - empty stores that close themselves when the test ends */
export function describeTrainingQueueContract(
  name: string,
  create: () => Promise<QueueStores>,
): void {
  /** Stores with models m0, m1, ... that have so many jobs each, called m0-0, m0-1, ... */
  async function createWithJobs(counts: readonly number[]): Promise<QueueStores> {
    const stores = await create()
    for (const [at, count] of counts.entries()) {
      const model_id = `m${at}`
      await stores.previewModels.insertModel({ ...MODEL, id: model_id, name: model_id })
      for (let job = 0; job < count; job++) {
        const id = `${model_id}-${job}`
        await stores.trainingJobs.insertJob({ ...JOB, id, model_id }, '[]')
      }
    }
    return stores
  }

  describe(`${name} keeps the TrainingQueue contract`, () => {
    it('concurrent claims get each job once', async () => {
      const { trainingQueue } = await createWithJobs([2, 2, 2, 2, 2])
      const claims = Array.from({ length: 20 }, (_, at) =>
        trainingQueue.claimJob(claimAt(1, { lease_token_hash: `lease ${at}` })),
      )
      const claimed = (await Promise.all(claims)).flatMap((one) => one?.job.id ?? [])
      expect(claimed.sort()).toEqual(['m0-0', 'm1-0', 'm2-0', 'm3-0', 'm4-0'])
    })

    it('a lease holds up to its end, exclusive', async () => {
      const { trainingQueue } = await createWithJobs([1])
      const claimed = await mustClaim(trainingQueue, claimAt(1))
      const renewal = { lease_ms: LEASE_MS, progress: null }
      await trainingQueue.renewLease(leaseOf(claimed, 10.9), renewal)
      await expect(trainingQueue.findLeased(leaseOf(claimed, 20.8))).resolves.toMatchObject({
        job: { id: 'm0-0', state: 'running' },
      })
      await expect(trainingQueue.findLeased(leaseOf(claimed, 20.9))).rejects.toMatchObject(LOST)
      await expect(trainingQueue.renewLease(leaseOf(claimed, 20.9), renewal)).rejects.toMatchObject(
        LOST,
      )
    })

    it('an overdue job goes to the next claim after its pause, in another attempt', async () => {
      const { trainingQueue } = await createWithJobs([2])
      const first = await mustClaim(trainingQueue, claimAt(1))
      await expect(trainingQueue.claimJob(claimAt(11))).resolves.toBeNull()
      await expect(trainingQueue.nextDueUs(11 * SECOND_US, 0)).resolves.toBe(13 * SECOND_US)
      const second = await mustClaim(trainingQueue, claimAt(13))
      expect([second.job.id, second.job.attempt]).toEqual(['m0-0', 2])
      const late = trainingQueue.completeJob(leaseOf(first, 13), outcomeOf('late'))
      await expect(late).rejects.toMatchObject(LOST)
    })

    it('an attempt at its wall limit fails the job', async () => {
      const { trainingQueue, trainingJobs } = await createWithJobs([1])
      const claimed = await mustClaim(trainingQueue, claimAt(1))
      const ends: (number | null)[] = []
      for (let now = 6; now < 61; now += 5) {
        const renewal = { lease_ms: LEASE_MS, progress: null }
        const job = await trainingQueue.renewLease(leaseOf(claimed, now), renewal)
        ends.push((job.lease_expires_at_us ?? 0) / SECOND_US)
      }
      expect(ends.slice(-3)).toEqual([56, 61, 61])
      await expect(trainingQueue.nextDueUs(0, 0)).resolves.toBe(61 * SECOND_US)
      await expect(trainingQueue.endOverdue(timesAt(61))).resolves.toBe(1)
      await expect(trainingJobs.findJob('m0-0')).resolves.toMatchObject({
        state: 'failed',
        error_code: 'wall_limit',
      })
      await expect(trainingQueue.nextDueUs(61 * SECOND_US, 0)).resolves.toBeNull()
    })

    it('jobs that wait too long end, those of a model one after the other', async () => {
      const { trainingQueue, trainingJobs } = await createWithJobs([2])
      const dueUs = await trainingQueue.nextDueUs(SECOND_US, 5_000)
      expect(dueUs).toBe(JOB.created_at_us + 5 * SECOND_US)
      await trainingQueue.endOverdue(timesAt(4, 5_000))
      await expect(trainingJobs.findJob('m0-0')).resolves.toMatchObject({ state: 'queued' })
      await trainingQueue.endOverdue(timesAt(6, 5_000))
      await trainingQueue.endOverdue(timesAt(6, 5_000))
      for (const id of ['m0-0', 'm0-1']) {
        await expect(trainingJobs.findJob(id)).resolves.toMatchObject({ error_code: 'no_worker' })
      }
    })

    it('the wait of a job begins at the end of the previous one', async () => {
      const { trainingQueue, trainingJobs } = await createWithJobs([2])
      const claimed = await mustClaim(trainingQueue, claimAt(1))
      await trainingQueue.completeJob(leaseOf(claimed, 9), outcomeOf('one'))
      await trainingQueue.endOverdue(timesAt(13, 5_000))
      await expect(trainingJobs.findJob('m0-1')).resolves.toMatchObject({ state: 'queued' })
      await trainingQueue.endOverdue(timesAt(14, 5_000))
      await expect(trainingJobs.findJob('m0-1')).resolves.toMatchObject({ state: 'failed' })
    })

    it('running jobs get full leases at the start of the server', async () => {
      const { trainingQueue } = await createWithJobs([1])
      const claimed = await mustClaim(trainingQueue, claimAt(1))
      await trainingQueue.resumeLeases(30 * SECOND_US, LEASE_MS, 0)
      await expect(trainingQueue.findLeased(leaseOf(claimed, 39))).resolves.toBeTruthy()
      await expect(trainingQueue.findLeased(leaseOf(claimed, 40))).rejects.toMatchObject(LOST)
    })

    it('the next attempt gets the newest checkpoint that is not deleted', async () => {
      const { trainingQueue, checkpoints } = await createWithJobs([3])
      for (const at of [0, 1]) {
        const claimed = await mustClaim(trainingQueue, claimAt(at * 2 + 1))
        await trainingQueue.completeJob(leaseOf(claimed, at * 2 + 2), outcomeOf(`${at}`))
      }
      await checkpoints.deleteSteps('m0', [2], 1)
      const third = await mustClaim(trainingQueue, claimAt(10))
      expect(third.parent).toMatchObject({ step: 1 })
      const made = await trainingQueue.completeJob(leaseOf(third, 11), outcomeOf('third'))
      expect(made.step).toBe(3)
    })

    it('events of an attempt are stored and read in pages', async () => {
      const { trainingQueue, trainingJobs } = await createWithJobs([1])
      const claimed = await mustClaim(trainingQueue, claimAt(1))
      const lease = leaseOf(claimed, 2)
      const stepOf = (seq: number, loss: unknown = seq) => ({
        type: 'gradient_step' as const,
        data: { 'loss/train': loss },
        seq,
      })
      const list = (after: string | null, count = 9) =>
        trainingJobs.listEvents({ job_id: 'm0-0', after, count })
      expect(await list(null)).toEqual([])
      await trainingQueue.recordEvents(lease, [])
      await trainingQueue.recordEvents(lease, [stepOf(5, 1e-300), stepOf(0)])
      // Those whose seq is there are dropped; the others come behind.
      await trainingQueue.recordEvents(lease, [stepOf(5, 'other'), stepOf(2 ** 31 - 1)])
      const events = await list(null)
      expect(events.map(({ type, data_json }) => [type, JSON.parse(data_json)])).toEqual([
        ['training_started', { num_sequences: 1 }],
        ['gradient_step', { 'loss/train': 1e-300 }],
        ['gradient_step', { 'loss/train': 0 }],
        ['gradient_step', { 'loss/train': 2 ** 31 - 1 }],
      ])
      expect(await list(events[1]?.id ?? '', 1)).toEqual([events[2]])
      expect(await list(events[3]?.id ?? '')).toEqual([])
      const unknown = { code: 'validation_failed', param: 'after' }
      await expect(list('none')).rejects.toMatchObject(unknown)
      const tooMany = Array(ATTEMPT_EVENTS_MAX - 3).fill(stepOf(7))
      const refusal = { code: 'validation_failed', param: 'events' }
      await expect(trainingQueue.recordEvents(lease, tooMany)).rejects.toMatchObject(refusal)
      const lost = { ...lease, token_hash: 'other' }
      await expect(trainingQueue.recordEvents(lost, [stepOf(8)])).rejects.toMatchObject(LOST)
      expect(await list(null)).toEqual(events)
      const renewal = { lease_ms: LEASE_MS, progress: 0.25 }
      await trainingQueue.renewLease(lease, renewal)
      const renewed = await trainingQueue.renewLease(lease, { ...renewal, progress: null })
      expect(renewed).toMatchObject({ progress: 0.25, last_heartbeat_at_us: lease.now_us })
      await trainingQueue.releaseJob(lease)
      const again = await mustClaim(trainingQueue, claimAt(3))
      // Those of the attempt before are hidden, and are places all the same.
      expect(await list(null)).toEqual([])
      await trainingQueue.recordEvents(leaseOf(again, 4), [stepOf(0)])
      expect((await list(events[3]?.id ?? '')).map(({ type }) => type)).toEqual([
        'training_started',
        'gradient_step',
      ])
    })

    it('a job completes once with its staged artifact, unless cancelled', async () => {
      const { trainingQueue, trainingJobs, checkpoints } = await createWithJobs([3])
      const stageOf = async (bytes: string, lease: Lease) => {
        const artifact = await trainingQueue.receiveArtifact(bytesOf(bytes), 1000)
        await artifact.stage(lease)
        return artifact.sha256
      }
      const conflict = { code: 'artifact_conflict' }
      const first = leaseOf(await mustClaim(trainingQueue, claimAt(1)), 2)
      const [old, sha256] = [await stageOf('old', first), await stageOf('weights', first)]
      const outcome = { ...outcomeOf('a'), metrics: { loss: 0.5 }, sha256 }
      const wrong = trainingQueue.completeJob(first, { ...outcome, sha256: old })
      await expect(wrong).rejects.toMatchObject(conflict)
      const made = await trainingQueue.completeJob(first, outcome)
      expect(made).toMatchObject({ id: 'c-a', step: 1, metrics: { loss: 0.5 } })
      expect(made.artifact).toMatchObject({ sha256, bytes: 7 })
      const repeated = { ...first, now_us: first.now_us + 3600 * SECOND_US }
      const other = { ...outcome, checkpoint_id: 'c-other' }
      await expect(trainingQueue.completeJob(repeated, other)).resolves.toEqual(made)
      const without = trainingQueue.completeJob(first, { ...outcome, sha256: null })
      await expect(without).rejects.toMatchObject(conflict)
      const lost = trainingQueue.completeJob({ ...first, token_hash: 'other' }, outcome)
      await expect(lost).rejects.toMatchObject(LOST)
      // One that trained nothing goes on with the weights of its parent.
      const second = leaseOf(await mustClaim(trainingQueue, claimAt(3)), 4)
      const same = await trainingQueue.completeJob(second, outcomeOf('b'))
      expect(same).toMatchObject({ step: 2, artifact: made.artifact })
      const found = await checkpoints.findCheckpoint('m0', 'latest')
      const weights = found?.artifact && (await checkpoints.openArtifact(found.artifact))
      expect(weights && (await text(weights))).toBe('weights')
      const third = leaseOf(await mustClaim(trainingQueue, claimAt(5)), 6)
      await trainingJobs.cancelJob('m0-2', third.now_us)
      const cancelled = trainingQueue.completeJob(third, outcomeOf('c'))
      await expect(cancelled).rejects.toMatchObject(LOST)
      await expect(trainingJobs.findJob('m0-2')).resolves.toMatchObject({ state: 'cancelled' })
      expect((await checkpoints.findCheckpoint('m0', 'latest'))?.id).toBe('c-b')
    })

    it('listeners are notified of new, ended and cancelled jobs until they unsubscribe', async () => {
      const { trainingQueue, trainingJobs } = await createWithJobs([2])
      let heard = 0
      const stop = trainingQueue.onChange(() => {
        heard += 1
      })
      const heardBy = async (act: () => Promise<unknown>) => {
        const before = heard
        await act()
        return heard > before
      }
      const claimed = await mustClaim(trainingQueue, claimAt(1))
      const acts = [
        () => trainingJobs.insertJob({ ...JOB, id: 'new', model_id: 'm0' }, '[]'),
        () => trainingQueue.releaseJob(leaseOf(claimed, 2)),
        () => trainingJobs.cancelJob('new', 3),
      ]
      for (const act of acts) expect(await heardBy(act)).toBe(true)
      stop()
      const quiet = () => trainingJobs.insertJob({ ...JOB, id: 'newer', model_id: 'm0' }, '[]')
      expect(await heardBy(quiet)).toBe(false)
    })

    it('jobs of a model run one at a time, in order, with one checkpoint each, in any sequence of moves', async () => {
      const act = fc.record({
        kind: fc.constantFrom('claim', 'complete', 'late', 'fail', 'release', 'cancel', 'wait'),
        pick: fc.nat(100),
        seconds: fc.nat(12),
      })
      const run = async (acts: readonly { kind: string; pick: number; seconds: number }[]) => {
        const { trainingQueue, trainingJobs, checkpoints } = await createWithJobs([3, 3])
        const given: ClaimedJob[] = []
        const completed: string[] = []
        let seconds = 1
        for (const [at, { kind, pick, seconds: passed }] of acts.entries()) {
          seconds += passed / 4 + 0.001
          const held = given[pick % Math.max(given.length, 1)]
          const lease = held && leaseOf(held, seconds)
          const end = { now_us: Math.round(seconds * SECOND_US), chance: 0, retry_ms: RETRY_MS }
          try {
            if (kind === 'claim') {
              const hash = { lease_token_hash: `lease ${at}` }
              const claimed = await trainingQueue.claimJob(claimAt(seconds, hash))
              if (claimed) given.push(claimed)
            } else if (kind === 'cancel') {
              await trainingJobs.cancelJob(`m${pick % 2}-${pick % 3}`, end.now_us)
            } else if (kind === 'wait') seconds += LEASE_MS / 1000
            else if (lease && kind === 'fail') {
              const failure = { code: 'x', message: 'x', isRetryable: pick % 4 > 0 }
              await trainingQueue.failAttempt(lease, failure, end)
            } else if (lease && kind === 'release') await trainingQueue.releaseJob(lease)
            else if (lease) {
              const { id } = await trainingQueue.completeJob(lease, outcomeOf(`${at}`))
              if (id === `c-${at}`) completed.push(lease.job_id)
            }
          } catch (error) {
            expect(['lease_lost', 'training_job_ended']).toContain((error as { code: string }).code)
          }
        }
        for (const model of ['m0', 'm1']) {
          const listing = { model_id: model, after: null, order: 'asc', count: 100 } as const
          const steps = (await checkpoints.listCheckpoints(listing)).map(({ step }) => step)
          const own = completed.filter((id) => id.startsWith(model))
          expect(steps).toEqual(own.map((_, at) => at + 1))
          expect(own).toEqual([...new Set(own)].sort())
          const jobs = await Promise.all(
            [0, 1, 2].map((at) => trainingJobs.findJob(`${model}-${at}`)),
          )
          expect(jobs.filter((job) => job?.state === 'running').length).toBeLessThanOrEqual(1)
          const succeeded = jobs.filter((job) => job?.state === 'succeeded').map((job) => job?.id)
          expect(succeeded).toEqual(own)
        }
      }
      await fc.assert(fc.asyncProperty(fc.array(act, { maxLength: 30 }), run), { numRuns: 25 })
    })
  })
}
