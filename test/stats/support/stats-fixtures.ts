/** Calls to count, recorded over HTTP. */
import { buildTestApp, type TestApp, type TestResponse } from '../../support/build-test-app.ts'

export const PROJECT = 'acme/demo'
export const URL = '/calls/stats'

/** Ten minutes in two buckets of five. */
export const WINDOW = {
  project_id: PROJECT,
  start: '2026-01-01T10:00:00Z',
  end: '2026-01-01T10:10:00Z',
}

export const COUNTS = { ...WINDOW, call_metrics: [{ metric: 'call_count' }] }

interface SampleCall {
  readonly id: string
  /** Fields of the start; `at` is short for started_at on the window's day. */
  readonly at?: string
  readonly start?: Record<string, unknown>
  /** Fields of the end; null leaves the call running. */
  readonly end?: Record<string, unknown> | null
}

/** Records a call that starts at 10:01:00 and ends a second later, unless told otherwise. */
export async function record(app: TestApp, call: SampleCall): Promise<void> {
  const { id, at = '10:01:00', start, end = {} } = call
  const started = await app.post('/call/start', {
    start: {
      project_id: PROJECT,
      id,
      op_name: 'predict',
      started_at: `2026-01-01T${at}Z`,
      attributes: {},
      inputs: {},
      ...start,
    },
  })
  const project_id = (start?.project_id as string) ?? PROJECT
  const ended =
    end === null
      ? started
      : await app.post('/call/end', {
          end: { project_id, id, ended_at: '2026-01-01T10:01:01Z', ...end },
        })
  if (started.status !== 200 || ended.status !== 200)
    throw new Error(`${started.text}${ended.text}`)
}

/** An app with three calls in the first bucket, none in the second. */
export async function buildFilledApp(): Promise<TestApp> {
  const app = await buildTestApp()
  await record(app, { id: 'c1', end: { ended_at: '2026-01-01T10:01:00.100Z' } })
  await record(app, {
    id: 'c2',
    end: { ended_at: '2026-01-01T10:01:00.300Z', exception: 'ValueError' },
  })
  await record(app, { id: 'c3', end: null })
  return app
}

/** Asks with the fields over COUNTS. */
export function ask(app: TestApp, fields: Record<string, unknown> = {}): Promise<TestResponse> {
  return app.post(URL, { ...COUNTS, ...fields })
}

/** Calls of the whole window. */
export async function countCalls(app: TestApp, fields: Record<string, unknown> = {}) {
  const { body } = await ask(app, fields)
  return body.call_buckets.reduce((sum: number, bucket: { count: number }) => sum + bucket.count, 0)
}
