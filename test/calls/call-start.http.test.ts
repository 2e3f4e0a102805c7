import { describe, expect, it } from 'vitest'
import { buildTestApp } from '../support/build-test-app.ts'

const START = {
  project_id: 'acme/demo',
  op_name: 'predict',
  started_at: '2026-01-02T03:04:05.123456Z',
  attributes: {},
  inputs: { question: 'why' },
}

describe('POST /call/start', () => {
  it('answers the id and trace_id that it made', async () => {
    const { post } = await buildTestApp()
    const { status, body } = await post('/call/start', { start: START })
    expect(status).toBe(200)
    expect(body).toEqual({ id: expect.stringMatching(/^[0-9a-f-]{36}$/), trace_id: expect.any(String) })
    const read = await post('/call/read', { project_id: 'acme/demo', id: body.id })
    expect(read.body.call).toMatchObject({ op_name: 'predict', started_at: START.started_at })
  })
})
