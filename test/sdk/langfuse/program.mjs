// Drives the JavaScript SDK of Langfuse against Weft, and reads back what it has stored.
import assert from 'node:assert/strict'
import { LangfuseClient } from '@langfuse/client'
import { LangfuseSpanProcessor } from '@langfuse/otel'
import { propagateAttributes, startActiveObservation, startObservation } from '@langfuse/tracing'
import { NodeTracerProvider } from '@opentelemetry/sdk-trace-node'

const processor = new LangfuseSpanProcessor()
new NodeTracerProvider({ spanProcessors: [processor] }).register()
const client = new LangfuseClient()
const { PROJECT } = process.env

async function scores() {
  const traceId = await startActiveObservation('answer', async (span) => {
    span.update({ input: 'q', output: 'a' })
    client.score.observation(span, { name: 'accuracy', value: 0.5 })
    client.score.trace(span, { name: 'tone', value: 'kind' })
    return span.traceId
  })
  client.score.create({ id: 'js-1', name: 'passed', value: 1, dataType: 'BOOLEAN', traceId })
  await client.score.flush()
  await processor.forceFlush()
  assert.ok((await client.getTraceUrl(traceId)).endsWith(`/project/${PROJECT}/traces/${traceId}`))
  const { data } = await client.api.scoresV3.getManyV3({ traceId })
  assert.deepEqual(data.map(({ name }) => name).sort(), ['accuracy', 'passed', 'tone'])
  const old = await client.api.scores.getMany({ name: 'passed' })
  assert.equal(old.meta.totalItems, 1)
  assert.equal(old.data[0].stringValue, 'True')
  assert.equal((await client.api.scores.getById('js-1')).value, 1)
  await client.api.legacy.scoreV1.create({ name: 'one', value: 2, traceId })
  await client.api.legacy.scoreV1.delete('js-1')
  assert.equal((await client.api.scores.getMany({ traceId })).data.length, 3)
}

async function prompts() {
  const { prompt, api } = client
  const first = await prompt.create({
    name: 'greet',
    prompt: 'Hi {{name}}',
    labels: ['production'],
  })
  assert.deepEqual([first.version, first.labels], [1, ['production', 'latest']])
  const messages = [
    { role: 'system', content: 'Be {{tone}}' },
    { type: 'placeholder', name: 'history' },
  ]
  await prompt.create({ name: 'chat', type: 'chat', prompt: messages, labels: ['production'] })
  await prompt.create({ name: 'greet', prompt: 'Hello {{name}}', config: { t: 1 } })
  assert.equal((await prompt.get('greet')).compile({ name: 'Ada' }), 'Hi Ada')
  assert.equal((await prompt.get('greet', { label: 'latest' })).version, 2)
  const chat = await prompt.get('chat', { type: 'chat' })
  const history = [{ role: 'user', content: 'q' }]
  const compiled = chat.compile({ tone: 'kind' }, { history })
  assert.deepEqual(
    compiled.map(({ role, content }) => [role, content]),
    [
      ['system', 'Be kind'],
      ['user', 'q'],
    ],
  )
  await prompt.update({ name: 'greet', version: 2, newLabels: ['production'] })
  assert.equal((await prompt.get('greet')).version, 2)
  const listed = await api.prompts.list({ label: 'production' })
  assert.deepEqual(listed.data.map(({ name }) => name).sort(), ['chat', 'greet'])
  await prompt.delete('chat')
  await assert.rejects(prompt.get('chat', { type: 'chat' }))
  assert.equal((await prompt.get('none', { fallback: 'F' })).prompt, 'F')
}

async function datasets() {
  const { api, dataset } = client
  await api.datasets.create({ name: 'capitals', description: 'D' })
  const items = [
    ['France', 'Paris'],
    ['Peru', 'Lima'],
  ]
  await Promise.all(
    items.map(([country, expectedOutput]) =>
      dataset.createItem({
        datasetName: 'capitals',
        id: country,
        input: { country },
        expectedOutput,
      }),
    ),
  )
  const found = await dataset.get('capitals', { fetchItemsPageSize: 1 })
  assert.deepEqual(found.items.map(({ id }) => id).sort(), ['France', 'Peru'])
  assert.equal((await api.datasetItems.get('Peru')).expectedOutput, 'Lima')
  await api.datasetItems.create({ datasetName: 'capitals', id: 'Chad', input: {} })
  await api.datasetItems.delete('Chad')
  assert.equal((await api.datasetItems.list({ datasetName: 'capitals' })).meta.totalItems, 2)
}

async function weft(path, body) {
  const { LANGFUSE_BASE_URL, LANGFUSE_SECRET_KEY } = process.env
  const authorization = `Basic ${Buffer.from(`api:${LANGFUSE_SECRET_KEY}`).toString('base64')}`
  const headers = { authorization, 'content-type': 'application/json' }
  const url = LANGFUSE_BASE_URL + path
  return (await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) })).json()
}

