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
  it('does not overwrite the otel_span that the client set, however it is read', async () => {
    const { post } = await buildTestApp()
    const project_id = START.project_id
    const attributes = { otel_span: 'mine' }
    await post('/call/start', { start: { ...START, id: 'own', attributes, otel_dump: DUMP } })
    await post('/call/start', { start: { ...START, id: 'none', attributes: {}, otel_dump: DUMP } })
    const shown = async (id: string) => {
      const { body } = await post('/call/read', { project_id, id })
      const filter = { call_ids: [id] }
      const { text } = await post('/calls/stream_query', { project_id, filter })
      return [body.call.attributes.otel_span, JSON.parse(text).attributes.otel_span]
    }
    expect(await shown('own')).toEqual(['mine', 'mine'])
    expect(await shown('none')).toEqual([DUMP, DUMP])
    const query = {
      $expr: { $eq: [{ $getField: 'attributes.otel_span' }, { $literal: 'mine' }] },
    }
    const { text } = await post('/calls/stream_query', { project_id, query })
    expect(JSON.parse(text).id).toBe('own')
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
