/** OpenTelemetry's own instrumentation of the OpenAI client, whose messages are events in logs. */
import { createRequire } from 'node:module'
import { logs } from '@opentelemetry/api-logs'
import { OTLPLogExporter } from '@opentelemetry/exporter-logs-otlp-proto'
import { registerInstrumentations } from '@opentelemetry/instrumentation'
import { OpenAIInstrumentation } from '@opentelemetry/instrumentation-openai'
import { BatchLogRecordProcessor, LoggerProvider } from '@opentelemetry/sdk-logs'
import { stepsOf } from './openai-steps.mjs'
import { openProvider, runSteps } from './steps.mjs'

const provider = await openProvider()
const logger = new LoggerProvider({
  processors: [new BatchLogRecordProcessor({ exporter: new OTLPLogExporter() })],
})
logs.setGlobalLoggerProvider(logger)
registerInstrumentations({
  tracerProvider: provider,
  loggerProvider: logger,
  instrumentations: [new OpenAIInstrumentation({ captureMessageContent: true })],
})
// What is loaded by `require` is patched.
const { OpenAI } = createRequire(import.meta.url)('openai')
const shutdown = async () => {
  await provider.shutdown()
  await logger.shutdown()
}
await runSteps({ shutdown }, stepsOf(new OpenAI({ maxRetries: 0 })))
