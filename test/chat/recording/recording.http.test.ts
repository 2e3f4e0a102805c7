import { describe, expect, it, vi } from 'vitest'
import { ApiError } from '../../../src/errors.ts'
import { INPUT_CHARS_MAX } from '../../../src/inference/chat/record/completion-recorder.ts'
import type { RecordingLoss, RecordingStore } from '../../../src/store/api/chat/recordings.ts'
import { buildTestApp } from '../../support/build-test-app.ts'
import {
  createScriptedBackend,
  finish,
  HELLO,
  piece,
  prompt,
  type Step,
  scriptedModels,
} from '../../support/scripted-backend.ts'

const URL = '/v1/chat/completions'
const PROJECT = 'acme/demo'
const HEADERS = { 'Compat-Project': PROJECT }
const MESSAGES = [{ role: 'user', content: 'hi' }]

async function buildRecordingApp(script: readonly Step[] = HELLO, config = {}) {
  const backend = createScriptedBackend(script)
  const models = scriptedModels({ backend, aliases: ['nick'] })
  const test = await buildTestApp(config, { models })
  /** The recorded call of an answer, once it is there. */
  async function readCall(headers: Record<string, unknown>) {
    const read = () =>
      test.post('/call/read', { project_id: PROJECT, id: String(headers['x-weft-call-id']) })
    await expect.poll(async () => (await read()).status).toBe(200)
    return (await read()).body.call
  }
  async function complete(body: object, headers: Record<string, string> = HEADERS) {
    const answer = await test.post(URL, { messages: MESSAGES, ...body }, { headers })
    return { answer, call: await readCall(answer.headers) }
  }
  return { ...test, backend, readCall, complete }
}

