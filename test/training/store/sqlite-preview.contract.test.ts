import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { ApiError } from '../../../src/errors.ts'
import * as CHECKPOINTS from '../../../src/store/base/models/checkpoints.sql.ts'
import { createPreviewModelStore } from '../../../src/store/base/models/model-store.ts'
import * as BASE_MODELS from '../../../src/store/base/models/preview-models.sql.ts'
import { createJobNotifier } from '../../../src/store/base/training/job-moves.ts'
import * as BASE_JOBS from '../../../src/store/base/training/training-jobs.sql.ts'
import * as QUEUE from '../../../src/store/base/training/training-queue.sql.ts'
import type { TrainingWrites } from '../../../src/store/base/training/training-writes.ts'
import {
  ARTIFACTS_DIRECTORY,
  openFileFolder,
  PAYLOADS_DIRECTORY,
} from '../../../src/store/sqlite/files/file-folder.ts'
import { createCheckpointArtifacts } from '../../../src/store/sqlite/models/checkpoint-artifacts.ts'
import { openSqliteStore } from '../../../src/store/sqlite/open.ts'
import {
  createCheckpointStore,
  createTrainingJobStore,
} from '../../../src/store/sqlite/training/training-stores.ts'
import { createStepRuns } from '../../../src/store/sqlite/write/step-runs.ts'
import type { Writes } from '../../../src/store/sqlite/write/writes.ts'
import { createInlineWrites } from '../../store/support/inline-writes.ts'
import { openMigrated } from '../../store/support/migrated-database.ts'
import { makeTempDir } from '../../support/temp-dir.ts'
import { describePreviewListsContract } from './preview-lists-contract.ts'
import { describePreviewStoreContract, JOB, MODEL } from './preview-store-contract.ts'
import { describeTrainingQueueContract } from './training-queue-contract.ts'

async function openStores() {
  const store = openSqliteStore({ ingestQueueMax: 1000, dataDir: ':memory:' })
  onTestFinished(() => store.close())
  return store
}

describePreviewStoreContract('sqlite', openStores)
describeTrainingQueueContract('sqlite', openStores)
describePreviewListsContract('sqlite', openStores)

/** A job store over a folder, whose writes the test may replace. */
async function openJobs(replace: (writes: Writes) => Writes = (writes) => writes) {
  const dataDir = makeTempDir()
  const db = openMigrated()
  const writes = createInlineWrites(db)
  const { removeUnused } = createCheckpointArtifacts(
    db,
    openFileFolder(dataDir, ARTIFACTS_DIRECTORY),
  )
  const partsOver = (writes: Writes) => ({
    runs: createStepRuns<TrainingWrites>(db, writes),
    notifier: createJobNotifier(),
    removeUnused,
  })
  await createPreviewModelStore(partsOver(writes)).insertModel(MODEL)
  const directory = join(dataDir, PAYLOADS_DIRECTORY)
  const payloads = openFileFolder(dataDir, PAYLOADS_DIRECTORY)
  return {
    directory,
    file: join(directory, `${JOB.id}.json`),
    jobs: createTrainingJobStore(db, partsOver(replace(writes)), payloads),
  }
}

it.each([
  ['is gone', 'ENOENT', false, 'checkpoint_not_found'],
  ['cannot be opened', 'EMFILE', true, 'store_unavailable'],
])('an artifact whose file %s (%s)', async (_name, reason, isThere, code) => {
  const db = openMigrated()
  const folder = openFileFolder(makeTempDir(), ARTIFACTS_DIRECTORY)
  const artifacts = createCheckpointArtifacts(db, {
    ...folder,
    openReader: () => Promise.reject(Object.assign(new Error(reason), { code: reason })),
    has: async () => isThere,
  })
  const runs = createStepRuns<TrainingWrites>(db, createInlineWrites(db))
  const checkpoints = createCheckpointStore(
    { runs, removeUnused: artifacts.removeUnused },
    artifacts,
  )
  const opened = checkpoints.openArtifact({ path: 'artifacts/a', sha256: '', bytes: 1 })
  await expect(opened).rejects.toMatchObject({ code })
})

