import { describe, expect, it } from 'vitest'
import { openPhoenix } from '../../src/imports/phoenix.ts'
import { makeTempDir } from '../support/temp-dir.ts'
import { importInto, importServed, optionsOf, recordsOf, serveApi, Turns } from './importing.ts'

const TRACE = '5b8efff798038103d269b633813fc60c'
const [ROOT, MODEL] = ['eee19b7ec3c1b171', 'eee19b7ec3c1b172']
const TIME = '2026-05-28T20:26:44+00:00'

const root = {
  id: 'U3BhbjoxMQ==',
  name: 'answer',
  context: { trace_id: TRACE, span_id: ROOT },
  span_kind: 'CHAIN',
  parent_id: null,
  start_time: '2026-05-28T20:26:40.123457+00:00',
  end_time: '2026-05-28T20:26:41.023457+00:00',
  status_code: 'ERROR',
  status_message: 'no such item',
  attributes: {
    'input.value': '{"q": "ü"}',
    'input.mime_type': 'application/json',
    'session.id': 's1',
    'metadata.tier': 'gold',
    'tag.tags': ['a'],
  },
  events: [{ name: 'exception', timestamp: TIME, attributes: { 'exception.type': 'ValueError' } }],
}
const model = {
  id: 'U3BhbjoxMg==',
  name: 'ChatCompletion',
  context: { trace_id: TRACE, span_id: MODEL },
  span_kind: 'LLM',
  parent_id: ROOT,
  start_time: '2026-05-28T20:26:40.124458+00:00',
  end_time: '2026-05-28T20:26:40.623458+00:00',
  status_code: 'OK',
  status_message: '',
  attributes: {
    'llm.model_name': 'gpt-5.4',
    'llm.provider': 'openai',
    'llm.invocation_parameters': '{"temperature": 0.5}',
    'llm.input_messages.0.message.role': 'user',
    'llm.input_messages.0.message.content': 'hello',
    'llm.output_messages.0.message.role': 'assistant',
    'llm.output_messages.0.message.content': 'hi',
    'llm.token_count.prompt': 100,
    'llm.token_count.completion': 20,
    'llm.token_count.prompt_details.cache_read': 40,
  },
  events: [],
}
const annotation = (id: string, fields: object) => ({
  id,
  created_at: TIME,
  updated_at: TIME,
  source: 'API',
  user_id: null,
  annotator_kind: 'HUMAN',
  metadata: {},
  identifier: '',
  ...fields,
})
const list = (data: unknown[], next_cursor: string | null = null) => ({ data, next_cursor })

const PROJECT_PATH = '/v1/projects/default'
const RESPONSES = {
  [`GET ${PROJECT_PATH}/spans?limit=100&order=asc`]: list([root], 'U3BhbjoxMg=='),
  [`GET ${PROJECT_PATH}/spans?limit=100&order=asc&cursor=U3BhbjoxMg==`]: list([model]),
  [`GET ${PROJECT_PATH}/span_annotations?span_ids=${ROOT}&limit=1000`]: list([
    annotation('QTox', {
      name: 'note',
      span_id: ROOT,
      result: { label: null, score: null, explanation: 'see the item' },
    }),
  ]),
  [`GET ${PROJECT_PATH}/span_annotations?span_ids=${MODEL}&limit=1000`]: list([
    annotation('QToy', {
      name: 'correctness',
      span_id: MODEL,
      metadata: { k: 1 },
      result: { label: 'bad', score: 0, explanation: 'because' },
    }),
  ]),
  [`GET ${PROJECT_PATH}/trace_annotations?trace_ids=${TRACE}&limit=1000`]: list([
    annotation('QToz', { name: 'overall', trace_id: TRACE, result: { score: 1, label: 'ok' } }),
  ]),
  'GET /v1/datasets?limit=10': list([{ id: 'RDox', name: 'Questions', description: 'some' }]),
  'GET /v1/datasets/RDox/versions?limit=100': list([
    { version_id: 'Vjoy', created_at: TIME },
    { version_id: 'Vjox', created_at: TIME },
  ]),
  'GET /v1/datasets/RDox/examples?version_id=Vjox': {
    data: {
      examples: [{ id: 'e1', node_id: 'e1', input: { q: '1' }, output: { a: 'x' }, metadata: {} }],
    },
  },
  'GET /v1/datasets/RDox/examples?version_id=Vjoy': {
    data: {
      examples: [
        { id: 'e1', node_id: 'e1', input: { q: '1' }, output: { a: 'x' }, metadata: {} },
        { id: 'e2', node_id: 'e2', input: { q: '2' }, output: {}, metadata: { m: 1 } },
      ],
    },
  },
  'GET /v1/prompts?limit=10': list([{ id: 'UDox', name: 'greet', description: 'greets' }]),
  'GET /v1/prompts/greet/versions?limit=100': list([
    {
      id: 'VVoy',
      model_name: 'gpt-5.4',
      template: { type: 'chat', messages: [{ role: 'user', content: 'Hello {{q}}' }] },
      template_format: 'MUSTACHE',
    },
    { id: 'VVox', template: { type: 'string', template: 'Hi {{q}}' }, template_format: 'MUSTACHE' },
  ]),
  'GET /v1/prompt_versions/VVoy/tags?limit=100': list([{ name: 'production' }, { name: 'latest' }]),
  'GET /v1/prompt_versions/VVox/tags?limit=100': list([]),
}

