/** What the stores of the training preview must do, whatever they store in. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Checkpoint } from '../../../src/domain/models/checkpoint.ts'
import type { PreviewModel } from '../../../src/domain/models/preview-model.ts'
import type { NewTrainingJob, TrainingJob } from '../../../src/domain/training/training-job.ts'
import type {
  CheckpointStore,
  PreviewModelStore,
} from '../../../src/store/api/models/checkpoints.ts'
import type { TrainingJobStore } from '../../../src/store/api/training/training-queue.ts'

export interface PreviewStores {
  readonly previewModels: PreviewModelStore
  readonly trainingJobs: TrainingJobStore
  readonly checkpoints: CheckpointStore
}

export const MODEL: PreviewModel = {
  id: 'model-1',
  entity: 'acme',
  project: 'demo',
  name: 'policy',
  base_model: 'tiny',
  created_at_us: 1,
  created_by: 'u',
}

export const JOB: NewTrainingJob = {
  id: 'job-1',
  model_id: MODEL.id,
  config_json: null,
  idempotency_key: null,
  created_at_us: 2,
  created_by: 'u',
  group_count: 1,
  trajectory_count: 2,
  trainable_count: 1,
  oldest_policy_version: null,
  source_json: null,
}

/** The job as it is stored when it was never claimed. */
export const NEW_JOB_ROW: TrainingJob = {
  ...JOB,
  seq: 1,
  state: 'queued',
  payload_path: 'p',
  payload_sha256: 'a'.repeat(64),
  payload_bytes: 2,
  attempt: 0,
  released_count: 0,
  max_attempts: 3,
  available_at_us: 2,
  resolved_config_json: null,
  parent_checkpoint_id: null,
  policy_lag: null,
  worker_id: null,
  worker_version: null,
  lease_token_hash: null,
  lease_expires_at_us: null,
  attempt_deadline_us: null,
  last_heartbeat_at_us: null,
  progress: null,
  cancel_requested: 0,
  staged_path: null,
  staged_sha256: null,
  staged_bytes: null,
  untrained_reason: null,
  error_code: null,
  error_message: null,
  result_checkpoint_id: null,
  started_at_us: null,
  finished_at_us: null,
}

const checkpointOf = (step: number, model_id = MODEL.id): Checkpoint => ({
  id: `${model_id}-${(step * 7919) % 1009}`,
  model_id,
  step,
  metrics: { step },
  created_at_us: step,
})

