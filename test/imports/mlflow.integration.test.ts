import { describe, expect, it } from 'vitest'
import { openMlflow } from '../../src/imports/mlflow.ts'
import { makeTempDir } from '../support/temp-dir.ts'
import { importInto, importServed, optionsOf, serveApi } from './importing.ts'

const TRACE = '5b8efff798038103d269b633813fc60c'
const [ROOT, MODEL] = ['eee19b7ec3c1b171', 'eee19b7ec3c1b172']
const TIME = '2026-11-28T11:46:29.714Z'

const base64 = (hex: string) => Buffer.from(hex, 'hex').toString('base64')
const text = (key: string, string_value: string) => ({ key, value: { string_value } })
const map = (...values: object[]) => ({ kvlist_value: { values } })
const span = (id: string, fields: object) => ({
  trace_id: base64(TRACE),
  span_id: base64(id),
  start_time_unix_nano: JSON.rawJSON('1795866378974164902'),
  end_time_unix_nano: JSON.rawJSON('1795866379135721001'),
  status: { code: 'STATUS_CODE_OK' },
  ...fields,
})
const usage = [
  { key: 'prompt_tokens', value: { int_value: 100 } },
  { key: 'completion_tokens', value: { int_value: 20 } },
  { key: 'prompt_tokens_details', value: map({ key: 'cached_tokens', value: { int_value: 40 } }) },
]
const message = (role: string, content: string) => map(text('role', role), text('content', content))
const SPANS = [
  span(ROOT, {
    name: 'answer',
    attributes: [
      text('mlflow.spanType', 'CHAIN'),
      { key: 'mlflow.spanInputs', value: map(text('q', 'ü')) },
      text('mlflow.spanOutputs', 'done'),
    ],
  }),
  span(MODEL, {
    parent_span_id: base64(ROOT),
    name: 'chat',
    attributes: [
      text('mlflow.spanType', 'CHAT_MODEL'),
      text('mlflow.llm.model', 'gpt-5.4'),
      {
        key: 'mlflow.spanInputs',
        value: map(text('model', 'gpt-5.4'), {
          key: 'messages',
          value: { array_value: { values: [message('user', 'hello')] } },
        }),
      },
      {
        key: 'mlflow.spanOutputs',
        value: map(
          {
            key: 'choices',
            value: {
              array_value: { values: [map({ key: 'message', value: message('assistant', 'hi') })] },
            },
          },
          { key: 'usage', value: map(...usage) },
        ),
      },
    ],
  }),
]

const assessment = (id: string, fields: object) => ({
  assessment_id: id,
  trace_id: `tr-${TRACE}`,
  source: { source_type: 'HUMAN', source_id: 'reviewer' },
  create_time: TIME,
  valid: true,
  ...fields,
})
const INFO = {
  trace_id: `tr-${TRACE}`,
  trace_metadata: { 'mlflow.trace.session': 's1', 'mlflow.trace.user': 'u1', region: 'eu' },
  tags: { 'mlflow.trace.spansLocation': 'TRACKING_STORE', tier: 'gold' },
  assessments: [
    assessment('a-1', { assessment_name: 'correct', feedback: { value: false }, rationale: 'why' }),
    assessment('a-2', { assessment_name: 'on_span', span_id: MODEL, feedback: { value: 0.5 } }),
    assessment('a-3', {
      assessment_name: 'expected',
      expectation: {
        serialized_value: { serialization_format: 'JSON_FORMAT', value: '{"a":[1]}' },
      },
    }),
    assessment('a-4', {
      assessment_name: 'broken',
      valid: false,
      feedback: { value: null, error: { error_code: 'ValueError' } },
    }),
  ],
}

const SEARCH = {
  locations: [{ type: 'MLFLOW_EXPERIMENT', mlflow_experiment: { experiment_id: '7' } }],
  max_results: 20,
  order_by: ['timestamp_ms ASC'],
}
const post = (path: string, body: object) => `POST /api/3.0/mlflow/${path}${JSON.stringify(body)}`
const get = (path: string) => `GET /api/2.0/mlflow/${path}`
const IS_PROMPT = "tags.`mlflow.prompt.is_prompt`+=+'true'"
const record = (id: string, q: string) => ({
  dataset_record_id: id,
  inputs: { q },
  outputs: {},
  expectations: { a: 'x' },
  tags: { 'mlflow.user': 'someone', m: '1' },
})
const version = (number: string, type: string, content: string) => ({
  name: "it's",
  version: number,
  creation_timestamp: 1795866392316,
  description: `version ${number}`,
  tags: [
    { key: 'mlflow.prompt.is_prompt', value: 'true' },
    { key: '_mlflow_prompt_type', value: type },
    { key: 'mlflow.prompt.text', value: content },
    { key: 'lang', value: 'en' },
  ],
})
/** As clients before 3.4 keep spans, and later ones where they cannot find out the server's version. */
const ARTIFACT = {
  spans: [
    {
      ...span('eee19b7ec3c1b173', { name: 'kept' }),
      parent_span_id: null,
      events: [
        { name: 'exception', time_unix_nano: 1, attributes: { 'exception.type': 'ValueError' } },
      ],
      attributes: { 'mlflow.spanType': '"CHAIN"', 'mlflow.spanInputs': '{"q": "ü"}' },
    },
  ],
}
const RESPONSES = {
  'GET /ajax-api/2.0/mlflow/get-trace-artifact?request_id=tr-kept': ARTIFACT,
  [get('experiments/get-by-name?experiment_name=Default')]: { experiment: { experiment_id: '7' } },
  [post('traces/search', SEARCH)]: {
    traces: [INFO, { trace_id: 'tr-kept', tags: {} }, { trace_id: 'tr-lost', tags: {} }],
    next_page_token: 'p2',
  },
  [post('traces/search', { ...SEARCH, page_token: 'p2' })]: {},
  [`GET /api/3.0/mlflow/traces/batchGet?trace_ids=tr-${TRACE}`]: {
    traces: [{ trace_info: INFO, spans: SPANS }],
  },
  [post('datasets/search', { experiment_ids: ['7'], max_results: 50 })]: {
    datasets: [{ dataset_id: 'd-1', name: 'questions', last_update_time: 1795866392172 }],
  },
  'GET /api/3.0/mlflow/datasets/d-1/records?max_results=500': {
    records: JSON.stringify([record('r1', '1')]),
    next_page_token: 'r2',
  },
  'GET /api/3.0/mlflow/datasets/d-1/records?max_results=500&page_token=r2': {
    records: JSON.stringify([record('r2', '2')]),
  },
  [get(`registered-models/search?filter=${IS_PROMPT}&max_results=50`)]: {
    registered_models: [{ name: "it's", aliases: [{ alias: 'production', version: '2' }] }],
  },
  [get(`model-versions/search?filter=name+=+'it''s'+and+${IS_PROMPT}&max_results=500`)]: {
    model_versions: [
      version('2', 'chat', '[{"role":"user","content":"{{q}}"}]'),
      version('1', 'text', 'Hello {{q}}'),
    ],
  },
}

