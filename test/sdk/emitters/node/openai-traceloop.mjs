/** OpenLLMetry around OpenAI's client. */
import * as traceloop from '@traceloop/node-server-sdk'
import OpenAI from 'openai'
import { stepsOf } from './openai-steps.mjs'
import { attempt, CONVERSATION, finish, USER } from './steps.mjs'

traceloop.initialize({
  appName: 'program',
  baseUrl: process.env.WEFT_URL,
  apiKey: process.env.WEFT_KEY,
  headers: { authorization: `Bearer ${process.env.WEFT_KEY}`, project_id: process.env.PROJECT },
  disableBatch: true,
  silenceInitializationMessage: true,
  instrumentModules: { openAI: OpenAI },
})
const steps = stepsOf(new OpenAI({ maxRetries: 0 }))
await traceloop.withAssociationProperties({ session_id: CONVERSATION, user_id: USER }, () =>
  traceloop.withWorkflow({ name: 'program' }, () => attempt(steps)),
)
await finish(() => traceloop.forceFlush())
