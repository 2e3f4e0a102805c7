/** Google's ADK, an agent of Gemini's by itself. */
import { z } from 'zod'
import {
  CONVERSATION,
  FAIL,
  openProvider,
  PLAIN,
  PROVIDER,
  runSteps,
  STREAM,
  SUNNY,
  USER,
  WEATHER,
} from './steps.mjs'

Object.assign(process.env, { GOOGLE_GEMINI_BASE_URL: PROVIDER, GEMINI_API_KEY: 'none' })
const provider = await openProvider()
// It has a copy of OpenTelemetry's API of its own, which finds no provider that is registered later.
const adk = await import('@google/adk')
const agent = new adk.LlmAgent({
  name: 'forecaster',
  model: new adk.Gemini({ model: 'gemini-2.5-pro', apiKey: 'none' }),
  instruction: 'Be brief.',
  tools: [
    new adk.FunctionTool({
      name: 'get_weather',
      description: 'The weather of a city.',
      parameters: z.object({ city: z.string() }),
      execute: async () => ({ weather: SUNNY }),
    }),
  ],
})

/** A session of its own for each question, as all of one would be asked again with it. */
async function ask(text, streamingMode) {
  const runner = new adk.InMemoryRunner({ agent, appName: 'forecast' })
  await runner.sessionService.createSession({
    appName: 'forecast',
    userId: USER,
    sessionId: CONVERSATION,
  })
  const events = runner.runAsync({
    userId: USER,
    sessionId: CONVERSATION,
    newMessage: { role: 'user', parts: [{ text }] },
    runConfig: streamingMode ? { streamingMode } : {},
  })
  for await (const event of events)
    if (event.errorCode) throw new Error(event.errorMessage ?? event.errorCode)
}

await runSteps(provider, {
  plain: () => ask(PLAIN),
  tool: () => ask(WEATHER),
  stream: () => ask(STREAM, adk.StreamingMode.SSE),
  fail: () => ask(FAIL),
})
