/** Stores filled with everything except calls, and their contents read through the contracts. */
import { cpSync, mkdtempSync, readdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { expect } from 'vitest'
import type { Budget } from '../../../src/domain/access/budgets.ts'
import { resolveNamedCalls } from '../../../src/domain/annotation/annotation-item.ts'
import { FEEDBACK_FIELDS } from '../../../src/domain/feedback/feedback-view.ts'
import { resolvePrice } from '../../../src/domain/prices/project-prices.ts'
import { resolveRowQuery } from '../../../src/domain/query/row-query.ts'
import type { NewKey } from '../../../src/store/api/access/keys.ts'
import type { Stores } from '../../../src/store/api/stores.ts'
import type { Claim } from '../../../src/store/api/training/training-queue.ts'
import { openSqliteStores } from '../../../src/store/sqlite/open-locked.ts'
import { alertOf } from '../../alerts/alert-fixtures.ts'
import { jobOf } from '../../evaluations/evaluation-job-store-contract.ts'
import { evaluatorOf, outcomeOf } from '../../evaluators/evaluator-store-contract.ts'
import { feedbackAt, trigger } from '../../feedback/feedback-fixtures.ts'
import { aliasOf } from '../../models/served-alias-store-contract.ts'
import { listing, newObject, PROJECT, storeTable } from '../../objects/object-store-contract.ts'
import { readCaller } from '../../support/read-caller.ts'
import { makeTempDir } from '../../support/temp-dir.ts'
import { JOB, MODEL } from '../../training/store/preview-store-contract.ts'
import { startOf } from '../calls/call-store-contract.ts'

const CALLER = readCaller()
const AUDIT = {
  from_us: 0,
  until_us: Number.MAX_SAFE_INTEGER,
  svc_user_id: null,
  action: null,
  after: null,
  order: 'asc',
} as const
export const RIGHTS: NewKey = {
  svc_user_id: 'u',
  svc_username: 'Ü "x"',
  scopes: ['traces:read'],
  projects: ['acme/*'],
}
/** Three chunks, the last of them short. */
const LARGE = Buffer.alloc(600_001, 'large \0\xff', 'latin1')
const ROW_COUNT = 2500
const T0 = '2026-01-01T00:00:00.000001Z'

/** Secrets, digests and ids of a fill that no list returns. */
export interface Filled {
  readonly secrets: readonly string[]
  readonly files: readonly string[]
  readonly table: string
}

async function* bytesOf(...parts: readonly Buffer[]): AsyncGenerator<Buffer> {
  yield* parts
}

const BUDGET: Budget = {
  id: 'budget',
  subject_kind: 'project',
  subject_id: PROJECT,
  period: 'life',
  zone: 'UTC',
  hard_nanos: 1_000_000_000_000_000,
  soft_nanos: null,
  created_at_us: 1,
}

async function fillPeople({ people }: Stores): Promise<void> {
  await people.createPerson({
    id: 'ada',
    issuer: 'https://provider.example',
    subject: 'ada',
    email: 'ada@example.com',
    name: 'Ada',
    grants: [{ role: 'viewer', projects: ['acme/*'] }],
    claim_grants: [],
    created_at_us: 1,
    signed_in_at_us: 2,
    password_set_at_us: null,
    link_expires_at_us: null,
    disabled_at_us: null,
    sessions_from_us: 0,
  })
}

/** An evaluator that has spent something in a failed try whose lease was lost. */
async function fillEvaluators({ evaluators }: Stores): Promise<void> {
  const evaluator = evaluatorOf({ id: 'evaluator', project_id: PROJECT })
  await evaluators.createEvaluator(evaluator)
  const task = { evaluator_id: 'evaluator', subject_id: 'c', is_backfill: false, attempts: 1 }
  await evaluators.settleTasks([
    outcomeOf({ ...task, queued_at_us: 1 }, 'lost', {
      result: 'waits',
      spent_nanos: 123_456_789_012,
    }),
  ])
}

async function fillBudgets({ budgets }: Stores): Promise<void> {
  await budgets.createBudget(BUDGET)
  await budgets.sync([
    {
      lease_id: 'lease',
      is_open: false,
      budget_id: BUDGET.id,
      period_start_us: 0,
      settled_nanos: 123_456_789_012,
      open_nanos: 5,
      needed_nanos: null,
      spare_nanos: 7,
      is_last: false,
    },
  ])
}

async function fillAlerts({ alerts }: Stores): Promise<void> {
  await alerts.createAlert(alertOf())
  const claim = { claim_id: 'c', now_us: 10, until_us: 20, limit: 1 }
  await alerts.claimChecks(claim)
  const found = { alert_id: 'a', claim_id: 'c', now_us: 10, next_check_at_us: 30 }
  await alerts.settleCheck({ ...found, value: 10.5, error: null, event_id: 'e' })
}

async function fillStores(stores: Stores): Promise<Filled> {
  const made = [await stores.keys.createKey(RIGHTS), await stores.keys.createKey(RIGHTS)]
  await stores.keys.revokeKey(made[1]?.id ?? '')
  // The day of the first use is noted in the background; it must not change between two readings.
  await stores.keys.findPrincipal(made[0]?.secret ?? '')
  await expect.poll(async () => (await stores.keys.listKeys())[0]?.last_used_day).not.toBeNull()
  await fillBudgets(stores)
  await fillAlerts(stores)
  await stores.evaluationJobs.createJob(jobOf())
  await stores.servedAliases.setAlias(aliasOf({ candidate: 'owl', candidate_percent: 12.5 }))
  await fillPeople(stores)
  await fillEvaluators(stores)
  const price = { prompt_token_cost: 1, completion_token_cost: 2, cache_read_input_token_cost: 0.5 }
  for (const id of ['b', 'a']) {
    const defaults = { project_id: PROJECT, id, svc_user_id: 'u', created_at_us: 1 }
    await stores.prices.createPrices([resolvePrice('m', price, defaults)])
  }
  await stores.retention.setRetention({ project_id: PROJECT, retention_days: 30 })
  await stores.redactions.setRedaction({ project_id: PROJECT, rules_json: '{"kinds":[]}' })
  const payload = { text: 'é "x" \\ \u0000 1.10', half: '\ud800', n: 1e21 }
  await stores.feedback.createFeedback(feedbackAt(T0, 'f2', { payload, creator: 'Ada' }))
  await stores.feedback.createFeedback(feedbackAt(T0, 'f1', { trigger_ref: trigger('t') }))
  const { table } = await fillObjects(stores)
  const files: string[] = []
  for (const bytes of [Buffer.alloc(0), Buffer.from('a few'), LARGE]) {
    const file = await stores.files.receiveFile(bytesOf(bytes))
    await file.keep(PROJECT)
    await file.discard()
    files.push(file.digest)
  }
  for (const [id, previous_response_id] of [
    ['r1', null],
    ['r2', 'r1'],
  ] as const) {
    const text = { response_json: '{"n":1.10}', input_json: '["ü"]' }
    const name = { id, project_id: null, key_id: 'k', created_at_us: 5, previous_response_id }
    await stores.responses.insertResponse({ ...name, ...text })
  }
  await fillTraining(stores)
  await fillQueues(stores)
  return { secrets: made.map(({ secret }) => secret), files, table }
}

async function fillObjects(stores: Stores) {
  const { objects } = stores
  for (const n of [1, 2, 3]) await objects.createObject(newObject({ n }, { created_at_us: n }))
  await objects.createObject(newObject('code', { object_id: 'op', kind: 'op' }))
  await objects.deleteObjects(PROJECT, 'thing', ['v0'], 9)
  const marks = { project_id: PROJECT, object_id: 'thing', version: 'v1' }
  await objects.addTags({ ...marks, names: ['good', 'best'] })
  await objects.setAliases({ ...marks, names: ['prod'] })
  const rows = Array.from({ length: ROW_COUNT }, (_, n) => ({ n: n % 2000 }))
  const { table } = await storeTable(stores, rows)
  return { table: table.digest }
}

function claimAt(seconds: number): Claim {
  const now_us = seconds * 1_000_000
  return {
    times: { now_us, retry_ms: 1000, queue_timeout_ms: 0, chance: 0 },
    lease_token_hash: `lease of ${seconds}`,
    lease_ms: 10_000,
    wall_ms: 60_000,
    worker_id: 'w',
    worker_version: '1',
    base_models: ['tiny'],
    projects: ['*'],
  }
}

/** The lease of the job that runs. */
export const LEASE = { job_id: 'job-2', token_hash: 'lease of 2', now_us: 3_000_000 }

/** A job that has made a checkpoint, one that runs and has staged weights, one that waits, and a model that is gone. */
async function fillTraining({ previewModels, trainingJobs, trainingQueue, checkpoints }: Stores) {
  await previewModels.insertModel(MODEL)
  await previewModels.insertModel({ ...MODEL, id: 'model-2', name: 'gone' })
  await checkpoints.insertCheckpoint({
    id: 'c0',
    model_id: MODEL.id,
    step: 0,
    metrics: { loss: 0.1 },
    created_at_us: 1,
  })
  for (const n of [1, 2, 3]) {
    const job = { ...JOB, id: `job-${n}`, idempotency_key: `key ${n}` }
    await trainingJobs.insertJob(job, JSON.stringify('ü'.repeat(n === 1 ? 300_000 : n)))
  }
  await trainingJobs.insertJob({ ...JOB, id: 'job-4', model_id: 'model-2' }, '[]')
  await previewModels.deleteModel('model-2', 7)
  for (const seconds of [1, 2]) {
    await trainingQueue.claimJob(claimAt(seconds))
    const job_id = `job-${seconds}`
    const now_us = seconds * 1_000_000
    const lease = { job_id, token_hash: `lease of ${seconds}`, now_us }
    const data = { 'loss/train': 0.25 }
    await trainingQueue.recordEvents(lease, [{ type: 'gradient_step', data, seq: 0 }])
    const weights = bytesOf(LARGE, Buffer.from(job_id))
    const artifact = await trainingQueue.receiveArtifact(weights, 2 ** 30)
    await artifact.stage(lease)
    await trainingQueue.renewLease(lease, { lease_ms: 10_000, progress: 0.3 })
    if (seconds === 2) continue
    const outcome = { checkpoint_id: 'c1', sha256: artifact.sha256, metrics: {}, reason: null }
    await trainingQueue.completeJob(lease, outcome)
  }
}

async function fillQueues({ annotation, calls }: Stores): Promise<void> {
  const call_ids = ['c3', 'c1', 'c2']
  for (const id of call_ids) await calls.startCall(startOf({ project_id: PROJECT, id }))
  for (const id of ['q', 'gone']) {
    await annotation.createQueue({
      id,
      project_id: PROJECT,
      name: id,
      description: '',
      scorer_refs_json: '[]',
      queue_type: id === 'q' ? 'span' : 'call',
      created_by: 'u',
      created_at_us: 1,
      updated_at_us: 1,
      deleted_at_us: null,
      rules_json: id === 'q' ? '{"random":0.5,"max_per_day":1,"max_waiting":1}' : null,
      rules_position: 7,
    })
    const common = { display_fields_json: '["inputs"]', added_by: 'u', created_at_us: 1 }
    const named = resolveNamedCalls('call', { call_ids })
    const addition = { project_id: PROJECT, id, isStrict: true, ...named, ...common }
    await annotation.addItems(addition, CALLER)
  }
  await annotation.deleteQueue({ project_id: PROJECT, id: 'gone', deleted_at_us: 5 })
  const [first] = await annotation.listItems({ project_id: PROJECT, queue_id: 'q' }, CALLER)
  for (const [annotator_user_id, annotation_state] of [
    ['ann', 'completed'],
    ['bob', 'in_progress'],
  ] as const) {
    const step = { project_id: PROJECT, id: 'q', item_id: first?.id ?? '', updated_at_us: 8 }
    await annotation.takeStep({ ...step, annotator_user_id, annotation_state }, CALLER)
  }
}

/** A data directory that was filled, with what its stores told: a copy of the first one, which takes a second to fill. */
export async function fillDirectory() {
  first ??= fillFirst()
  const { dataDir: source, filled, told } = await first
  const dataDir = makeTempDir()
  cpSync(source, dataDir, { recursive: true })
  return { dataDir, filled, told }
}

let first: ReturnType<typeof fillFirst> | null = null

async function fillFirst() {
  // Goes with the folder of the run.
  const dataDir = mkdtempSync(join(tmpdir(), 'weft-filled-'))
  const stores = await openSqliteStores({ dataDir, ingestQueueMax: 1000 })
  try {
    const filled = await fillStores(stores)
    return { dataDir, filled, told: await readStores(stores, filled) }
  } finally {
    await stores.close()
    // The connection that closes last removes the log, and may be one of a thread that still ends.
    const logsOf = () => readdirSync(dataDir).filter((name) => /-(?:wal|shm)$/.test(name))
    await expect.poll(logsOf, { timeout: 10_000 }).toEqual([])
  }
}

/** The whole content, including numbers that the store assigns, if they are returned. */
export async function readStores(stores: Stores, filled: Filled) {
  const { audit, keys, budgets, people, prices, retention, feedback, annotation } = stores
  const query = resolveRowQuery({}, FEEDBACK_FIELDS)
  const queue = { project_id: PROJECT, queue_id: 'q', include_position: true }
  return {
    keys: await keys.listKeys(),
    principals: await Promise.all(filled.secrets.map(keys.findPrincipal)),
    budgets: [await budgets.listBudgets(), await budgets.readSpending(BUDGET.id, 0)],
    alerts: [await stores.alerts.listAlerts(PROJECT), await stores.alerts.listEvents('a')],
    evaluations: await stores.evaluationJobs.findJob(PROJECT, 'job'),
    aliases: await stores.servedAliases.listAliases('acme/demo'),
    people: await people.listPeople(),
    evaluators: await stores.evaluators.listEvaluators(PROJECT),
    versions: await stores.evaluators.listVersions('evaluator'),
    scores: await stores.evaluators.countWork('evaluator', 1),
    audit: await audit.listEntries(AUDIT),
    prices: await prices.listPrices(PROJECT),
    retention: await retention.findRetention(PROJECT),
    redactions: await stores.redactions.listRedactions(),
    feedback: (await feedback.queryFeedback(PROJECT, query, CALLER)).rows,
    ...(await readContents(stores, filled)),
    ...(await readTraining(stores)),
    responses: await Promise.all(['r1', 'r2'].map(stores.responses.findResponse)),
    queues: await annotation.listQueues(CALLER),
    items: await annotation.listItems(queue, CALLER),
    progress: await annotation.sumQueues(['q', 'gone'], CALLER),
  }
}

async function readContents({ objects, tables, files }: Stores, filled: Filled) {
  const table = await tables.findTable(PROJECT, filled.table)
  const rows: unknown[] = []
  for await (const group of tables.readRows(table as never, Array(ROW_COUNT).keys())) {
    rows.push(...group)
  }
  return {
    objects: await objects.listObjects(listing(), CALLER),
    deleted: await objects.findObject(PROJECT, 'thing', 'v0'),
    marks: [await objects.listTags(CALLER), await objects.listAliases(CALLER)],
    table,
    rows,
    files: await Promise.all(
      filled.files.map(async (digest) => {
        const found = await files.findFile(PROJECT, digest)
        const content = found?.content ?? Buffer.alloc(0)
        return Buffer.isBuffer(content) ? content : buffer(content)
      }),
    ),
    fileBytes: await files.sumFileBytes(PROJECT),
  }
}

async function readTraining({ previewModels, trainingJobs, trainingQueue, checkpoints }: Stores) {
  const page = { after: null, order: 'asc', count: 100, projects: ['*'] } as const
  const shown = { ...page, name: null, project_id: null, base_models: null }
  const jobs = await trainingJobs.listJobs({ ...page, model_id: null, status: null })
  const shownSteps = await checkpoints.listCheckpoints({ ...page, model_id: MODEL.id })
  const latest = await checkpoints.findCheckpoint(MODEL.id, 'latest')
  return {
    models: await previewModels.listModels(shown),
    jobs,
    payloads: await Promise.all(
      jobs.map(async ({ job }) => String(await buffer(await trainingJobs.openPayload(job)))),
    ),
    events: await Promise.all(
      jobs.map(({ job }) => trainingJobs.listEvents({ job_id: job.id, after: null, count: 9 })),
    ),
    checkpoints: [shownSteps, latest],
    weights: latest?.artifact && (await buffer(await checkpoints.openArtifact(latest.artifact))),
    leased: await trainingQueue.findLeased(LEASE),
    dueUs: await trainingQueue.nextDueUs(LEASE.now_us, 0),
  }
}
