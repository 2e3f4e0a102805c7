/** What LangSmith's tracing as OpenTelemetry (langsmith[otel] 0.15.1) adds to the older conventions. Pure data. */
import type { Dialect } from './dialect.ts'

export const LANGSMITH: Dialect = {
  name: 'langsmith',
  kind: ['langsmith.span.kind'],
  usage: ['langsmith.metadata.usage_metadata'],
  thread: [
    'langsmith.metadata.thread_id',
    'langsmith.metadata.session_id',
    'langsmith.metadata.conversation_id',
  ],
  user: ['langsmith.metadata.user_id'],
}
