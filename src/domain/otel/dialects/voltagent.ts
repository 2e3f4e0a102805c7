/** VoltAgent's own spans (2.10). Its model calls have no answer: that is on the agent above them. Pure data. */
import { type Dialect, text } from './dialect.ts'

const JSON_STEPS = ['span.type', 'tool', 'memory'] as const

export const VOLTAGENT: Dialect = {
  name: 'voltagent',
  scope: '@voltagent/',
  // Every span of an agent has the type of that.
  kind: ['span.type', 'entity.type'],
  requestedModel: ['llm.model', 'ai.model.name'],
  messages: ['llm.messages', 'agent.messages'],
  input: [{ path: 'input', form: 'json', when: JSON_STEPS }, text('input')],
  output: [{ path: 'output', form: 'json', when: JSON_STEPS }, text('output')],
  finish: [text('llm.finish_reason'), text('ai.response.finish_reason')],
  inputTokens: ['llm.usage.prompt_tokens', 'usage.prompt_tokens'],
  outputTokens: ['llm.usage.completion_tokens', 'usage.completion_tokens'],
  totalTokens: ['llm.usage.total_tokens', 'usage.total_tokens'],
  cacheRead: ['llm.usage.cached_tokens', 'usage.cached_tokens'],
  reasoning: ['llm.usage.reasoning_tokens', 'usage.reasoning_tokens'],
  thread: ['conversation.id'],
}
