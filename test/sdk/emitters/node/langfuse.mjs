/** Langfuse's own tracing and export, below which programs differ. */
import { LangfuseSpanProcessor } from '@langfuse/otel'
import { startActiveObservation } from '@langfuse/tracing'
import { NodeTracerProvider } from '@opentelemetry/sdk-trace-node'
import { attempt, finish } from './steps.mjs'

export async function runSteps(steps, around = (run) => run()) {
  const provider = new NodeTracerProvider({
    spanProcessors: [
      new LangfuseSpanProcessor({
        baseUrl: process.env.WEFT_URL,
        secretKey: process.env.PROJECT_KEY,
        publicKey: 'weft',
      }),
    ],
  })
  provider.register()
  await startActiveObservation('program', () => around(() => attempt(steps)))
  await finish(() => provider.shutdown())
}
