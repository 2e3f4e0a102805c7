/**
 * A program that knows nothing of Weft but its address: one completion by a client library, traced by one
 * instrumentation and exported by OpenTelemetry's own exporter. Arguments: instrumentation, base URL, key.
 */
const [, , library, base, key] = process.argv
const { NodeTracerProvider, BatchSpanProcessor } = require('@opentelemetry/sdk-trace-node')
const { registerInstrumentations } = require('@opentelemetry/instrumentation')

const EXPORTERS = {
  protobuf: () => require('@opentelemetry/exporter-trace-otlp-proto').OTLPTraceExporter,
  json: () => require('@opentelemetry/exporter-trace-otlp-http').OTLPTraceExporter,
}
const Exporter = EXPORTERS[library === 'openinference' ? 'json' : 'protobuf']()
const exporter = new Exporter({
  url: `${base}/v1/traces`,
  compression: 'gzip',
  headers: { authorization: `Bearer ${key}`, project_id: 'acme/demo' },
})
const provider = new NodeTracerProvider({ spanProcessors: [new BatchSpanProcessor(exporter)] })
provider.register()
if (library === 'openinference') {
  const { OpenAIInstrumentation } = require('@arizeai/openinference-instrumentation-openai')
  const instrumentations = [new OpenAIInstrumentation()]
  registerInstrumentations({ instrumentations, tracerProvider: provider })
}

async function askByOpenai() {
  const { OpenAI } = require('openai')
  const client = new OpenAI({ baseURL: `${base}/v1`, apiKey: key })
  const messages = [{ role: 'user', content: 'What is 3 plus 4?' }]
  await client.chat.completions.create({ model: 'tiny', messages, temperature: 0 })
}

async function askByVercel() {
  const { generateText, registerTelemetry } = await import('ai')
  const { OpenTelemetry } = await import('@ai-sdk/otel')
  const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible')
  registerTelemetry(new OpenTelemetry())
  const weft = createOpenAICompatible({ name: 'weft', baseURL: `${base}/v1`, apiKey: key })
  await generateText({
    model: weft('tiny'),
    prompt: 'What is 3 plus 4?',
    temperature: 0,
    telemetry: { isEnabled: true, functionId: 'sum' },
  })
}

const ask = library === 'vercel' ? askByVercel : askByOpenai
void ask().then(() => provider.shutdown())
