/** AG2's own spans (1.2), beside the semantic conventions. Pure data. */
import type { Dialect } from './dialect.ts'

export const AG2: Dialect = {
  name: 'ag2',
  scope: 'opentelemetry.instrumentation.ag2',
  // A span of each model call's usage stands beside that of the call.
  repeated: [{ path: 'ag2.usage.kind', form: 'text', when: ['ag2.usage.kind', 'model_call'] }],
  reasoning: ['gen_ai.usage.thinking_tokens'],
}
