import { OpenAIAgentsInstrumentation } from '@arizeai/openinference-instrumentation-openai-agents'
import * as agents from '@openai/agents'
import { z } from 'zod'
import { withSession } from './openinference.mjs'
import {
  CONVERSATION,
  drain,
  FAIL,
  openProvider,
  PLAIN,
  runSteps,
  STREAM,
  SUNNY,
  WEATHER,
} from './steps.mjs'

if (process.env.API === 'chat') agents.setOpenAIAPI('chat_completions')
const provider = await openProvider()
new OpenAIAgentsInstrumentation({ tracerProvider: provider }).manuallyInstrument(agents)
const agent = new agents.Agent({
  name: 'forecaster',
  model: 'gpt-5',
  instructions: 'Be brief.',
  tools: [
    agents.tool({
      name: 'get_weather',
      description: 'The weather of a city.',
      parameters: z.object({ city: z.string() }),
      execute: async () => SUNNY,
    }),
  ],
})
const runner = new agents.Runner({ groupId: CONVERSATION, workflowName: 'forecast' })
const steps = {
  plain: () => runner.run(agent, PLAIN),
  tool: () => runner.run(agent, WEATHER),
  async stream() {
    const result = await runner.run(agent, STREAM, { stream: true })
    await drain(result)
    await result.completed
  },
  fail: () => runner.run(agent, FAIL),
}
await runSteps(provider, steps, withSession)
