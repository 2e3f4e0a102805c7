import { describe, expect, it } from 'vitest'
import { QUERY_BODY_BYTES_MAX } from '../../src/http/body/json-body.ts'
import { buildTestApp } from '../support/build-test-app.ts'

const long = 'x'.repeat(QUERY_BODY_BYTES_MAX)
const project_id = 'acme/demo'
const inputs = { long }

describe('a body of more than 4 MiB', () => {
  it.each([
    ['/calls/stream_query', { project_id, query: { $expr: { $literal: long } } }],
    ['/traces/calls/stream_query', { project_id, query: { $expr: { $literal: long } } }],
    ['/calls/delete', { project_id, call_ids: [long] }],
    ['/refs/read_batch', { refs: [long] }],
    ['/cost/create', { project_id, costs: { [long]: {} } }],
  ])('is refused by %s, which stores no content', async (url, body) => {
    const { post } = await buildTestApp()
    const { status, body: response } = await post(url, body)
    expect([status, response.error.code]).toEqual([413, 'request_too_large'])
  })

  it.each([
    [
      '/call/start',
      200,
      {
        start: {
          project_id,
          op_name: 'a',
          started_at: '2026-01-31T09:30:00Z',
          attributes: {},
          inputs,
        },
      },
    ],
    ['/obj/create', 200, { obj: { project_id, object_id: 'a', val: inputs } }],
    ['/table/create_from_digests', 422, { project_id, row_digests: [long] }],
    [
      '/completions/create',
      404,
      { project_id, inputs: { model: 'none', messages: [{ role: 'user', content: long }] } },
    ],
    ['/v1/chat/completions', 404, { model: 'none', messages: [{ role: 'user', content: long }] }],
  ])('is taken by %s', async (url, expected, body) => {
    const { post } = await buildTestApp()
    expect((await post(url, body)).status).toBe(expected)
  })

  it('is taken as a file', async () => {
    const { app, key } = await buildTestApp()
    const form = new FormData()
    form.set('project_id', project_id)
    form.set('file', new Blob([long]), 'a.txt')
    const { headers, body } = new Response(form) as { headers: Headers; body: ReadableStream }
    const response = await app.inject({
      method: 'POST',
      url: '/file/create',
      headers: {
        authorization: `Basic ${btoa(`api:${key}`)}`,
        'content-type': headers.get('content-type') ?? '',
      },
      payload: Buffer.concat(await Array.fromAsync(body as AsyncIterable<Uint8Array>)),
    })
    expect(response.statusCode).toBe(200)
  })
})