/** @param create - empty stores that close themselves when the test ends */
export function describePreviewStoreContract(
  name: string,
  create: () => Promise<PreviewStores>,
): void {
  async function createWithModel(): Promise<PreviewStores> {
    const stores = await create()
    await stores.previewModels.insertModel(MODEL)
    return stores
  }

  describe(`${name} keeps the PreviewModelStore contract`, () => {
    it('a stored model is returned by its id, and null for an unknown one', async () => {
      const { previewModels } = await create()
      await expect(previewModels.insertModel(MODEL)).resolves.toEqual(MODEL)
      await expect(previewModels.findModel(MODEL.id)).resolves.toEqual(MODEL)
      await expect(previewModels.findModel('other')).resolves.toBeNull()
    })

    it('a second model of a name returns the first one unchanged', async () => {
      const { previewModels } = await createWithModel()
      const second = { ...MODEL, id: 'model-2', base_model: 'other' }
      await expect(previewModels.insertModel(second)).resolves.toEqual(MODEL)
      await expect(previewModels.findModel('model-2')).resolves.toBeNull()
    })
  })

  describe(`${name} keeps the TrainingJobStore contract`, () => {
    it('a stored job is returned as queued with its position', async () => {
      const { trainingJobs } = await createWithModel()
      const stored = await trainingJobs.insertJob(JOB, '[]')
      const payload_path = expect.stringContaining(JOB.id)
      const payload_sha256 = expect.stringMatching(/^[0-9a-f]{64}$/)
      expect(stored).toEqual({ ...NEW_JOB_ROW, payload_path, payload_sha256 })
      await expect(trainingJobs.findJob(JOB.id)).resolves.toEqual(stored)
      await expect(trainingJobs.findJob('other')).resolves.toBeNull()
    })

    it("a client's facts about its rollouts are stored, however large", async () => {
      const { trainingJobs } = await createWithModel()
      const largest = Number.MAX_SAFE_INTEGER
      const job = { ...JOB, oldest_policy_version: largest, created_at_us: largest }
      const stored = await trainingJobs.insertJob({ ...job, config_json: '{"ü":1e400}' }, '[]')
      expect(stored).toMatchObject({ ...job, config_json: '{"ü":1e400}' })
      await expect(trainingJobs.findJob(JOB.id)).resolves.toEqual(stored)
    })

    it('concurrent jobs of a model get positions without gaps', async () => {
      const { trainingJobs } = await createWithModel()
      const jobs = await Promise.all(
        Array.from({ length: 20 }, (_, at) =>
          trainingJobs.insertJob({ ...JOB, id: `job-${at}` }, '[]'),
        ),
      )
      const places = jobs.map(({ seq }) => seq).sort((left, right) => left - right)
      expect(places).toEqual(Array.from({ length: 20 }, (_, at) => at + 1))
    })

    it('the same idempotency key and content return the first job', async () => {
      const { trainingJobs } = await createWithModel()
      const keyed = { ...JOB, idempotency_key: 'k', config_json: '{}' }
      const first = await trainingJobs.insertJob(keyed, '[1]')
      const again = { ...keyed, id: 'job-2', created_at_us: 3 }
      await expect(trainingJobs.insertJob(again, '[1]')).resolves.toEqual(first)
      await expect(trainingJobs.findJob('job-2')).resolves.toBeNull()
    })

    it('other content under the same idempotency key is refused with idempotency_conflict', async () => {
      const { trainingJobs } = await createWithModel()
      const keyed = { ...JOB, idempotency_key: 'k' }
      const first = await trainingJobs.insertJob(keyed, '[1]')
      const others = [
        [{ ...keyed, id: 'job-2' }, '[2]'],
        [{ ...keyed, id: 'job-2', config_json: '{}' }, '[1]'],
      ] as const
      for (const [job, payload] of others) {
        await expect(trainingJobs.insertJob(job, payload)).rejects.toMatchObject({
          code: 'idempotency_conflict',
        })
      }
      await expect(trainingJobs.findJob('job-2')).resolves.toBeNull()
      await expect(trainingJobs.findJob(first.id)).resolves.toEqual(first)
    })

    it('a job of an unknown model is not stored', async () => {
      const { trainingJobs } = await create()
      await expect(trainingJobs.insertJob(JOB, '[]')).rejects.toThrow()
      await expect(trainingJobs.findJob(JOB.id)).resolves.toBeNull()
    })
  })

  describe(`${name} keeps the CheckpointStore contract`, () => {
    it('checkpoints are listed by step in both orders, up to the count, with all stored fields', async () => {
      const { checkpoints } = await createWithModel()
      for (const step of [2, 0, 1]) await checkpoints.insertCheckpoint(checkpointOf(step))
      const listing = { model_id: MODEL.id, after: null, count: 2 }
      await expect(checkpoints.listCheckpoints({ ...listing, order: 'asc' })).resolves.toEqual([
        checkpointOf(0),
        checkpointOf(1),
      ])
      await expect(checkpoints.listCheckpoints({ ...listing, order: 'desc' })).resolves.toEqual([
        checkpointOf(2),
        checkpointOf(1),
      ])
    })

    it('a used step is refused, also that of a deleted checkpoint', async () => {
      const { checkpoints } = await createWithModel()
      const first = checkpointOf(1)
      await checkpoints.insertCheckpoint(first)
      const second = { ...first, id: 'second' }
      await expect(checkpoints.insertCheckpoint(second)).rejects.toThrow()
      await checkpoints.deleteSteps(MODEL.id, [first.step], 1)
      await expect(checkpoints.insertCheckpoint(second)).rejects.toThrow()
    })

    it('each step is deleted once, and only steps of the model', async () => {
      const { checkpoints } = await createWithModel()
      for (const step of [1, 2, 3]) await checkpoints.insertCheckpoint(checkpointOf(step))
      await expect(checkpoints.deleteSteps('other', [1], 1)).resolves.toEqual({
        deleted_count: 0,
        not_found_steps: [1],
      })
      const unknown = [9, Number.MAX_SAFE_INTEGER]
      await expect(checkpoints.deleteSteps(MODEL.id, [...unknown, 1, 1, 2], 1)).resolves.toEqual({
        deleted_count: 2,
        not_found_steps: unknown,
      })
      await expect(checkpoints.deleteSteps(MODEL.id, [1, 3], 2)).resolves.toEqual({
        deleted_count: 1,
        not_found_steps: [1],
      })
    })

    it('a step and the latest one are found unless deleted', async () => {
      const { checkpoints } = await createWithModel()
      await expect(checkpoints.findCheckpoint(MODEL.id, 'latest')).resolves.toBeNull()
      for (const step of [1, 2]) await checkpoints.insertCheckpoint(checkpointOf(step))
      const found = async (step: number | 'latest') =>
        (await checkpoints.findCheckpoint(MODEL.id, step))?.id ?? null
      await expect(found('latest')).resolves.toBe(checkpointOf(2).id)
      await expect(found(1)).resolves.toBe(checkpointOf(1).id)
      await expect(found(Number.MAX_SAFE_INTEGER)).resolves.toBeNull()
      await checkpoints.deleteSteps(MODEL.id, [2], 1)
      await expect(found('latest')).resolves.toBe(checkpointOf(1).id)
      await expect(found(2)).resolves.toBeNull()
    })

    it('a cursor of another model is refused with checkpoint_not_found', async () => {
      const { previewModels, checkpoints } = await createWithModel()
      await previewModels.insertModel({ ...MODEL, id: 'model-2', name: 'second' })
      await checkpoints.insertCheckpoint(checkpointOf(1))
      const after = checkpointOf(1).id
      const listing = { model_id: 'model-2', after, order: 'asc', count: 1 } as const
      await expect(checkpoints.listCheckpoints(listing)).rejects.toMatchObject({
        code: 'checkpoint_not_found',
      })
    })

    it('every lasting row is listed once while rows are added and deleted between pages', async () => {
      const stores = await create()
      const change = fc.record({ step: fc.nat(40), isDeletion: fc.boolean() })
      const steps = fc.uniqueArray(fc.nat(40), { maxLength: 20 })
      const order = fc.constantFrom('asc' as const, 'desc' as const)
      let models = 0
      await fc.assert(
        fc.asyncProperty(
          steps,
          fc.integer({ min: 1, max: 8 }),
          order,
          fc.array(change, { maxLength: 20 }),
          async (chosen, count, direction, changes) => {
            const model_id = `m${models++}`
            await stores.previewModels.insertModel({ ...MODEL, id: model_id, name: model_id })
            const live = new Set<number>(chosen)
            const taken = new Set<number>(chosen)
            for (const step of chosen) {
              await stores.checkpoints.insertCheckpoint(checkpointOf(step, model_id))
            }
            const seen: number[] = []
            let after: string | null = null
            for (;;) {
              const listing = { model_id, after, order: direction, count }
              const rows: Checkpoint[] = await stores.checkpoints.listCheckpoints(listing)
              seen.push(...rows.map(({ step }) => step))
              const last = rows.at(-1)
              if (last === undefined) break
              after = last.id
              const next = changes.pop()
              if (next?.isDeletion && live.delete(next.step)) {
                await stores.checkpoints.deleteSteps(model_id, [next.step], 1)
              } else if (next && !next.isDeletion && !taken.has(next.step)) {
                taken.add(next.step)
                live.add(next.step)
                await stores.checkpoints.insertCheckpoint(checkpointOf(next.step, model_id))
              }
            }
            const sorted = [...new Set(seen)].sort((a, b) => (direction === 'asc' ? a - b : b - a))
            expect(seen).toEqual(sorted)
            const lasting = chosen.filter((step) => live.has(step))
            expect(seen).toEqual(expect.arrayContaining(lasting))
          },
        ),
        { numRuns: 60 },
      )
    })
  })
}
