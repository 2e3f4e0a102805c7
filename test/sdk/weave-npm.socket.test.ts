import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { describeServerOnEachStore } from '../store/clickhouse/describe-each-store.ts'
import { INHERITED } from '../support/inherited.ts'
import { type SpawnedServer, startServer, TEST_KEY } from '../support/spawn-server.ts'

const PROJECT = 'acme/npm'

// biome-ignore lint/suspicious/noExplicitAny: what the server answers, of every shape.
type Json = any

let folder: string
let server: SpawnedServer
/** What the program saw. */
let seen: Json
let calls: Json[]

/** What the server answers under its own names. */
function ask(path: string, body: object): Promise<Json> {
  return server.postJson(path, { project_id: PROJECT, ...body })
}

async function runProgram(): Promise<string> {
  const args = ['--import', './test/sdk/only-loopback.ts', 'test/sdk/weave-npm-program.ts']
  const child = spawn(process.execPath, args, {
    env: {
      ...INHERITED,
      HOME: folder,
      WF_TRACE_SERVER_URL: `${server.url}/traces`,
      WANDB_BASE_URL: server.url,
      WANDB_API_KEY: TEST_KEY,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  let errors = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    errors += text
  })
  await once(child, 'close')
  expect([child.exitCode, errors]).toEqual([0, ''])
  return output
}

/** The calls of an op, by the op's name. */
function callsOf(name: string): Json[] {
  return calls.filter(({ op_name }) => op_name.startsWith(`weave:///${PROJECT}/op/${name}:`))
}

function callOf(name: string): Json {
  const [call] = callsOf(name)
  return call
}

describeServerOnEachStore('the npm SDK', (openStore) => {
  let store: Awaited<ReturnType<typeof openStore>>
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'weft-sdk-'))
    store = await openStore()
    server = await startServer({ WEFT_DATA_DIR: join(folder, 'data'), ...store.settings })
    const output = await runProgram()
    seen = JSON.parse(output.trimEnd().split('\n').at(-1) ?? '')
    calls = await ask('/calls/stream_query', {})
  })

  afterAll(async () => {
    await server.stop()
    await store.drop()
    rmSync(folder, { recursive: true, force: true })
  })

  it('traces nested ops as one tree', () => {
    const outer = callOf('outer')
    expect(outer).toMatchObject({
      id: seen.nestedId,
      trace_id: seen.traceId,
      parent_id: null,
      inputs: { arg0: 1 },
      output: { text: 'GRÖSSE 1 😀', sum: 5 },
      exception: null,
      svc_user_id: 'bootstrap',
    })
    expect(outer.attributes).toMatchObject({ tenant: 'blue', weave: { source: 'js-sdk' } })
    const children = calls.filter(({ parent_id }) => parent_id === outer.id)
    expect(children).toHaveLength(3)
    expect(children.every(({ trace_id }) => trace_id === outer.trace_id)).toBe(true)
    expect(callsOf('inner').map(({ output }) => output)).toEqual([2, 3])
  })

  it('leaves no call without an end', () => {
    expect(calls.filter(({ ended_at }) => ended_at === null)).toEqual([])
  })

  it('stores the error of an op that throws', () => {
    const { exception, output, summary } = callOf('fail')
    expect(seen.failure).toBe('RangeError: out of range')
    expect([exception, output, summary.weave.status]).toEqual([
      expect.stringContaining('out of range'),
      null,
      'error',
    ])
  })

  it('hands a stream on and stores what it came to', () => {
    expect(seen.chunks).toEqual([1, 2, 3])
    expect(callOf('count').output).toEqual([1, 2, 3])
  })

  it('stores images and sounds as files under their own digests', async () => {
    for (const [name, file, head] of [
      ['paint', 'image.png', '\u0089PNG'],
      ['speak', 'audio.wav', 'RIFF'],
    ] as const) {
      const { output } = callOf(name)
      expect(output).toMatchObject({ _type: 'CustomWeaveType' })
      const digest: string = output.files[file]
      const response = await server.post('/file/content', { project_id: PROJECT, digest })
      const bytes = Buffer.from(await response.arrayBuffer())
      expect(bytes.toString('latin1').slice(0, 4)).toBe(head)
      const hash = createHash('sha256').update(bytes).digest('base64url')
      expect(digest).toBe(hash.replaceAll('-', 'X').replaceAll('_', 'Y'))
    }
  })

  it('publishes a data set and reads its rows back', async () => {
    expect(seen.datasetRows).toMatchObject([
      { question: 'a', expected: 'A' },
      { question: 'b', expected: 'B' },
      { question: 'c', expected: 'x' },
    ])
    const { objs } = await ask('/objs/query', { filter: { object_ids: ['letters'] } })
    expect(objs).toHaveLength(1)
    expect(seen.datasetUri).toBe(`weave:///${PROJECT}/object/letters:${objs[0].digest}`)
    const digest = objs[0].val.rows.split('/').at(-1)
    const { rows } = await ask('/table/query', { digest })
    expect(rows.map(({ val }: Json) => val)).toEqual([
      { question: 'a', expected: 'A' },
      { question: 'b', expected: 'B' },
      { question: 'c', expected: 'x' },
    ])
  })

  it('evaluates a model over the data set, every prediction in the tree', () => {
    expect(seen.evaluated.isRight).toEqual({ true_count: 2, true_fraction: 2 / 3 })
    expect(callsOf('model').map(({ output }) => output)).toEqual(
      expect.arrayContaining(['A', 'B', 'C']),
    )
    const roots = calls.filter(
      ({ parent_id, op_name }) =>
        parent_id === null && op_name.includes('/op/Evaluation.evaluate:'),
    )
    expect(roots).toHaveLength(2)
    expect(callsOf('isRight')).toHaveLength(3)
  })

  it('has its trials, predictions and scores in the results of evaluations', async () => {
    const isRoot = ({ parent_id, inputs }: Json) =>
      parent_id === null && inputs.maxConcurrency === 2
    const run = callsOf('Evaluation.evaluate').find(isRoot)
    const { rows, total_rows, summary } = await ask(`/v2/${PROJECT}/eval_results/query`, {
      evaluation_call_ids: [run.id],
      project_id: undefined,
      include_summary: true,
    })
    expect(total_rows).toBe(3)
    const trials = rows.flatMap(({ evaluations }: Json) => evaluations[0].trials)
    const shown = trials.map(({ model_output, scores }: Json) => [model_output, scores.isRight])
    expect(shown.sort()).toEqual([
      ['A', true],
      ['B', true],
      ['C', false],
    ])
    for (const trial of trials) {
      const { predict_and_score_call_id, predict_call_id, scorer_call_ids, total_tokens } = trial
      const idsOf = (name: string) =>
        callsOf(name).flatMap(({ id, parent_id }) =>
          parent_id === predict_and_score_call_id ? [id] : [],
        )
      expect([[predict_call_id], [scorer_call_ids.isRight]]).toEqual([
        idsOf('model'),
        idsOf('isRight'),
      ])
      expect(total_tokens).toBe(1100)
    }
    expect(summary.evaluations[0].evaluation_call_id).toBe(run.id)
  })

  it('logs an evaluation step by step and gives feedback on its prediction', async () => {
    const { result } = await ask('/feedback/query', {
      query: {
        $expr: { $eq: [{ $getField: 'feedback_type' }, { $literal: 'wandb.runnable.accuracy' }] },
      },
    })
    expect(result).toHaveLength(1)
    const [score] = result
    const prediction = callOf('Model.predict')
    expect(score).toMatchObject({
      weave_ref: `weave:///${PROJECT}/call/${prediction.id}`,
      runnable_ref: expect.stringMatching(/\/object\/accuracy:/),
      call_ref: `weave:///${PROJECT}/call/${callOf('accuracy.score').id}`,
      payload: { output: 0.75 },
    })
    expect(prediction.attributes._weave_eval_meta).toEqual({ imperative: true })
  })

  it('reads calls back, renamed and with their costs', async () => {
    expect(seen.calls.map(({ id }: Json) => id).sort()).toEqual(
      calls
        .filter(({ trace_id }) => trace_id === seen.traceId)
        .map(({ id }) => id)
        .sort(),
    )
    expect(seen.one).toMatchObject({ display_name: 'my call', wb_user_id: 'bootstrap' })
    expect(seen.one.summary.weave.costs['gpt-4o']).toMatchObject({
      prompt_tokens_total_cost: 1,
      completion_tokens_total_cost: 0.25,
      pricing_level: 'project',
    })
    const { call } = await ask('/call/read', { id: seen.nestedId })
    expect(call.display_name).toBe('my call')
  })

  it('finds its own feedback', () => {
    expect(seen.feedback).toMatchObject([
      { id: seen.reactionId, feedback_type: 'wandb.reaction.1', payload: { emoji: '👍' } },
    ])
  })

  it('sets prices that it finds again', () => {
    expect(seen.priced).toMatchObject([
      { id: seen.costIds[0][0], llm_id: 'gpt-4o', prompt_token_cost: 0.001 },
    ])
  })

  it('leaves calls that statistics count and price', async () => {
    const { usage_buckets, call_buckets } = await ask('/calls/stats', {
      start: '2020-01-01T00:00:00Z',
      filter: { op_names: [`weave:///${PROJECT}/op/complete:*`] },
      usage_metrics: [{ metric: 'input_tokens' }, { metric: 'total_cost' }],
      call_metrics: [{ metric: 'call_count' }, { metric: 'error_count' }],
    })
    const sum = (buckets: Json[], key: string) =>
      buckets.reduce((total, bucket) => total + bucket[key], 0)
    expect(sum(call_buckets, 'sum_call_count')).toBe(callsOf('complete').length)
    expect(sum(usage_buckets, 'sum_input_tokens')).toBe(4000)
    expect(sum(usage_buckets, 'sum_total_cost')).toBe(5)
    const all = await ask('/calls/stats', {
      start: '2020-01-01T00:00:00Z',
      call_metrics: [{ metric: 'call_count' }, { metric: 'error_count' }],
    })
    expect(sum(all.call_buckets, 'sum_call_count')).toBe(calls.length)
    expect(sum(all.call_buckets, 'sum_error_count')).toBe(1)
  })

  it('has parents whose usage is not counted twice', async () => {
    const { call_usage, unfinished_call_ids } = await ask('/calls/usage', {
      call_ids: [seen.nestedId],
      include_costs: true,
    })
    expect(unfinished_call_ids).toEqual([])
    expect(call_usage[seen.nestedId]['gpt-4o']).toMatchObject({
      requests: 1,
      prompt_tokens: 1000,
      completion_tokens: 100,
      total_tokens: 1100,
      prompt_tokens_total_cost: 1,
    })
  })
})
