/** Spans of Mastra (core 1.71 with its exporter 1.4) beside the conventions: values under the type of the span. Pure. */
import type { Dialect } from './dialect.ts'

const TYPES = [
  'agent_run',
  'model_generation',
  'model_step',
  'model_inference',
  'tool_call',
  'mcp_tool_call',
  'workflow_run',
  'workflow_step',
  'processor_run',
  'generic',
]

export const MASTRA: Dialect = {
  name: 'mastra',
  input: TYPES.map((type) => `mastra.${type}.input`),
  output: TYPES.map((type) => `mastra.${type}.output`),
  thread: ['mastra.metadata.sessionId', 'mastra.metadata.threadId'],
  user: ['mastra.metadata.userId'],
}
