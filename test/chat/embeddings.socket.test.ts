import OpenAI from 'openai'
import { describe, expect, it } from 'vitest'
import type { EmbeddingRequest } from '../../src/schemas/chat/services/embeddings.ts'
import { buildTestApp } from '../support/build-test-app.ts'
import { json, startFakeUpstream } from '../support/fake-upstream.ts'
import { startModelServer, upstreamModel } from '../support/model-server.ts'
import type { RowsOf } from '../support/rows-of.ts'
import { createScriptedBackend, HELLO, scriptedModels } from '../support/scripted-backend.ts'
import { inTurn } from '../support/upstream-answers.ts'

const USAGE = { prompt_tokens: 3, total_tokens: 3 }
const BASE64 = Buffer.from(Float32Array.of(0.5, -2).buffer).toString('base64')

function answerOf(embedding: unknown) {
  const data = [{ object: 'embedding', index: 0, embedding }]
  return json(200, { object: 'list', data, model: 'up', usage: USAGE, engine_says: 1 })
}

async function startClient(behaviour = answerOf(BASE64)) {
  const upstream = await startFakeUpstream(behaviour)
  const models = upstreamModel(upstream.baseUrl, { upstreamModel: 'up' })
  const server = await startModelServer(models)
  const client = new OpenAI({ baseURL: server.baseUrl, apiKey: server.key, maxRetries: 0 })
  return { ...server, client, upstream }
}

/** For every field, values that pass and one that is refused. */
const ROWS: RowsOf<EmbeddingRequest> = {
  input: [['a', ['a', 'b'], [1, 2], [[1], [2, 3]]], []],
  model: [['short', null], 5],
  encoding_format: [['float', 'base64', null], 'hex'],
  dimensions: [[2], 0],
  user: [['u'], 5],
}

describe('POST /v1/embeddings', () => {
  it('the openai package gets its vectors, base64 by default', async () => {
    const { client, upstream } = await startClient()
    const made = await client.embeddings.create({ model: 'short', input: 'hi', dimensions: 2 })
    expect(made.data[0]?.embedding).toEqual([0.5, -2])
    expect(made.usage).toEqual(USAGE)
    expect(upstream.requests[0]?.url).toBe('/v1/embeddings')
    expect(JSON.parse(upstream.requests[0]?.body ?? '')).toEqual({
      model: 'up',
      input: 'hi',
      dimensions: 2,
      encoding_format: 'base64',
    })
  })

  it('embeddings that an upstream surely did not process are retried', async () => {
    const { client, upstream } = await startClient(inTurn(json(503, {}), answerOf([1])))
    const made = await client.embeddings.create({
      model: 'short',
      input: [1, 2],
      encoding_format: 'float',
    })
    expect([made.data[0]?.embedding, upstream.requests.length]).toEqual([[1], 2])
  })

  it('embeddings are recorded as a call of their project, with usage', async () => {
    const { post } = await startClient()
    const headers = { 'compat-project': 'acme/demo' }
    const body = { model: 'short', input: 'hi' }
    const { headers: told, body: answer } = await post('/v1/embeddings', body, { headers })
    const id = String(told['x-weft-call-id'])
    const { call } = (await post('/call/read', { project_id: 'acme/demo', id })).body
    expect(call).toMatchObject({
      op_name: 'embeddings',
      inputs: body,
      output: answer,
      summary: { usage: { 'org/relayed': { prompt_tokens: 3 } } },
    })
    expect(answer.engine_says).toBe(1)
  })

  it('a model without embeddings and an invalid upstream response are refused by name', async () => {
    const backend = createScriptedBackend(HELLO)
    const { post } = await buildTestApp({}, { models: scriptedModels({ backend }) })
    const { status, body } = await post('/v1/embeddings', { input: 'hi' })
    expect([status, body.error.param, body.error.code]).toEqual([
      404,
      'model',
      'capability_missing',
    ])
    const broken = await startClient(json(200, { choices: [] }))
    expect((await broken.post('/v1/embeddings', { input: 'hi' })).body.error.code).toBe(
      'upstream_invalid_response',
    )
  })

  it.each(Object.entries(ROWS))('embeddings check %s', async (name, [passing, refused]) => {
    const { post, upstream } = await startClient()
    for (const value of passing) {
      expect((await post('/v1/embeddings', { input: 'hi', [name]: value })).status).toBe(200)
    }
    expect(upstream.requests.length).toBe(passing.length)
    const { status, body } = await post('/v1/embeddings', { input: 'hi', [name]: refused })
    expect([status, body.error.param]).toEqual([400, name])
  })
})
