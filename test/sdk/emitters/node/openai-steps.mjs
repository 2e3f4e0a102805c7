/** The steps by OpenAI's own client, in chat completions and in responses, below an instrumentor of choice. */
import { drain, FAIL, PLAIN, STREAM, SUNNY, TOOL_CHAT, TOOL_SCHEMA, WEATHER } from './steps.mjs'

const model = 'gpt-5'

export function stepsOf(client) {
  const chat = (content, more) =>
    client.chat.completions.create({ model, messages: [{ role: 'user', content }], ...more })
  const respond = (input, more) => client.responses.create({ model, input, ...more })
  const chatSteps = {
    plain: () => chat(PLAIN),
    async tool() {
      const tools = [TOOL_CHAT]
      const { message } = (await chat(WEATHER, { tools })).choices[0]
      await client.chat.completions.create({
        model,
        tools,
        messages: [
          { role: 'user', content: WEATHER },
          message,
          { role: 'tool', tool_call_id: message.tool_calls[0].id, content: SUNNY },
        ],
      })
    },
    stream: async () =>
      drain(await chat(STREAM, { stream: true, stream_options: { include_usage: true } })),
    fail: () => chat(FAIL),
    embed: () =>
      client.embeddings.create({ model: 'text-embedding-3-small', input: 'Please embed.' }),
  }
  const responseSteps = {
    plain: () => respond(PLAIN),
    async tool() {
      const tools = [{ type: 'function', name: 'get_weather', parameters: TOOL_SCHEMA }]
      const { output } = await respond(WEATHER, { tools })
      const { call_id } = output.find(({ type }) => type === 'function_call')
      await respond(
        [
          { role: 'user', content: WEATHER },
          ...output,
          { type: 'function_call_output', call_id, output: SUNNY },
        ],
        { tools },
      )
    },
    stream: async () => drain(await respond(STREAM, { stream: true })),
    fail: () => respond(FAIL),
  }
  return process.env.API === 'responses' ? responseSteps : chatSteps
}
