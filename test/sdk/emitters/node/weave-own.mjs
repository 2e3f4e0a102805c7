/** The Weave SDK, which sends calls instead of spans. */
Object.assign(process.env, {
  WANDB_BASE_URL: process.env.WEFT_URL,
  WF_TRACE_SERVER_URL: `${process.env.WEFT_URL}/traces`,
  WANDB_API_KEY: process.env.WEFT_KEY,
})
const { init, op, wrapOpenAI } = await import('weave')
const { default: OpenAI } = await import('openai')
const { stepsOf } = await import('./openai-steps.mjs')
const { attempt, finish } = await import('./steps.mjs')

const client = await init(process.env.PROJECT)
const steps = stepsOf(wrapOpenAI(new OpenAI({ maxRetries: 0 })))
await op(() => attempt(steps), { name: 'program' })()
await finish(() => client.waitForBatchProcessing())
