/** Langfuse's callback handler for LangChain. */
import { CallbackHandler } from '@langfuse/langchain'
import { stepsOf } from './langchain-steps.mjs'
import { runSteps } from './langfuse.mjs'
import { CONVERSATION, USER } from './steps.mjs'

const handler = new CallbackHandler({ sessionId: CONVERSATION, userId: USER })
await runSteps(stepsOf({ callbacks: [handler] }))