describe('training payloads', () => {
  it('a training payload is complete in its file before its row is written', async () => {
    const text = JSON.stringify('ü😀'.repeat(1_500_000))
    const seen: string[] = []
    const { jobs, file } = await openJobs((writes) => ({
      run(...write) {
        seen.push(readFileSync(file, 'utf8'))
        return writes.run(...write)
      },
    }))
    const stored = await jobs.insertJob(JOB, text)
    expect(seen.length === 1 && seen[0] === text).toBe(true)
    expect(stored.payload_bytes).toBe(Buffer.byteLength(text))
  })

  it('a training payload is removed when the commit fails', async () => {
    let existed = false
    const { jobs, directory, file } = await openJobs(() => ({
      run() {
        existed = existsSync(file)
        return Promise.reject(new ApiError('store_unavailable'))
      },
    }))
    await expect(jobs.insertJob(JOB, '[]')).rejects.toMatchObject({ code: 'store_unavailable' })
    expect(existed).toBe(true)
    expect(readdirSync(directory, { recursive: true })).toEqual(['received'])
  })

  it('a training payload remains when the writer dies after the commit, before it is acknowledged', async () => {
    const { jobs, file } = await openJobs((writes) => ({
      async run(...write) {
        await writes.run(...write)
        throw new ApiError('store_unavailable')
      },
    }))
    await expect(jobs.insertJob(JOB, '[]')).rejects.toMatchObject({ code: 'store_unavailable' })
    await expect(jobs.findJob(JOB.id)).resolves.toMatchObject({ state: 'queued' })
    expect(readFileSync(file, 'utf8')).toBe('[]')
  })

  it('a training payload that cannot be written leaves no row', async () => {
    const { jobs, directory } = await openJobs()
    rmSync(directory, { recursive: true })
    await expect(jobs.insertJob(JOB, '[]')).rejects.toMatchObject({ code: 'store_unavailable' })
    await expect(jobs.findJob(JOB.id)).resolves.toBeNull()
  })

  it('a training payload is never overwritten', async () => {
    const { jobs, file } = await openJobs()
    await jobs.insertJob(JOB, '[1]')
    await expect(jobs.insertJob(JOB, '[2]')).rejects.toMatchObject({ code: 'store_unavailable' })
    expect(readFileSync(file, 'utf8')).toBe('[1]')
  })

  it('a training payload may be a stream of bytes, whose error leaves nothing', async () => {
    const { jobs, directory, file } = await openJobs()
    const halves = [Buffer.from('[1,'), Buffer.from('2]')]
    const fail = (async function* () {
      yield* halves
      throw new ApiError('client_closed_request')
    })()
    await expect(jobs.insertJob(JOB, fail)).rejects.toMatchObject({ code: 'client_closed_request' })
    expect(readdirSync(directory, { recursive: true })).toEqual(['received'])
    const bytes = (async function* () {
      yield* halves
    })()
    await expect(jobs.insertJob(JOB, bytes)).resolves.toMatchObject({ payload_bytes: 5 })
    expect(readFileSync(file, 'utf8')).toBe('[1,2]')
  })
})

