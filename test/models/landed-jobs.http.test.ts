/** Jobs and checkpoints of the first versions, which only stored them. */
import { cpSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { openDatabase } from '../../src/store/sqlite/db/connection.ts'
import { migrate, readMigrations } from '../../src/store/sqlite/db/migrate.ts'
import { buildTestApp } from '../support/build-test-app.ts'
import { makeTempDir } from '../support/temp-dir.ts'
import { MODELS_URL } from '../training/preview-fixtures.ts'
import { claim, finish, readJob, sha256Of } from '../training/worker-fixtures.ts'

const MIGRATIONS = fileURLToPath(new URL('../../migrations/sqlite/', import.meta.url))
/** Migrations before jobs were run. */
const LANDED = 7
const GROUPS = '[{"trajectories":[]}]'
const MODEL_ID = '01998c9e-0000-7000-8000-000000000001'
const JOB_ID = '01998c9e-0000-7000-8000-000000000002'
const CHECKPOINT_ID = '01998c9e-0000-7000-8000-000000000003'

function makeLandedDatabase(): string {
  const directory = makeTempDir()
  const dataDir = makeTempDir()
  for (const { name } of readMigrations().slice(0, LANDED)) {
    cpSync(join(MIGRATIONS, name), join(directory, name))
  }
  const db = openDatabase(dataDir)
  migrate(db, `${directory}/`)
  const payload = join('training-payloads', `${JOB_ID}.json`)
  db.exec(`
    INSERT INTO preview_models VALUES ('${MODEL_ID}', 'acme', 'demo', 'm', 'tiny', 1, 'u');
    INSERT INTO training_jobs VALUES (
      '${JOB_ID}', '${MODEL_ID}', 1, 'queued', '${payload}', '${sha256Of(GROUPS)}', ${GROUPS.length},
      '{"ppo":true}', NULL, 1, 0, 0, 2, 'u'
    );
    INSERT INTO checkpoints VALUES ('${CHECKPOINT_ID}', '${MODEL_ID}', 4, '{"reward":1}', 3, NULL);
  `)
  db.close()
  mkdirSync(join(dataDir, 'training-payloads'))
  writeFileSync(join(dataDir, payload), GROUPS)
  return dataDir
}

it('are queued still, train, and go on behind the steps that were there', async () => {
  const testApp = await buildTestApp({ dataDir: makeLandedDatabase(), readThreads: 1 })
  expect(await readJob(testApp, JOB_ID)).toMatchObject({ status: 'queued', attempt: 0 })
  const claimed = await claim(testApp)
  expect(claimed).toMatchObject({
    id: JOB_ID,
    parent_checkpoint: { id: CHECKPOINT_ID, step: 4, artifact: null },
    resolved_config: { ppo: true, epsilon: 0.2 },
  })
  const headers = { 'x-weft-lease': claimed.lease_token }
  const payload = await testApp.get(claimed.payload.url, { headers })
  expect(payload.text).toBe(GROUPS)
  expect((await finish(testApp, claimed)).step).toBe(5)
  const { body } = await testApp.get(`${MODELS_URL}/${MODEL_ID}/checkpoints`)
  expect(body.data.map(({ step }: { step: number }) => step)).toEqual([4, 5])
  const detail = await testApp.get(`${MODELS_URL}/${MODEL_ID}/checkpoints/4`)
  expect(detail.body).toMatchObject({ worker: null, artifact: null, job_id: null })
})
