/** A server that is killed while it scores: each call has one result of each evaluator, and none is lost. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { json, startFakeUpstream } from '../support/fake-upstream.ts'
import { spawnServer } from '../support/spawn-server.ts'
import { makeTempDir } from '../support/temp-dir.ts'

const project_id = 'acme/demo'
const CALLS = 30
const KILLS = 3
/** Responses of the judge before each kill; the others are never given. */
const ANSWERED = 3
const CONCURRENCY = 4
const POLL = { timeout: 60_000, interval: 100 }
const MESSAGES = [{ role: 'user', content: 'Rate {output}.' }]

it('after kill -9 each call is scored once by each evaluator', async () => {
  const upstream = await startFakeUpstream()
  /** Responses that the judge may still give. */
  let allowed = 0
  upstream.behave((response, request) => {
    if (allowed <= 0) return
    allowed -= 1
    const message = { role: 'assistant', content: '{"reason":"fine","score":0.5}' }
    const choices = [{ index: 0, message, finish_reason: 'stop' }]
    const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 }
    json(200, { id: 'x', object: 'chat.completion', created: 1, model: 'm', choices, usage })(
      response,
      request,
    )
  })
  const models = join(makeTempDir(), 'models.json')
  writeFileSync(
    models,
    JSON.stringify({ models: [{ id: 'm', backend: 'openai', base_url: upstream.baseUrl }] }),
  )
  const environment = { WEFT_DATA_DIR: makeTempDir(), WEFT_MODELS_FILE: models }
  let server = await spawnServer(environment)
  const post = (path: string, body: object) => server.postJson(path, body)
  const rule = { kind: 'rule', rule: { type: 'contains', texts: ['call'] } }
  const judge = { kind: 'judge', model: 'm', messages: MESSAGES }
  await post('/evaluators', { project_id, name: 'rule', scorer: rule })
  await post('/evaluators', { project_id, name: 'judge', scorer: judge, concurrency: CONCURRENCY })
  let stored = 0
  async function storeCalls(count: number): Promise<void> {
    const batch = Array.from({ length: count }, () => {
      const id = `call-${stored++}`
      const begun = { op_name: 'op', started_at: '2026-01-31T09:30:00Z', attributes: {} }
      const start = { project_id, id, trace_id: `trace-${id}`, ...begun, inputs: {} }
      const end = { project_id, id, ended_at: '2026-01-31T09:30:01Z', output: id, summary: {} }
      return [
        { mode: 'start', req: { start } },
        { mode: 'end', req: { end } },
      ]
    })
    await post('/call/upsert_batch', { batch: batch.flat() })
  }
  // biome-ignore lint/suspicious/noExplicitAny: payloads of every shape.
  const resultsOf = async (name: string): Promise<any[]> => {
    const type = `wandb.runnable.${name}`
    const query = { $expr: { $eq: [{ $getField: 'feedback_type' }, { $literal: type }] } }
    return (await post('/feedback/query', { project_id, query })).result
  }

  allowed = ANSWERED
  for (let kill = 1; kill <= KILLS; kill++) {
    await storeCalls(CALLS / KILLS)
    await expect.poll(async () => (await resultsOf('judge')).length, POLL).toBe(kill * ANSWERED)
    await server.stop('SIGKILL')
    allowed = kill < KILLS ? ANSWERED : Number.POSITIVE_INFINITY
    server = await spawnServer(environment)
  }
  for (const name of ['rule', 'judge']) {
    await expect.poll(async () => (await resultsOf(name)).length, POLL).toBe(CALLS)
  }
  const { evaluators } = await post('/evaluators/query', { project_id })
  for (const { waiting, failed } of evaluators) expect([waiting, failed]).toEqual([0, 0])
  for (const name of ['rule', 'judge']) {
    const refs = (await resultsOf(name)).map(({ weave_ref }) => weave_ref)
    expect(new Set(refs).size).toBe(CALLS)
  }
  for (const { call_ref } of await resultsOf('judge')) {
    expect(call_ref).toContain(`${project_id}/call/`)
  }
  // Those that ran at a kill were asked for again, and no others.
  expect(upstream.requests.length).toBeLessThanOrEqual(CALLS + KILLS * CONCURRENCY)
}, 180_000)