describe('statements of the preview', () => {
  it.each([
    ['FIND_PREVIEW_MODEL', BASE_MODELS.FIND_PREVIEW_MODEL, 'sqlite_autoindex_preview_models_1'],
    [
      'FIND_PREVIEW_MODEL_BY_NAME',
      BASE_MODELS.FIND_PREVIEW_MODEL_BY_NAME,
      'preview_models_entity_project_name',
    ],
    ['FIND_TRAINING_JOB', BASE_JOBS.FIND_TRAINING_JOB, 'sqlite_autoindex_training_jobs_1'],
    [
      'FIND_TRAINING_JOB_BY_IDEMPOTENCY_KEY',
      BASE_JOBS.FIND_TRAINING_JOB_BY_IDEMPOTENCY_KEY,
      'training_jobs_model_id_idempotency_key',
    ],
    ['INSERT_TRAINING_JOB', BASE_JOBS.INSERT_TRAINING_JOB, 'training_jobs_model_id_seq'],
    ['checkpoints', CHECKPOINTS.selectCheckpoints('asc'), 'checkpoints_model_id_step'],
    [
      'checkpoints, newest first',
      CHECKPOINTS.selectCheckpoints('desc'),
      'checkpoints_model_id_step',
    ],
    ['FIND_CHECKPOINT_STEP', CHECKPOINTS.FIND_CHECKPOINT_STEP, 'sqlite_autoindex_checkpoints_1'],
    ['DELETE_STEP', CHECKPOINTS.DELETE_STEP, 'checkpoints_model_id_step'],
    ['DELETE_ALL_STEPS', CHECKPOINTS.DELETE_ALL_STEPS, 'checkpoints_model_id_step'],
    ['FIND_STEP', CHECKPOINTS.FIND_STEP, 'checkpoints_model_id_step'],
    ['FIND_LATEST_STEP', CHECKPOINTS.FIND_LATEST_STEP, 'checkpoints_model_id_step'],
    ['FIND_CHECKPOINT', CHECKPOINTS.FIND_CHECKPOINT, 'sqlite_autoindex_checkpoints_1'],
    ['models', BASE_MODELS.selectModels('asc', false), 'preview_models_created_at_us'],
    [
      'models, newest first',
      BASE_MODELS.selectModels('desc', false),
      'preview_models_created_at_us',
    ],
    ['DELETE_PREVIEW_MODEL', BASE_MODELS.DELETE_PREVIEW_MODEL, 'sqlite_autoindex_preview_models_1'],
    ['jobs', BASE_JOBS.selectJobs('asc', false), 'training_jobs_created_at_us'],
    ['jobs, newest first', BASE_JOBS.selectJobs('desc', false), 'training_jobs_created_at_us'],
    ['jobs of a model', BASE_JOBS.selectModelJobs('asc'), 'training_jobs_model_id_seq'],
    [
      'jobs of a model, newest first',
      BASE_JOBS.selectModelJobs('desc'),
      'training_jobs_model_id_seq',
    ],
    ['LIST_UNFINISHED_JOBS', BASE_JOBS.LIST_UNFINISHED_JOBS, 'training_jobs_unfinished'],
    ['SAVE_MOVED_JOB', QUEUE.SAVE_MOVED_JOB, 'sqlite_autoindex_training_jobs_1'],
    ['FIND_FIRST_EVENT', BASE_JOBS.FIND_FIRST_EVENT, 'training_events_job_id_position'],
    ['LIST_EVENTS', BASE_JOBS.LIST_EVENTS, 'training_events_job_id_position'],
    ['COUNT_EVENTS', BASE_JOBS.COUNT_EVENTS, 'training_events_job_id'],
    ['FIND_EVENT_POSITION', BASE_JOBS.FIND_EVENT_POSITION, 'training_events_id'],
  ])('statement %s uses its index and sorts nothing', (_name, sql, index) => {
    const db = openMigrated()
    const names = [...sql.matchAll(/@(\w+)/g)].map(([, name]) => [name, 0])
    const plan = db.prepare(`EXPLAIN QUERY PLAN ${sql}`).all(Object.fromEntries(names)) as {
      detail: string
    }[]
    const details = plan.map(({ detail }) => detail).join('\n')
    expect(details).toContain(index)
    expect(details).not.toMatch(/SCAN|TEMP B-TREE/)
  })

  it('COUNT_UNFINISHED_JOBS reads unfinished jobs only', () => {
    const db = openMigrated()
    const plan = db.prepare(`EXPLAIN QUERY PLAN ${BASE_JOBS.COUNT_UNFINISHED_JOBS}`).all()
    expect(plan).toContainEqual(
      expect.objectContaining({
        detail:
          'SEARCH training_jobs USING COVERING INDEX training_jobs_state_created_at_us (state=?)',
      }),
    )
  })
})
