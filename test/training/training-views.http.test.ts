/** Models, jobs and checkpoints as clients list, read, cancel and delete them. */
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { buildTestApp, type TestApp } from '../support/build-test-app.ts'
import { makeTempDir } from '../support/temp-dir.ts'
import { createModel, JOBS_URL, jobOf, MODEL, MODELS_URL, UNKNOWN_ID } from './preview-fixtures.ts'
import {
  claim,
  createJobs,
  finish,
  readEvents,
  readJob,
  report,
  tryClaim,
} from './worker-fixtures.ts'

async function remove({ app, key }: TestApp, url: string, body?: object) {
  const answer = await app.inject({
    method: 'DELETE',
    url,
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    ...(body && { payload: body }),
  })
  return { status: answer.statusCode, body: answer.json() }
}

async function train(testApp: TestApp, count: number) {
  const { model_id } = await createJobs(testApp, count)
  for (let step = 1; step <= count; step++) await finish(testApp, await claim(testApp))
  return { model_id, url: `${MODELS_URL}/${model_id}/checkpoints` }
}

const stepsOf = (body: { data: { step: number }[] }) => body.data.map(({ step }) => step)

describe('models', () => {
  it('a model is read by its id, and not found for a foreign key', async () => {
    const testApp = await buildTestApp()
    const id = await createModel(testApp)
    const { status, body } = await testApp.get(`${MODELS_URL}/${id.toUpperCase()}`)
    expect([status, body]).toEqual([200, { ...MODEL, id, run_id: null }])
    const key = await testApp.createKey({ projects: ['acme/other'] })
    const foreign = await testApp.get(`${MODELS_URL}/${id}`, { key })
    const unknown = await testApp.get(`${MODELS_URL}/${UNKNOWN_ID}`)
    expect([foreign.status, foreign.text]).toEqual([404, unknown.text])
  })

  it('models are listed in pages, in both orders, by name, and only those of the key', async () => {
    const testApp = await buildTestApp()
    const ids: string[] = []
    for (const name of ['a', 'b', 'c']) ids.push(await createModel(testApp, { name }))
    const other = await createModel(testApp, { name: 'a', project: 'other' })
    const listIds = async (query: string, options = {}) =>
      (await testApp.get(MODELS_URL + query, options)).body.data.map(
        (row: { id: string }) => row.id,
      )
    expect(await listIds('?limit=2')).toEqual(ids.slice(0, 2))
    expect(await listIds(`?limit=2&after=${ids[1]}`)).toEqual([ids[2], other])
    expect(await listIds(`?order=desc&after=${ids[2]}`)).toEqual([ids[1], ids[0]])
    expect(await listIds('?name=a')).toEqual([ids[0], other])
    expect(await listIds('?project_id=acme/other')).toEqual([other])
    const key = await testApp.createKey({ projects: ['acme/other'] })
    expect(await listIds('', { key })).toEqual([other])
    const foreign = await testApp.get(`${MODELS_URL}?project_id=acme/demo`, { key })
    expect([foreign.status, foreign.body.error.code]).toEqual([403, 'project_forbidden'])
    const { status, body } = await testApp.get(`${MODELS_URL}?after=${UNKNOWN_ID}`)
    expect([status, body.error.param]).toEqual([404, 'after'])
  })

  it('a model is deleted with its checkpoints; queued jobs end, running ones are notified', async () => {
    const testApp = await buildTestApp()
    const { model_id } = await train(testApp, 2)
    const jobs: string[] = []
    for (let at = 0; at < 2; at++) {
      jobs.push((await testApp.post(JOBS_URL, jobOf(model_id))).body.id)
    }
    const [running = '', queued = ''] = jobs
    const claimed = await claim(testApp)
    const { status, body } = await remove(testApp, `${MODELS_URL}/${model_id}`)
    expect([status, body]).toEqual([200, { model_id, deleted_checkpoints: 2, deleted_run: false }])
    expect((await testApp.get(`${MODELS_URL}/${model_id}`)).status).toBe(404)
    expect((await testApp.get(`${MODELS_URL}/${model_id}/checkpoints`)).status).toBe(404)
    expect((await remove(testApp, `${MODELS_URL}/${model_id}`)).status).toBe(404)
    expect((await testApp.post(JOBS_URL, jobOf(model_id))).status).toBe(404)
    expect((await readEvents(testApp, queued)).at(-1)?.type).toBe('training_failed')
    expect((await report(testApp, claimed, 'heartbeat')).body.cancel_requested).toBe(true)
    expect((await report(testApp, claimed, 'release')).body).toEqual({ status: 'cancelled' })
    expect((await readJob(testApp, running)).status).toBe('cancelled')
  })

  it('a model under a reused name continues after the steps of the deleted one', async () => {
    const testApp = await buildTestApp()
    const { model_id } = await train(testApp, 2)
    await remove(testApp, `${MODELS_URL}/${model_id}`)
    const again = await createJobs(testApp, 1)
    expect(again.model_id).not.toBe(model_id)
    const claimed = await claim(testApp)
    expect(claimed.parent_checkpoint).toBeNull()
    expect((await finish(testApp, claimed)).step).toBe(3)
  })
})

