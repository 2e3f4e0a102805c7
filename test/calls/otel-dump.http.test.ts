import { describe, expect, it } from 'vitest'
import { buildTestApp } from '../support/build-test-app.ts'

const START = {
  project_id: 'acme/demo',
  op_name: 'answer',
  started_at: '2026-01-31T09:30:00Z',
  inputs: {},
}
const DUMP = { name: 'the span of the dump', kind: 1 }

describe('the otel_dump of a call', () => {
  it.each([
    ['as otel_span', {}, 'otel_span'],
    ['as otel_dump beside an otel_span of the client', { otel_span: 'mine' }, 'otel_dump'],
    ['as _otel_dump beside both of the client', { otel_span: 'mine', otel_dump: 2 }, '_otel_dump'],
  ])('is shown %s, however the call is read', async (_, attributes, name) => {
    const { post } = await buildTestApp()
    const project_id = START.project_id
    await post('/call/start', { start: { ...START, id: 'a', attributes, otel_dump: DUMP } })
    const expected = { ...attributes, [name]: DUMP }
    const { body } = await post('/call/read', { project_id, id: 'a' })
    expect(body.call.attributes).toEqual(expected)
    for (const [field, value] of Object.entries(expected)) {
      const query = {
        $expr: { $eq: [{ $getField: `attributes.${field}` }, { $literal: value }] },
      }
      const { text } = await post('/calls/stream_query', { project_id, query })
      expect(JSON.parse(text).attributes).toEqual(expected)
    }
  })

  it('counts in storage_size_bytes', async () => {
    const { post } = await buildTestApp()
    const sizes: number[] = []
    for (const otel_dump of [null, DUMP]) {
      const id = `size-${otel_dump === null}`
      await post('/call/start', { start: { ...START, id, attributes: {}, otel_dump } })
      const asked = { project_id: START.project_id, id, include_storage_size: true }
      sizes.push((await post('/call/read', asked)).body.call.storage_size_bytes)
    }
    expect(sizes[1]).toBe((sizes[0] ?? 0) + JSON.stringify(DUMP).length)
  })
})
