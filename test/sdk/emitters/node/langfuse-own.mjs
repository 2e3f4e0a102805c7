import { observeOpenAI } from '@langfuse/openai'
import { LangfuseSpanProcessor } from '@langfuse/otel'
import { propagateAttributes, startActiveObservation } from '@langfuse/tracing'
import { NodeTracerProvider } from '@opentelemetry/sdk-trace-node'
import OpenAI from 'openai'
import { stepsOf } from './openai-steps.mjs'
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
const client = observeOpenAI(new OpenAI({ maxRetries: 0 }))
await startActiveObservation('program', () =>
  propagateAttributes({ sessionId: CONVERSATION, userId: USER }, () => attempt(stepsOf(client))),
)
await finish(() => provider.shutdown())
