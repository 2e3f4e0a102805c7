// Drives the JavaScript SDK of Langfuse against Weft, and reads back what it has stored.
import assert from 'node:assert/strict'
import { LangfuseClient } from '@langfuse/client'
import { LangfuseSpanProcessor } from '@langfuse/otel'
import { startActiveObservation } from '@langfuse/tracing'
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

for (const step of [scores, prompts]) {
  await step()
  process.stdout.write(`node: ${step.name} ok\n`)
}
await processor.shutdown()
await client.shutdown()
