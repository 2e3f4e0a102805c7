/** LangSmith's tracing as spans, and its wrapper of OpenAI's client. */
import OpenAI from 'openai'
import { stepsOf } from './openai-steps.mjs'
import { attempt, CONVERSATION, finish, USER } from './steps.mjs'

Object.assign(process.env, {
  LANGSMITH_TRACING: 'true',
  LANGSMITH_TRACING_MODE: 'otel',
  LANGSMITH_API_KEY: 'none',
})
const { initializeOTEL } = await import('langsmith/experimental/otel/setup')
const { traceable } = await import('langsmith/traceable')
const { wrapOpenAI } = await import('langsmith/wrappers/openai')
// Its exporter takes OTEL_EXPORTER_OTLP_ENDPOINT for the whole address, and headers as they stand.
const otel = initializeOTEL({
  exporterConfig: {
    url: `${process.env.WEFT_URL}/v1/traces`,
    headers: { authorization: `Bearer ${process.env.WEFT_KEY}`, project_id: process.env.PROJECT },
  },
})
const metadata = { session_id: CONVERSATION, user_id: USER }
const steps = stepsOf(wrapOpenAI(new OpenAI({ maxRetries: 0 }), { metadata }))
await traceable(() => attempt(steps), { name: 'program', metadata })()
await finish(() => otel.DEFAULT_LANGSMITH_SPAN_PROCESSOR.shutdown())