describe('training jobs', () => {
  it('training jobs are listed in pages, by model and by status, and only those of the key', async () => {
    const testApp = await buildTestApp()
    const first = await createJobs(testApp, 3)
    const second = await createJobs(testApp, 1, { name: 'second', project: 'other' })
    await finish(testApp, await claim(testApp))
    const listIds = async (query: string, options = {}) =>
      (await testApp.get(JOBS_URL + query, options)).body.data.map((row: { id: string }) => row.id)
    const all = [...first.jobs, ...second.jobs]
    expect(await listIds('')).toEqual(all)
    expect(await listIds('?order=desc&limit=2')).toEqual([all[3], all[2]])
    expect(await listIds(`?after=${all[0]}&limit=2`)).toEqual([all[1], all[2]])
    expect(await listIds(`?model_id=${first.model_id}`)).toEqual(first.jobs)
    expect(await listIds(`?model_id=${first.model_id}&after=${all[1]}`)).toEqual([all[2]])
    expect(await listIds(`?model_id=${first.model_id}&order=desc&limit=1`)).toEqual([all[2]])
    expect(await listIds('?status=succeeded')).toEqual([all[0]])
    expect(await listIds('?project_id=acme/other')).toEqual(second.jobs)
    expect(await listIds(`?status=queued&model_id=${second.model_id}`)).toEqual([all[3]])
    const key = await testApp.createKey({ projects: ['acme/other'] })
    expect(await listIds('', { key })).toEqual(second.jobs)
    const forbidden = await testApp.get(`${JOBS_URL}?project_id=acme/demo`, { key })
    expect([forbidden.status, forbidden.body.error.code]).toEqual([403, 'project_forbidden'])
    const { body } = await testApp.get(`${JOBS_URL}?limit=2`)
    expect(body).toMatchObject({ object: 'list', has_more: true, last_id: all[1] })
    const unknown = await testApp.get(`${JOBS_URL}?after=${UNKNOWN_ID}`)
    expect([unknown.status, unknown.body.error.code]).toEqual([404, 'training_job_not_found'])
    const { body: refused } = await testApp.get(`${JOBS_URL}?status=done`)
    expect(refused.error.message).toContain('status must be one of queued, running, succeeded, ')
  })

  it('training jobs of foreign projects are unknown in every route', async () => {
    const testApp = await buildTestApp()
    const { jobs } = await createJobs(testApp, 1)
    const key = await testApp.createKey({ projects: ['acme/other'] })
    for (const tail of ['', '/events']) {
      const foreign = await testApp.get(`${JOBS_URL}/${jobs[0]}${tail}`, { key })
      const unknown = await testApp.get(`${JOBS_URL}/${UNKNOWN_ID}${tail}`)
      expect([foreign.status, foreign.text]).toEqual([404, unknown.text])
    }
    const cancel = await testApp.post(`${JOBS_URL}/${jobs[0]}/cancel`, '', { key })
    expect([cancel.status, cancel.body.error.code]).toEqual([404, 'training_job_not_found'])
    expect((await readJob(testApp, jobs[0] ?? '')).status).toBe('queued')
  })

  it('a queued job is cancelled at once, with a last event, and the next one can run', async () => {
    const testApp = await buildTestApp()
    const { jobs } = await createJobs(testApp, 2)
    const [job = '', next = ''] = jobs
    const url = `${JOBS_URL}/${job}/cancel`
    const { status, body } = await testApp.post(url, '')
    expect([status, body.status, body.error.code]).toEqual([200, 'cancelled', 'cancelled'])
    expect((await testApp.post(url, '')).body).toEqual(body)
    const events = await readEvents(testApp, job)
    expect(events.map(({ type }) => type)).toEqual(['training_failed'])
    expect((await claim(testApp)).id).toBe(next)
  })

  it.each(['release', 'fail', 'complete'])(
    'a running job learns of its cancellation at the heartbeat and ends as cancelled by %s',
    async (action) => {
      const testApp = await buildTestApp()
      const { jobs, model_id } = await createJobs(testApp, 1)
      const claimed = await claim(testApp)
      const { body } = await testApp.post(`${JOBS_URL}/${jobs[0]}/cancel`, '')
      expect([body.status, body.cancel_requested]).toEqual(['running', true])
      expect((await report(testApp, claimed, 'heartbeat')).body.cancel_requested).toBe(true)
      const fields = {
        release: {},
        fail: { error: { code: 'x', message: 'x' }, retryable: true },
        complete: { metrics: {}, trained: false, reason: 'no_choice' },
      }[action]
      const answer = await report(testApp, claimed, action, fields)
      expect(answer.status).toBe(action === 'complete' ? 409 : 200)
      const job = await readJob(testApp, jobs[0] ?? '')
      expect([job.status, job.error.code]).toEqual(['cancelled', 'cancelled'])
      const events = await readEvents(testApp, jobs[0] ?? '')
      expect(events.map(({ type }) => type)).toEqual(['training_failed'])
      const { body: list } = await testApp.get(`${MODELS_URL}/${model_id}/checkpoints`)
      expect(list.data).toEqual([])
    },
  )

  it('an ended job cannot be cancelled', async () => {
    const testApp = await buildTestApp()
    const { jobs } = await createJobs(testApp, 1)
    await finish(testApp, await claim(testApp))
    const { status, body, headers } = await testApp.post(`${JOBS_URL}/${jobs[0]}/cancel`, '')
    expect([status, body.error.code]).toEqual([409, 'training_job_ended'])
    expect(headers['x-should-retry']).toBe('false')
  })

  it('a cursor that is not an event of the job is refused', async () => {
    const testApp = await buildTestApp()
    const { jobs } = await createJobs(testApp, 1)
    const { status, body } = await testApp.get(`${JOBS_URL}/${jobs[0]}/events?after=${UNKNOWN_ID}`)
    expect([status, body.error.param]).toEqual([422, 'after'])
    const ordered = await testApp.get(`${JOBS_URL}/${jobs[0]}/events?order=desc`)
    expect(ordered.status).toBe(422)
  })
})

