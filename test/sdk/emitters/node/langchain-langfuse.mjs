/** Langfuse's callback handler for LangChain. */
import { CallbackHandler } from '@langfuse/langchain'
import { LangfuseSpanProcessor } from '@langfuse/otel'
import { startActiveObservation } from '@langfuse/tracing'
import { NodeTracerProvider } from '@opentelemetry/sdk-trace-node'
import { stepsOf } from './langchain-steps.mjs'
import { attempt, CONVERSATION, finish, USER } from './steps.mjs'

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
const handler = new CallbackHandler({ sessionId: CONVERSATION, userId: USER })
await startActiveObservation('program', () => attempt(stepsOf({ callbacks: [handler] })))
await finish(() => provider.shutdown())
