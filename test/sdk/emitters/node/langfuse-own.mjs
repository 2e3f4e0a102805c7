import { observeOpenAI } from '@langfuse/openai'
import { propagateAttributes } from '@langfuse/tracing'
import OpenAI from 'openai'
import { runSteps } from './langfuse.mjs'
import { stepsOf } from './openai-steps.mjs'
import { CONVERSATION, USER } from './steps.mjs'

const client = observeOpenAI(new OpenAI({ maxRetries: 0 }))
await runSteps(stepsOf(client), (run) =>
  propagateAttributes({ sessionId: CONVERSATION, userId: USER }, run),
)
