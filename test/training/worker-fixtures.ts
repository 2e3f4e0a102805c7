/** A worker of the tests: speaks the protocol over an app, and moves its clock where leases must end. */
import { createHash } from 'node:crypto'
import { expect } from 'vitest'
import type { TestApp, TestResponse } from '../support/build-test-app.ts'
import { createModel, JOBS_URL, jobOf } from './preview-fixtures.ts'

export const WORKER_URL = '/v1/preview/worker'

export const CLAIM = { worker_id: 'w-1', worker_version: '1.0', base_models: ['tiny'] }

/** Leases that end while a test waits, and attempts that are repeated at once. */
export const SHORT_TRAINING = { leaseMs: 100, wallMs: 60_000, retryMs: 0, queueTimeoutMs: 0 }

// biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape.
export type Claimed = any

export function sha256Of(bytes: Buffer | string): string {
  return createHash('sha256').update(bytes).digest('hex')
}

/** A model with a number of queued jobs. */
export async function createJobs(testApp: TestApp, count: number, fields: object = {}) {
  const model_id = await createModel(testApp, fields)
  const jobs: string[] = []
  for (let at = 0; at < count; at++) {
    const { status, body } = await testApp.post(JOBS_URL, jobOf(model_id))
    expect(status).toBe(200)
    jobs.push(body.id)
  }
  return { model_id, jobs }
}

/** Claims a job that must be there. */
export async function claim({ post }: TestApp, fields: object = {}): Promise<Claimed> {
  const { status, body } = await post(`${WORKER_URL}/claim`, { ...CLAIM, ...fields })
  expect(status).toBe(200)
  return body
}

/** Claims when there may be nothing: 200 or 204. */
export async function tryClaim({ post }: TestApp, fields: object = {}): Promise<TestResponse> {
  return post(`${WORKER_URL}/claim`, { ...CLAIM, ...fields })
}

/** POSTs to a claimed job with its lease. */
export function report(
  { post }: TestApp,
  { id, lease_token }: Claimed,
  action: string,
  fields: object = {},
): Promise<TestResponse> {
  return post(`${WORKER_URL}/jobs/${id}/${action}`, { lease_token, ...fields })
}

export async function upload(
  { app, key }: TestApp,
  { id, lease_token }: Claimed,
  bytes: Buffer | string,
  headers: Record<string, string> = {},
): Promise<TestResponse> {
  const answer = await app.inject({
    method: 'PUT',
    url: `${WORKER_URL}/jobs/${id}/artifact`,
    headers: {
      authorization: `Bearer ${key}`,
      'content-type': 'application/octet-stream',
      'x-weft-lease': lease_token,
      'x-weft-sha256': sha256Of(bytes),
      ...headers,
    },
    payload: bytes,
  })
  const { statusCode: status, body: text } = answer
  return { status, body: text === '' ? null : answer.json(), text, headers: answer.headers }
}

/** Trains: uploads an artifact and completes. */
export async function finish(
  testApp: TestApp,
  claimed: Claimed,
  bytes: Buffer | string = `weights of ${claimed.id}`,
) {
  expect((await upload(testApp, claimed, bytes)).status).toBe(200)
  const completion = { sha256: sha256Of(bytes), metrics: { reward: 1 }, trained: true }
  const answer = await report(testApp, claimed, 'complete', completion)
  expect([answer.status, answer.body.error]).toEqual([200, undefined])
  return answer.body.checkpoint as { id: string; step: number }
}

/** The job as clients see it. */
export async function readJob({ get }: TestApp, id: string) {
  const { status, body } = await get(`${JOBS_URL}/${id}`)
  expect(status).toBe(200)
  return body
}

/** All events of a job as a polling client sees them. */
export async function readEvents({ get }: TestApp, id: string, limit = 2) {
  const events: { id: string; type: string; data: Record<string, unknown> }[] = []
  for (let after = ''; ; ) {
    const { status, body } = await get(`${JOBS_URL}/${id}/events?limit=${limit}&after=${after}`)
    expect(status).toBe(200)
    events.push(...body.data)
    if (!body.has_more) return events
    after = body.last_id
  }
}

/** Waits until a condition holds; the test's own time limit ends what never comes. */
export async function until<T>(read: () => Promise<T>, holds: (value: T) => boolean): Promise<T> {
  for (;;) {
    const value = await read()
    if (holds(value)) return value
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}
