/**
 * How long pages of 100 calls take when the condition or the order follows the refs of a column, or reads feedback:
 *
 *   npm run bench -- expand --calls 100000 --rounds 9
 *
 * Each call has a ref of one of 200 models and of one of 1,000 rows in its inputs, besides 1 KB of text; one of ten has feedback.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readArguments, readCount } from '../examples/script-arguments.ts'
import { buildApp } from '../src/app.ts'
import { readConfig } from '../src/config.ts'
import { openDeps } from '../src/deps.ts'

const project_id = 'acme/demo'
const KEY = 'wk_bench_of_expanded_columns'
const MODELS = 200
const ROWS = 1000
const BATCH = 500
const TEXT = 'a text of a prompt that is some forty characters, '.repeat(20)

const { values } = readArguments({
  options: {
    calls: { type: 'string', default: '100000' },
    rounds: { type: 'string', default: '9' },
  },
})
const [calls, rounds] = [readCount(values.calls), readCount(values.rounds)]

const dataDir = mkdtempSync(join(tmpdir(), 'weft-expand-'))
const config = { ...readConfig({}), dataDir, bootstrapKey: KEY }
const deps = await openDeps(config)
const app = await buildApp(config, deps)

async function post(url: string, body: object): Promise<string> {
  const authorization = `Basic ${Buffer.from(`api:${KEY}`).toString('base64')}`
  const headers = { authorization, 'content-type': 'application/json' }
  const response = await app.inject({ method: 'POST', url, headers, payload: JSON.stringify(body) })
  if (response.statusCode !== 200) throw new Error(`${url}: ${response.body}`)
  return response.body
}

async function publish(object_id: string, val: object): Promise<string> {
  const body = await post('/obj/create', { obj: { project_id, object_id, val } })
  return `weave:///${project_id}/object/${object_id}:${JSON.parse(body).digest}`
}

async function fill(): Promise<void> {
  const models: string[] = []
  const rows: string[] = []
  for (let at = 0; at < MODELS; at++) {
    models.push(await publish(`model-${at}`, { name: `m${at}`, size: at % 7 }))
  }
  for (let at = 0; at < ROWS; at++) rows.push(await publish(`row-${at}`, { difficulty: at % 10 }))
  const startUs = Date.UTC(2026, 0, 1) * 1000
  const time = (at: number) => new Date(startUs / 1000 + at).toISOString()
  for (let from = 0; from < calls; from += BATCH) {
    const batch = Array.from({ length: Math.min(BATCH, calls - from) }, (_, index) => {
      const at = from + index
      const inputs = { model: models[at % MODELS], example: rows[at % ROWS], text: TEXT, n: at }
      const ids = { project_id, id: `call-${at}`, trace_id: `trace-${at}` }
      const start = { ...ids, op_name: 'predict', started_at: time(at), attributes: {}, inputs }
      const end = { ...ids, ended_at: time(at + 1), output: { ok: at % 3 === 0 }, summary: {} }
      return [
        { mode: 'start', req: { start } },
        { mode: 'end', req: { end: { ...end, trace_id: undefined } } },
      ]
    })
    await post('/call/upsert_batch', { batch: batch.flat() })
    const judged = Array.from({ length: Math.min(BATCH, calls - from) / 10 }, (_, index) => ({
      project_id,
      weave_ref: `weave:///${project_id}/call/call-${from + index * 10}`,
      feedback_type: 'judge',
      payload: { score: (from + index) % 100 },
    }))
    await post('/traces/feedback/batch/create', { batch: judged })
  }
}

const equals = (field: string, value: unknown) => ({
  $expr: { $eq: [{ $getField: field }, { $literal: value }] },
})
const newest = [{ field: 'started_at', direction: 'desc' }]
const expand_columns = ['inputs.model']

/** The condition and the order of each kind of page. */
const QUESTIONS: Readonly<Record<string, object>> = {
  'few match, behind a ref': {
    expand_columns,
    sort_by: newest,
    query: equals('inputs.model.name', 'none'),
  },
  'one of 200 matches': {
    expand_columns,
    sort_by: newest,
    query: equals('inputs.model.name', 'm7'),
  },
  'one of 7 matches': {
    expand_columns,
    sort_by: newest,
    query: equals('inputs.model.size', 3),
  },
  'sorted behind a ref': {
    expand_columns,
    sort_by: [{ field: 'inputs.model.size', direction: 'desc' }],
  },
  'sorted and matched behind two refs': {
    expand_columns: ['inputs.model', 'inputs.example'],
    query: equals('inputs.example.difficulty', 3),
    sort_by: [{ field: 'inputs.model.name', direction: 'asc' }],
  },
  'few match in feedback': { sort_by: newest, query: equals('feedback.[judge].payload.score', -1) },
  'sorted by feedback': {
    sort_by: [{ field: 'feedback.[judge].payload.score', direction: 'desc' }],
  },
}

try {
  await fill()
  console.log(`${calls} calls, pages of 100, ms: median (least to most) of ${values.rounds}`)
  for (const [name, question] of Object.entries(QUESTIONS)) {
    const times: number[] = []
    let lines = 0
    for (let round = 0; round < rounds; round++) {
      const begin = performance.now()
      const body = await post('/calls/stream_query', { project_id, limit: 100, ...question })
      times.push(performance.now() - begin)
      lines = body.split('\n').length - 1
    }
    times.sort((left, right) => left - right)
    const at = (place: number) => (times.at(place) ?? 0).toFixed(0)
    const median = at(Math.floor(times.length / 2))
    console.log(`${median.padStart(6)} (${at(0)} to ${at(-1)})  ${name}: ${lines} calls`)
  }
} finally {
  await app.close()
  await deps.close()
  rmSync(dataDir, { recursive: true })
}