async function experiments() {
  const found = await client.dataset.get('capitals')
  const result = await found.runExperiment({
    name: 'try',
    runName: 'run 1',
    description: 'first',
    metadata: { m: 1 },
    task: async ({ input }) => (input.country === 'France' ? 'Paris' : '?'),
    evaluators: [
      async ({ output, expectedOutput }) => ({
        name: 'exact',
        value: Number(output === expectedOutput),
      }),
    ],
    runEvaluators: [async () => ({ name: 'mean', value: 0.5 })],
  })
  assert.equal(result.itemResults.length, 2)
  await processor.forceFlush()
  const { rows, summary } = await weft(`/v2/${PROJECT}/eval_results/query`, {
    evaluation_call_ids: [result.experimentId],
    include_rows: true,
    include_raw_data_rows: true,
    include_summary: true,
  })
  const scoreOf = (id) =>
    rows.find(({ raw_data_row: row }) => row.id === id).evaluations[0].trials[0].scores
  assert.deepEqual([scoreOf('France'), scoreOf('Peru')], [{ exact: 1 }, { exact: 0 }])
  assert.equal(summary.evaluations[0].display_name, 'run 1')
  const runs = await client.api.datasets.getRuns('capitals')
  assert.deepEqual(
    runs.data.map(({ id, name, description, metadata }) => [id, name, description, metadata]),
    [[result.datasetRunId, 'run 1', 'first', { m: 1 }]],
  )
  const run = await client.api.datasets.getRun('capitals', 'run 1')
  assert.deepEqual(run.datasetRunItems.map(({ datasetItemId }) => datasetItemId).sort(), [
    'France',
    'Peru',
  ])
  const { data } = await client.api.datasetRunItems.list({ datasetId: found.id, runName: 'run 1' })
  assert.equal(data[0].traceId, run.datasetRunItems[0].traceId)
  const { data: scored } = await client.api.scores.getMany({ datasetRunId: result.datasetRunId })
  assert.deepEqual(
    scored.map(({ name, value }) => [name, value]),
    [['mean', 0.5]],
  )
}

async function reading() {
  const shared = { userId: 'ada', sessionId: 'chat-2', tags: ['red', 'blue'], traceName: 'support' }
  const traceId = await startActiveObservation('root', async (root) => {
    root.update({ input: { q: 1 } })
    propagateAttributes(shared, () => {
      const generation = { model: 'gpt-4o', output: 'a', usageDetails: { input: 3, output: 4 } }
      const costDetails = { total: 0.5 }
      const asType = 'generation'
      startObservation('write', { ...generation, costDetails }, { asType }).end()
    })
    return root.traceId
  })
  await processor.forceFlush()
  const { data: found } = await client.api.observations.getMany({
    traceId,
    fields: 'core,basic,usage',
  })
  assert.deepEqual(
    found.map(({ name, type, totalCost }) => [name, type, totalCost]),
    [
      ['write', 'GENERATION', 0.5],
      ['root', 'SPAN', null],
    ],
  )
  const { data: traces } = await client.api.trace.list({ tags: ['red', 'blue'], name: 'support' })
  assert.deepEqual(
    traces.map(({ id, sessionId, userId, totalCost, observations }) => [
      id,
      sessionId,
      userId,
      totalCost,
      observations.length,
    ]),
    [[traceId, 'chat-2', 'ada', 0.5, 2]],
  )
  const trace = await client.api.trace.get(traceId)
  assert.deepEqual(trace.input, { q: 1 })
  assert.equal(trace.observations[1].calculatedTotalCost, 0.5)
  const { data: sessions } = await client.api.sessions.list()
  assert.ok(sessions.some(({ id }) => id === 'chat-2'))
  assert.equal((await client.api.sessions.get('chat-2')).traces[0].id, traceId)
  const older = client.api.legacy.observationsV1
  const { data: generations } = await older.getMany({ traceId, type: 'GENERATION' })
  assert.deepEqual(await older.get(generations[0].id), generations[0])
  await client.api.datasets.deleteRun('capitals', 'run 1')
  assert.deepEqual((await client.api.datasets.getRuns('capitals')).data, [])
  await client.api.trace.delete(traceId)
  await assert.rejects(client.api.trace.get(traceId), { statusCode: 404 })
}

async function media() {
  const image = `data:image/png;base64,${Buffer.from('\x89PNG other bytes', 'latin1').toString('base64')}`
  const traceId = await startActiveObservation('seen', async (root) => {
    root.update({ input: { image }, output: [image] })
    return root.traceId
  })
  await processor.forceFlush()
  const { data } = await client.api.observations.getMany({ traceId, fields: 'core,io' })
  const [{ input, output }] = data
  const references = JSON.stringify([input, output])
  assert.ok(
    !references.includes(image) && references.includes('@@@langfuseMedia:type=image/png|id='),
  )
  const resolve = (text) =>
    client.media.resolveReferences({ obj: text, resolveWith: 'base64DataUri' })
  const asValue = (value) => (typeof value === 'string' ? JSON.parse(value) : value)
  assert.deepEqual(await resolve(asValue(input)), { image })
  assert.deepEqual(await resolve(asValue(output)), [image])
}

async function metrics() {
  const window = { fromTimestamp: '2026-01-01T00:00:00Z', toTimestamp: '2060-01-01T00:00:00Z' }
  const metrics = [{ measure: 'count', aggregation: 'count' }]
  const query = JSON.stringify({ view: 'observations', metrics, ...window })
  const { data } = await client.api.metrics.metrics({ query })
  assert.ok(data[0].count_count > 0)
}

for (const step of [scores, prompts, datasets, experiments, reading, media, metrics]) {
  await step()
  process.stdout.write(`node: ${step.name} ok\n`)
}
await processor.shutdown()
await client.shutdown()
