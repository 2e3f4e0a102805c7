/** Laminar around OpenAI's client. */
import { Laminar, observe } from '@lmnr-ai/lmnr'
import OpenAI from 'openai'
import { stepsOf } from './openai-steps.mjs'
import { attempt, CONVERSATION, finish, USER } from './steps.mjs'

const { protocol, hostname, port } = new URL(process.env.WEFT_URL)
Laminar.initialize({
  projectApiKey: process.env.PROJECT_KEY,
  baseUrl: `${protocol}//${hostname}`,
  httpPort: Number(port),
  forceHttp: true,
  instrumentModules: { OpenAI },
})
const steps = stepsOf(new OpenAI({ maxRetries: 0 }))
await observe({ name: 'program', sessionId: CONVERSATION, userId: USER }, () => attempt(steps))
await finish(() => Laminar.shutdown())