describe('weft import --from mlflow', () => {
  it('reads spans with ids out of base64, exact times and usage, and changes nothing the second time', async () => {
    const { report, records } = await importServed(openMlflow, RESPONSES)
    expect(report).toEqual({
      counts: { calls: 3, feedback: 4, datasets: 1, rows: 2, objects: 2, files: 0 },
      left: { 'traces whose spans the server cannot read': 1 },
    })
    const [root, model, kept] = [ROOT, MODEL, 'eee19b7ec3c1b173'].map((id) =>
      records.calls.find((call) => call.id === id),
    )
    expect(kept).toMatchObject({
      inputs: { q: 'ü' },
      attributes: { kind: 'chain' },
      otel_dump: { events: [{ attributes: { 'exception.type': 'ValueError' } }] },
    })
    expect(root).toMatchObject({
      id: ROOT,
      trace_id: TRACE,
      thread_id: 's1',
      end_user_id: 'u1',
      started_at: '2026-11-28T11:46:18.974164Z',
      ended_at: '2026-11-28T11:46:19.135721Z',
      attributes: { kind: 'chain', tags: { tier: 'gold' }, metadata: { region: 'eu' } },
      inputs: { q: 'ü' },
      output: 'done',
    })
    expect(model).toMatchObject({
      id: MODEL,
      parent_id: ROOT,
      inputs: { model: 'gpt-5.4', messages: [{ role: 'user', content: 'hello' }] },
      output: { choices: [{ message: { role: 'assistant', content: 'hi' } }] },
      summary: {
        usage: {
          'gpt-5.4': { prompt_tokens: 100, prompt_tokens_details: { cached_tokens: 40 } },
        },
      },
    })
  })

  it('attaches assessments to the root or to their span, with errors and what is expected', async () => {
    const { records } = await importServed(openMlflow, RESPONSES)
    const found = Object.fromEntries(records.feedback.map((one) => [one.feedback_type, one]))
    const of = (id: string) => `weave:///acme/demo/call/${id}`
    expect(found).toMatchObject({
      correct: {
        weave_ref: of(ROOT),
        creator: 'reviewer',
        created_at: '2026-11-28T11:46:29.714000Z',
        payload: { value: false, explanation: 'why', annotator_kind: 'HUMAN' },
      },
      on_span: { weave_ref: of(MODEL), payload: { value: 0.5 } },
      expected: { weave_ref: of(ROOT), payload: { expectation: { a: [1] } } },
      broken: { payload: { value: null, error: { error_code: 'ValueError' }, valid: false } },
    })
  })

  it('reads all records of datasets, and versions of prompts with their aliases', async () => {
    const { records } = await importServed(openMlflow, RESPONSES)
    expect(records.rows).toContainEqual({
      id: 'r2',
      inputs: { q: '2' },
      outputs: {},
      expectations: { a: 'x' },
      tags: { m: '1' },
    })
    const prompts = records.objects.filter(({ object_id }) => String(object_id).startsWith('it_s-'))
    expect(prompts).toMatchObject([
      { version_index: 0, aliases: [], val: { content: 'Hello {{q}}', tags: { lang: 'en' } } },
      { version_index: 1, aliases: ['production'], val: { messages: [{ content: '{{q}}' }] } },
    ])
  })

  it('ends when the server refuses an artifact, and leaves out no trace for that', async () => {
    const path = 'GET /ajax-api/2.0/mlflow/get-trace-artifact?request_id=tr-kept'
    const { url } = await serveApi({ ...RESPONSES, [path]: 403 })
    const refused = importInto(makeTempDir(), openMlflow(optionsOf(url)))
    await expect(refused).rejects.toThrow(/get-trace-artifact responds with 403/)
  })

  it('sends a token, or a name with a password', async () => {
    const { url, requests } = await serveApi({})
    const attempt = (secrets: Record<string, string>) =>
      expect(importInto(makeTempDir(), openMlflow(optionsOf(url, secrets)))).rejects.toThrow(/404/)
    await attempt({ MLFLOW_TRACKING_TOKEN: 'token' })
    await attempt({ MLFLOW_TRACKING_USERNAME: 'user', MLFLOW_TRACKING_PASSWORD: 'pw' })
    expect(requests.map(({ authorization }) => authorization)).toEqual([
      'Bearer token',
      `Basic ${btoa('user:pw')}`,
    ])
  })
})
