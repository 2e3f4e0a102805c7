/**
 * The AI SDK; WITH=legacy has the attributes that it had before version 7, WITH=openinference those of OpenInference beside
 * its own.
 */
import { LegacyOpenTelemetry, OpenTelemetry } from '@ai-sdk/otel'
import { registerTelemetry } from 'ai'
import { stepsOf } from './ai-sdk-steps.mjs'
import { CONVERSATION, openProvider, runSteps, USER } from './steps.mjs'

const { WITH } = process.env
async function openInferenceProvider() {
  const { OpenInferenceBatchSpanProcessor } = await import('@arizeai/openinference-vercel')
  const { OTLPTraceExporter } = await import('@opentelemetry/exporter-trace-otlp-proto')
  return openProvider([new OpenInferenceBatchSpanProcessor({ exporter: new OTLPTraceExporter() })])
}
const provider = await (WITH === 'openinference' ? openInferenceProvider() : openProvider())
const all = { usage: true, providerMetadata: true, embedding: true }
registerTelemetry(
  WITH === 'legacy'
    ? new LegacyOpenTelemetry()
    : new OpenTelemetry({ runtimeContext: true, ...(WITH === 'openinference' ? all : {}) }),
)
const about = { sessionId: CONVERSATION, userId: USER }
const settings = {
  runtimeContext: about,
  telemetry: {
    isEnabled: true,
    functionId: 'forecast',
    includeRuntimeContext: { sessionId: true, userId: true },
    metadata: about,
  },
}
await runSteps(provider, stepsOf(settings))
