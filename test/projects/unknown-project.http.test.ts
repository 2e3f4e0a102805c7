import { describe, expect, it } from 'vitest'
import { buildTestApp } from '../support/build-test-app.ts'

const HEADER = 'x-weft-project'
const start = (project_id: string) => ({
  start: {
    project_id,
    op_name: 'a',
    started_at: '2026-01-31T09:30:00Z',
    attributes: {},
    inputs: {},
  },
})

/** Reads of a project, one of each kind, some as a stream. */
const READS: readonly (readonly [url: string, body: object])[] = [
  ['/calls/stats', { start: '2026-01-01T00:00:00Z' }],
  ['/calls/stream_query', {}],
  ['/calls/query_stats', {}],
  ['/call/read', { id: 'none' }],
  ['/feedback/query', {}],
  ['/feedback/payload_schema', { start: '2026-01-01T00:00:00Z' }],
  ['/objs/query', {}],
  ['/threads/stream_query', {}],
  ['/annotation_queues/query', {}],
  ['/traces/calls/stream_query', {}],
]

describe('a project to which nothing was written', () => {
  it.each(READS)(
    'is told in a header of %s, and no more after its first call',
    async (url, rest) => {
      const { post } = await buildTestApp()
      const body = { project_id: 'acme/new', ...rest }
      expect((await post(url, body)).headers[HEADER]).toBe('unknown')
      expect((await post('/call/start', start('acme/new'))).status).toBe(200)
      expect((await post(url, body)).headers[HEADER]).toBeUndefined()
    },
  )

  it('is known after anything else that is written to it', async () => {
    const { post } = await buildTestApp()
    const project_id = 'acme/rated'
    const feedback = {
      project_id,
      weave_ref: `weave:///${project_id}/object/answer:v1`,
      feedback_type: 'rating',
      payload: {},
    }
    const written = await post('/feedback/create', feedback)
    expect([written.status, written.headers[HEADER]]).toEqual([200, undefined])
    expect((await post('/calls/query_stats', { project_id })).headers[HEADER]).toBeUndefined()
  })

  it('is not told to keys that may not use it', async () => {
    const { post, createKey } = await buildTestApp()
    const key = await createKey({ scopes: ['traces:read'], projects: ['acme/other'] })
    const refused = await post('/calls/query_stats', { project_id: 'acme/new' }, { key })
    expect([refused.status, refused.headers[HEADER]]).toEqual([403, undefined])
  })
})
