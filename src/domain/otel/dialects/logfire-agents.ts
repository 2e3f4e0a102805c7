/** What Logfire's spans of openai-agents (5.4.0) have beside its other spans. Pure data. */
import type { Dialect } from './dialect.ts'

export const LOGFIRE_AGENTS: Dialect = {
  name: 'logfire_agents',
  scope: 'logfire.openai_agents',
  holders: ['response'],
  // Its list of events ends with the answer.
  messages: ['raw_input', { path: 'input', form: 'json', when: ['gen_ai.operation.name', 'chat'] }],
  tools: ['response.tools'],
  input: ['input'],
  answers: [
    'response.output',
    { path: 'output', form: 'json', when: ['gen_ai.operation.name', 'chat'] },
  ],
  output: ['output'],
  providerUsage: ['usage'],
  thread: ['group_id'],
}