describe('a completion with a project', () => {
  it('a completion with a project becomes its call, under the id in the response', async () => {
    const { complete } = await buildRecordingApp()
    const { answer, call } = await complete({ model: 'nick', user: 'u', request_id: 'r-1' })
    expect(answer.status).toBe(200)
    expect(call).toMatchObject({
      project_id: PROJECT,
      op_name: 'chat.completions',
      exception: null,
      svc_user_id: 'u-1',
      svc_username: 'User One',
      parent_id: null,
      attributes: {
        model: 'scripted',
        backend: 'scripted',
        request_id: 'r-1',
        stream: false,
        user: 'u',
      },
      inputs: { model: 'nick', messages: MESSAGES, user: 'u', request_id: 'r-1' },
      output: {
        choices: [
          { index: 0, message: { role: 'assistant', content: 'Hello' }, finish_reason: 'stop' },
        ],
      },
      summary: {
        usage: { scripted: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 } },
        weave: { status: 'success' },
      },
    })
    expect(call.ended_at >= call.started_at).toBe(true)
  })

  it('a recorded call can be read as soon as its header arrived, alone and in a list', async () => {
    const { post } = await buildRecordingApp()
    const ask = async () => {
      const { headers } = await post(URL, { messages: MESSAGES }, { headers: HEADERS })
      return headers['x-weft-call-id']
    }
    const id = await ask()
    expect((await post('/call/read', { project_id: PROJECT, id })).status).toBe(200)
    const call_ids = [await ask()]
    const { text } = await post('/calls/stream_query', {
      project_id: PROJECT,
      filter: { call_ids },
    })
    expect(text).toContain(`"id":"${call_ids[0]}"`)
  })

  it.each(['Compat-Project', 'OpenAI-Project'])(
    'a recorded completion is found by %s',
    async (name) => {
      const { complete } = await buildRecordingApp()
      const { call } = await complete({}, { [name]: PROJECT })
      expect(call.project_id).toBe(PROJECT)
    },
  )

  it('a recorded stream is joined and has the time of its first text', async () => {
    const { complete } = await buildRecordingApp([
      prompt(),
      piece('b', { index: 1 }),
      piece('', { reasoning: 'why' }),
      piece('a'),
      finish({ index: 1, finish_reason: 'length' }),
      finish({ stop_reason: 7 }),
    ])
    const { call } = await complete({ stream: true, n: 2 })
    expect(call.output.choices).toEqual([
      {
        index: 0,
        message: {
          role: 'assistant',
          content: 'a',
          reasoning: 'why',
          reasoning_content: 'why',
        },
        finish_reason: 'stop',
        stop_reason: 7,
      },
      { index: 1, message: { role: 'assistant', content: 'b' }, finish_reason: 'length' },
    ])
    expect(call.attributes.stream).toBe(true)
    expect(call.summary.time_to_first_token_ms).toBeGreaterThan(0)
    expect(call.summary.usage.scripted.total_tokens).toBe(6)
  })

  it.each([false, true])(
    'a recorded completion has the id, time and model of the response, streamed: %s',
    async (stream) => {
      const { complete } = await buildRecordingApp()
      const { answer, call } = await complete({ model: 'nick', request_id: 'r-1', stream })
      const [, created] = /"created":(\d+)/.exec(answer.text) ?? []
      expect(call.output).toMatchObject({
        id: 'chatcmpl-r-1',
        created: Number(created),
        model: 'nick',
      })
    },
  )

  it('a recorded completion has every digit of the request', async () => {
    const { post, readCall } = await buildRecordingApp()
    const body = '{"messages":[{"role":"user","content":"hi"}],"seed":9223372036854775807}'
    const { headers } = await post(URL, body, { headers: HEADERS })
    await readCall(headers)
    const id = headers['x-weft-call-id']
    const { text } = await post('/call/read', { project_id: PROJECT, id })
    expect(text).toContain('9223372036854775807')
  })

  it.each([false, true])('a failed completion has an exception, stream %s', async (stream) => {
    const error = new ApiError('upstream_unreachable')
    const { complete } = await buildRecordingApp([error])
    const { answer, call } = await complete({ stream })
    expect(answer.status).toBe(502)
    expect(call).toMatchObject({ output: null, summary: { weave: { status: 'error' } } })
    expect(call.exception).toMatch(/^upstream_unreachable: /)
  })

  it('a broken completion has an exception, its partial output, and its usage so far', async () => {
    const { complete } = await buildRecordingApp([prompt(), piece('Hel'), new Error('secret')])
    const { call } = await complete({ stream: true })
    expect(call.exception).toMatch(/^internal_error: /)
    expect(JSON.stringify(call)).not.toContain('secret')
    expect(call.output.choices).toEqual([
      { index: 0, message: { role: 'assistant', content: 'Hel' }, finish_reason: null },
    ])
    expect(call.summary.usage.scripted.completion_tokens).toBe(1)
  })

  it('completions count in the statistics of their project, by model, with errors', async () => {
    const { complete, post } = await buildRecordingApp()
    for (let at = 0; at < 3; at++) await complete({ stream: at === 1 })
    const now = Date.now()
    const { body } = await post('/calls/stats', {
      project_id: PROJECT,
      start: new Date(now - 3_600_000).toISOString(),
      end: new Date(now + 3_600_000).toISOString(),
      granularity: 7_200,
      usage_metrics: [{ metric: 'total_tokens' }],
      call_metrics: [{ metric: 'error_count' }],
    })
    const sum = (list: { [name: string]: number }[], name: string) =>
      list.reduce((total, bucket) => total + (bucket[name] ?? 0), 0)
    expect(sum(body.usage_buckets, 'sum_total_tokens')).toBe(15)
    expect(sum(body.call_buckets, 'count')).toBe(3)
    expect(sum(body.call_buckets, 'sum_error_count')).toBe(0)
  })

  it('a recorded completion needs no scope other than inference', async () => {
    const { post, createKey, readCall } = await buildRecordingApp()
    const key = await createKey({ scopes: ['inference'], projects: ['acme/*'] })
    const { headers } = await post(URL, { messages: MESSAGES }, { key, headers: HEADERS })
    expect((await readCall(headers)).inputs.messages).toEqual(MESSAGES)
  })

  it('a completion too large to store is recorded with its size', async () => {
    const { complete } = await buildRecordingApp()
    const content = 'x'.repeat(INPUT_CHARS_MAX)
    const { call } = await complete({ messages: [{ role: 'user', content }] })
    expect(call.inputs).toEqual({ omitted_chars: expect.any(Number) })
  })

  it('a completion is answered when the store is full, and the loss is logged', async () => {
    let tell: (loss: RecordingLoss) => void = () => undefined
    const error = new ApiError('server_overloaded')
    const recordings: RecordingStore = {
      announce: () => () => undefined,
      add: () => tell({ count: 1, error }),
      flush: async () => undefined,
      onLoss(listener) {
        tell = listener
      },
    }
    const models = scriptedModels({ backend: createScriptedBackend(HELLO) })
    const test = await buildTestApp({}, { models, recordings })
    const log = vi.spyOn(test.app.log, 'error')
    const { status } = await test.post(URL, { messages: MESSAGES }, { headers: HEADERS })
    expect(status).toBe(200)
    const named = { err: error, count: 1 }
    await expect.poll(() => log.mock.calls).toEqual([[named, 'completions not recorded']])
  })

  it('a completion that admission refuses is not recorded', async () => {
    const { promise, resolve } = Promise.withResolvers<void>()
    const { post, backend, readCall } = await buildRecordingApp([promise, ...HELLO], {
      chatQueueMax: 1,
    })
    const first = post(URL, { messages: MESSAGES }, { headers: HEADERS })
    while (backend.runningCount() === 0) await new Promise(setImmediate)
    const refused = await post(URL, { messages: MESSAGES }, { headers: HEADERS })
    expect(refused.status).toBe(503)
    resolve()
    // The calls of one gathering are written together.
    await readCall((await first).headers)
    const id = refused.headers['x-weft-call-id']
    expect((await post('/call/read', { project_id: PROJECT, id })).status).toBe(404)
  })

  it('a completion is recorded before a closing server has closed', async () => {
    const { app, deps, post } = await buildRecordingApp()
    const { headers } = await post(URL, { messages: MESSAGES }, { headers: HEADERS })
    await app.close()
    const call = await deps.calls.findCall(PROJECT, String(headers['x-weft-call-id']))
    expect(call?.ended_at_us).toEqual(expect.any(Number))
  })
})

describe('a completion without a project', () => {
  it('a completion without a project is not recorded', async () => {
    const { post } = await buildRecordingApp()
    const { headers } = await post(URL, { messages: MESSAGES })
    expect(headers).not.toHaveProperty('x-weft-call-id')
  })
})
