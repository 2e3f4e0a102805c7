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

for (const step of [scores]) {
  await step()
  process.stdout.write(`node: ${step.name} ok\n`)
}
await processor.shutdown()
await client.shutdown()