describe('checkpoints', () => {
  it('a checkpoint is deleted by its step, and a deleted step is not reused', async () => {
    const testApp = await buildTestApp()
    const { model_id, url } = await train(testApp, 3)
    const { status, body } = await remove(testApp, url, { steps: [3, 9, 1, 3] })
    expect([status, body]).toEqual([200, { deleted_count: 2, not_found_steps: [9] }])
    expect(stepsOf((await testApp.get(url)).body)).toEqual([2])
    await testApp.post(JOBS_URL, jobOf(model_id))
    const claimed = await claim(testApp)
    expect(claimed.parent_checkpoint.step).toBe(2)
    expect((await finish(testApp, claimed)).step).toBe(4)
    expect(stepsOf((await testApp.get(url)).body)).toEqual([2, 4])
  })

  it('a client that deletes checkpoints while it pages sees them all', async () => {
    const testApp = await buildTestApp()
    const { url } = await train(testApp, 5)
    const seen: number[] = []
    for (let after = ''; ; ) {
      const { body } = await testApp.get(`${url}?limit=2&after=${after}`)
      seen.push(...stepsOf(body))
      if (body.data.length > 0) await remove(testApp, url, { steps: stepsOf(body) })
      if (!body.has_more) break
      after = body.last_id
    }
    expect(seen).toEqual([1, 2, 3, 4, 5])
    expect((await testApp.get(url)).body.data).toEqual([])
  })

  it('a checkpoint is downloaded as the worker uploaded it', async () => {
    const testApp = await buildTestApp()
    const { jobs } = await createJobs(testApp, 1)
    const { step } = await finish(testApp, await claim(testApp), 'the weights')
    const { model_id } = await readJob(testApp, jobs[0] ?? '')
    const { body } = await testApp.get(`${MODELS_URL}/${model_id}/checkpoints/${step}`)
    const file = await testApp.get(body.artifact.url)
    expect([file.status, file.text]).toEqual([200, 'the weights'])
    expect(file.headers['content-disposition']).toContain('policy-step1.artifact')
    expect(file.headers['x-weft-sha256']).toBe(body.artifact.sha256)
    const { data } = (await testApp.get('/v1/audit?action=checkpoint.export')).body
    expect(data).toMatchObject([{ subject_id: model_id, after: { step } }])
  })

  it.each(['2', '-1', '01', 'x', '99999999999999999'])(
    'checkpoint step %s gets 404',
    async (step) => {
      const testApp = await buildTestApp()
      const { url } = await train(testApp, 1)
      for (const tail of ['', '/artifact']) {
        const { status, body } = await testApp.get(`${url}/${step}${tail}`)
        expect([status, body.error.code]).toEqual([404, 'checkpoint_not_found'])
      }
    },
  )

  it('the file of a deleted checkpoint remains while a running job continues from it', async () => {
    const dataDir = makeTempDir()
    const testApp = await buildTestApp({ dataDir, readThreads: 1 })
    const { model_id, url } = await train(testApp, 1)
    const files = () => readdirSync(join(dataDir, 'artifacts', model_id)).length
    await testApp.post(JOBS_URL, jobOf(model_id))
    const claimed = await claim(testApp)
    await remove(testApp, url, { steps: [1] })
    expect(files()).toBe(1)
    const { artifact } = claimed.parent_checkpoint
    const headers = { 'x-weft-lease': claimed.lease_token }
    expect((await testApp.get(artifact.url, { headers })).status).toBe(200)
    await report(testApp, claimed, 'release')
    expect(files()).toBe(0)
    expect((await tryClaim(testApp)).body.parent_checkpoint).toBeNull()
  })

  it.each([[{}], [{ steps: [-1] }], [{ steps: ['1'] }], [{ steps: [1], other: 1 }]])(
    'no checkpoint is deleted by %j',
    async (body) => {
      const testApp = await buildTestApp()
      const { url } = await train(testApp, 1)
      expect((await remove(testApp, url, body)).status).toBe(422)
      expect((await testApp.get(url)).body.data).toHaveLength(1)
    },
  )
})
