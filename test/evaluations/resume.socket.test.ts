/** An evaluation whose server is killed: each row is recorded once. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { json, startFakeUpstream } from '../support/fake-upstream.ts'
import { spawnServer } from '../support/spawn-server.ts'
import { makeTempDir } from '../support/temp-dir.ts'
import { CONTAINS, PROJECT } from './evaluation-app.ts'

const ROWS = 24
/** Rows that are answered before the kill. */
const FIRST = 7
const POLL = { timeout: 30_000, interval: 100 }

it('goes on after kill -9 with the rows that are missing, and scores none twice', async () => {
  const upstream = await startFakeUpstream()
  let isHolding = true
  let answered = 0
  upstream.behave((response, request) => {
    if (isHolding && answered >= FIRST) return
    answered += 1
    const message = {
      role: 'assistant',
      content: `Paris ${JSON.parse(request.body).messages[0].content}`,
    }
    const choices = [{ index: 0, message, finish_reason: 'stop' }]
    const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 }
    json(200, { id: 'x', object: 'chat.completion', created: 1, model: 'm', choices, usage })(
      response,
      request,
    )
  })
  const [dataDir, folder] = [makeTempDir(), makeTempDir()]
  const models = join(folder, 'models.json')
  writeFileSync(
    models,
    JSON.stringify({ models: [{ id: 'm', backend: 'openai', base_url: upstream.baseUrl }] }),
  )
  const environment = { WEFT_DATA_DIR: dataDir, WEFT_MODELS_FILE: models }
  let server = await spawnServer(environment)
  const post = (path: string, body: object) => server.postJson(path, body)
  const publish = async (object_id: string, val: object) => {
    const { digest } = await post('/obj/create', { obj: { project_id: PROJECT, object_id, val } })
    return `weave:///${PROJECT}/object/${object_id}:${digest}`
  }
  const rows = Array.from({ length: ROWS }, (_, n) => ({ n: `row ${n}` }))
  const { digest } = await post('/table/create', { table: { project_id: PROJECT, rows } })
  const dataset = await publish('rows', { rows: `weave:///${PROJECT}/table/${digest}` })
  const evaluation_ref = await publish('evaluation', {
    dataset,
    scorers: [await publish('city', CONTAINS)],
  })
  const model_ref = await publish('model', {
    llm_model_id: 'm',
    default_params: { messages_template: [{ role: 'user', content: '{n}' }] },
  })
  const asked = { project_id: PROJECT, evaluation_ref, model_ref }
  const { call_id } = await post('/evaluations/evaluate_model', asked)
  const trials = async () =>
    (
      await post('/calls/stream_query', { project_id: PROJECT, filter: { parent_ids: [call_id] } })
    ).filter(({ op_name }: { op_name: string }) => op_name === 'Evaluation.predict_and_score')
  await expect.poll(async () => (await trials()).length, POLL).toBe(FIRST)
  const before = await trials()

  await server.stop('SIGKILL')
  isHolding = false
  server = await spawnServer(environment)
  const status = async () =>
    (await post('/evaluations/status', { project_id: PROJECT, call_id })).status
  await expect.poll(async () => (await status()).code, POLL).toBe('complete')
  expect((await status()).output).toMatchObject({ city: { passed: { true_count: ROWS } } })

  const after = await trials()
  expect(after).toHaveLength(ROWS)
  expect(after).toEqual(expect.arrayContaining(before))
  expect(
    new Set(after.map(({ output }: { output: { output: string } }) => output.output)).size,
  ).toBe(ROWS)
  const { result } = await post('/feedback/query', { project_id: PROJECT })
  expect(result).toHaveLength(ROWS)
  expect(new Set(result.map(({ weave_ref }: { weave_ref: string }) => weave_ref)).size).toBe(ROWS)
  // The four rows that ran at the kill were asked for again, and no others.
  expect(upstream.requests.length).toBeLessThanOrEqual(ROWS + 4)
}, 90_000)
