/** Calls of every shape, and a client that lists them. */
import { expect } from 'vitest'
import type { TestApp } from '../../support/build-test-app.ts'
import { ENDED, STARTED } from '../call-fixtures.ts'

export const PROJECT = 'acme/demo'
export const url = '/calls/stream_query'

// biome-ignore lint/suspicious/noExplicitAny: tests look into calls of every shape.
type Call = any

export async function start(app: TestApp, id: string, fields: object = {}) {
  const body = { start: { ...STARTED, id, trace_id: `t-${id}`, ...fields } }
  expect((await app.post('/call/start', body)).status).toBe(200)
}

export async function end(app: TestApp, id: string, fields: object = {}) {
  expect((await app.post('/call/end', { end: { ...ENDED, id, ...fields } })).status).toBe(200)
}

export async function list(app: TestApp, query: object = {}, at = url): Promise<Call[]> {
  const response = await app.post(at, { project_id: PROJECT, ...query })
  expect([response.status, response.body?.error]).toEqual([200, undefined])
  expect(response.headers['content-type']).toMatch(/^application\/jsonl/)
  if (response.text === '') return []
  expect(response.text.endsWith('\n')).toBe(true)
  return response.text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
}

export const ids = (calls: Call[]) => calls.map(({ id }) => id)
const at = (second: number) => `2026-01-01T00:00:${String(second).padStart(2, '0')}Z`

export async function seed(app: TestApp) {
  await start(app, 'b', { started_at: at(2), inputs: { n: 2, s: 'Beta' }, op_name: 'x' })
  await start(app, 'a', { started_at: at(2), inputs: { n: 10, s: 'alpha' }, parent_id: 'p' })
  await start(app, 'c', { started_at: at(1), inputs: { n: '3' }, thread_id: 'th' })
  await end(app, 'a', { ended_at: at(5), exception: 'Boom', output: { list: [{ v: 1 }] } })
  await end(app, 'c', {
    ended_at: at(3),
    output: 'text',
    summary: { usage: { m: { input_tokens: 4 } } },
  })
  await end(app, 'no-start')
  await start(app, 'gone')
  await app.post('/calls/delete', { project_id: PROJECT, call_ids: ['gone'] })
  await start(app, 'foreign', { project_id: 'acme/other' })
}
