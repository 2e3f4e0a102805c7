/** What every program does: some questions within one span, which is exported with all below it. */
export const PROVIDER = process.env.PROVIDER_URL
export const CONVERSATION = 'talk-1'
export const USER = 'user-1'
export const PLAIN = 'What is plain?'
export const WEATHER = 'What is the weather in Paris?'
export const STREAM = 'Please stream.'
export const FAIL = 'Please fail.'
export const SUNNY = 'It is sunny in Paris.'
export const TOOL_SCHEMA = {
  type: 'object',
  properties: { city: { type: 'string' } },
  required: ['city'],
  additionalProperties: false,
}
export const TOOL_CHAT = {
  type: 'function',
  function: {
    name: 'get_weather',
    description: 'The weather of a city.',
    parameters: TOOL_SCHEMA,
  },
}

Object.assign(process.env, {
  OPENAI_BASE_URL: `${PROVIDER}/v1`,
  OPENAI_API_KEY: 'none',
  ANTHROPIC_BASE_URL: PROVIDER,
  ANTHROPIC_API_KEY: 'none',
  OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT: 'true',
})

/** Reads a stream to its end. */
export async function drain(stream) {
  for await (const _ of stream);
}

/** Sets the global provider of OpenTelemetry's SDK, which also tracks contexts. */
export async function openProvider(spanProcessors) {
  const { BatchSpanProcessor, NodeTracerProvider } = await import('@opentelemetry/sdk-trace-node')
  const { OTLPTraceExporter } = await import('@opentelemetry/exporter-trace-otlp-proto')
  const provider = new NodeTracerProvider({
    spanProcessors: spanProcessors ?? [new BatchSpanProcessor(new OTLPTraceExporter())],
  })
  provider.register()
  return provider
}

let isBroken = false

/** Runs steps by their names; the one that is to fail must, the others must not. */
export async function attempt(steps) {
  for (const [name, step] of Object.entries(steps)) {
    try {
      await step()
      if (/fail/i.test(name)) process.stdout.write(`does not fail: ${name}\n`)
    } catch (error) {
      if (/fail/i.test(name)) process.stdout.write(`fails as it should: ${error.name}\n`)
      else {
        process.stdout.write(`${name}: ${error.stack}\n`)
        isBroken = true
      }
    }
  }
}

/** Runs the steps below a span of their own, then closes. */
export async function runSteps(provider, steps, around = (run) => run()) {
  const { trace } = await import('@opentelemetry/api')
  await trace.getTracer('program').startActiveSpan('program', async (span) => {
    await around(() => attempt(steps))
    span.end()
  })
  await finish(() => provider.shutdown())
}

export async function finish(close) {
  await close()
  process.exit(isBroken ? 1 : 0)
}