describe('weft import --from phoenix', () => {
  it('reads spans with ids, times, messages and usage, and changes nothing the second time', async () => {
    const { report, records } = await importServed(openPhoenix, RESPONSES)
    expect(report).toEqual({
      counts: { calls: 2, feedback: 3, datasets: 2, rows: 3, objects: 2, files: 0 },
      left: {},
    })
    const [first, second] = records.calls
    expect(first).toMatchObject({
      id: ROOT,
      trace_id: TRACE,
      thread_id: 's1',
      op_name: 'answer',
      started_at: '2026-05-28T20:26:40.123457Z',
      ended_at: '2026-05-28T20:26:41.023457Z',
      exception: 'no such item',
      attributes: { kind: 'chain', metadata: { tier: 'gold' }, tag: { tags: ['a'] } },
      inputs: { q: 'ü' },
      otel_dump: { events: [{ name: 'exception' }] },
    })
    expect(second).toMatchObject({
      id: MODEL,
      parent_id: ROOT,
      inputs: {
        model: 'gpt-5.4',
        temperature: 0.5,
        messages: [{ role: 'user', content: 'hello' }],
      },
      output: { choices: [{ message: { role: 'assistant', content: 'hi' } }] },
      summary: {
        usage: {
          'gpt-5.4': {
            prompt_tokens: 100,
            completion_tokens: 20,
            prompt_tokens_details: { cached_tokens: 40 },
          },
        },
      },
    })
  })

  it('attaches annotations of spans to their calls, those of traces to the root, and notes as notes', async () => {
    const { records } = await importServed(openPhoenix, RESPONSES)
    const found = Object.fromEntries(records.feedback.map((one) => [one.feedback_type, one]))
    const of = (id: string) => `weave:///acme/demo/call/${id}`
    expect(found).toMatchObject({
      correctness: {
        weave_ref: of(MODEL),
        created_at: '2026-05-28T20:26:44.000000Z',
        payload: { score: 0, label: 'bad', explanation: 'because', metadata: { k: 1 } },
      },
      overall: { weave_ref: of(ROOT), payload: { score: 1, label: 'ok' } },
      'wandb.note': { weave_ref: of(ROOT), payload: { note: 'see the item' } },
    })
  })

  it('keeps the order of versions of datasets and prompts, and tags as aliases', async () => {
    const { records } = await importServed(openPhoenix, RESPONSES)
    const shown = records.objects.map(({ object_id, version_index, aliases }) => [
      object_id,
      version_index,
      aliases,
    ])
    expect(shown).toEqual([
      ['Questions', 0, []],
      ['Questions', 1, []],
      ['greet', 0, []],
      ['greet', 1, ['production']],
    ])
    expect(records.rows).toContainEqual({
      id: 'e2',
      input: { q: '2' },
      output: {},
      metadata: { m: 1 },
    })
    expect(records.objects.slice(2).map(({ val }) => val)).toMatchObject([
      { _class_name: 'StringPrompt', content: 'Hi {{q}}', description: 'greets' },
      { _class_name: 'MessagesPrompt', messages: [{ role: 'user' }], model_name: 'gpt-5.4' },
    ])
  })

  it('sends the key, repeats what fails for a moment, and names no key in errors', async () => {
    const path = `GET ${PROJECT_PATH}/spans?limit=100&order=asc`
    const { url, requests } = await serveApi({
      ...RESPONSES,
      [path]: new Turns(503, RESPONSES[path]),
    })
    const options = optionsOf(url, { PHOENIX_API_KEY: 'px-secret' })
    await importInto(makeTempDir(), openPhoenix(options))
    expect(requests.map(({ url: path }) => path).slice(0, 2)).toEqual([
      `${PROJECT_PATH}/spans?limit=100&order=asc`,
      `${PROJECT_PATH}/spans?limit=100&order=asc`,
    ])
    expect(new Set(requests.map(({ authorization }) => authorization))).toEqual(
      new Set(['Bearer px-secret']),
    )
    const refused = importInto(makeTempDir(), openPhoenix({ ...options, sourceName: 'none' }))
    await expect(refused).rejects.toThrow(
      /^GET http:\S+\/v1\/projects\/none\/spans responds with 404/,
    )
    await expect(refused).rejects.not.toThrow(/px-secret/)
  })

  it('loses and counts nothing twice when it ends between a page and its position', async () => {
    const { url } = await serveApi(RESPONSES)
    const open = () => openPhoenix(optionsOf(url))
    const whole = makeTempDir()
    const report = await importInto(whole, open())
    const { files } = await recordsOf(whole)
    // Spans, versions of a dataset, versions of a prompt.
    for (const pages of [0, 3, 6]) {
      const dataDir = makeTempDir()
      await expect(importInto(dataDir, open(), pages)).rejects.toThrow('killed')
      expect(await importInto(dataDir, open())).toEqual(report)
      expect((await recordsOf(dataDir)).files).toEqual(files)
    }
  })

  it('goes on with the page that failed', async () => {
    const dataDir = makeTempDir()
    const second = `GET ${PROJECT_PATH}/spans?limit=100&order=asc&cursor=U3BhbjoxMg==`
    const { url, requests } = await serveApi({
      ...RESPONSES,
      [second]: new Turns(400, list([model])),
    })
    await expect(importInto(dataDir, openPhoenix(optionsOf(url)))).rejects.toThrow(
      /responds with 400/,
    )
    const before = requests.length
    const report = await importInto(dataDir, openPhoenix(optionsOf(url)))
    expect(requests[before]?.url).toContain('cursor=')
    expect(report.counts).toMatchObject({ calls: 2, feedback: 3 })
  })
})
