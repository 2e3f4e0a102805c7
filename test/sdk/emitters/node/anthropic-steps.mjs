/** The steps by Anthropic's own client, below an instrumentor of choice. */
import { drain, FAIL, PLAIN, STREAM, SUNNY, TOOL_SCHEMA, WEATHER } from './steps.mjs'

export function stepsOf(client) {
  const ask = (messages, more) =>
    client.messages.create({ model: 'claude-sonnet-4-5', max_tokens: 400, messages, ...more })
  const user = (content) => ({ role: 'user', content })
  return {
    plain: () => ask([user(PLAIN)]),
    async tool() {
      const tools = [{ name: 'get_weather', input_schema: TOOL_SCHEMA }]
      const { content } = await ask([user(WEATHER)], { tools })
      const { id } = content.find(({ type }) => type === 'tool_use')
      const result = { type: 'tool_result', tool_use_id: id, content: SUNNY }
      await ask([user(WEATHER), { role: 'assistant', content }, user([result])], { tools })
    },
    stream: async () => drain(await ask([user(STREAM)], { stream: true })),
    fail: () => ask([user(FAIL)]),
  }
}
