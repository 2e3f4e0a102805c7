import { openAICompatible } from '@genkit-ai/compat-oai'
import { genkit, z } from 'genkit'
import {
  drain,
  FAIL,
  openProvider,
  PLAIN,
  PROVIDER,
  runSteps,
  STREAM,
  SUNNY,
  WEATHER,
} from './steps.mjs'

const provider = await openProvider()
const ai = genkit({
  plugins: [
    openAICompatible({
      name: 'openai',
      apiKey: 'none',
      baseURL: `${PROVIDER}/v1`,
    }),
  ],
})
const model = 'openai/gpt-5'
const weather = ai.defineTool(
  {
    name: 'get_weather',
    description: 'The weather of a city.',
    inputSchema: z.object({ city: z.string() }),
    outputSchema: z.string(),
  },
  async () => SUNNY,
)
await runSteps(provider, {
  plain: () => ai.generate({ model, prompt: PLAIN }),
  tool: () => ai.generate({ model, prompt: WEATHER, tools: [weather] }),
  async stream() {
    const { stream, response } = ai.generateStream({ model, prompt: STREAM })
    await drain(stream)
    await response
  },
  fail: () => ai.generate({ model, prompt: FAIL }),
})
