/** Spring AI's observations (2.0), beside the semantic conventions. Its messages are in no span. Pure data. */
import type { Dialect } from './dialect.ts'

export const SPRING_AI: Dialect = {
  name: 'spring-ai',
  input: ['spring.ai.tool.call.arguments'],
  // A text is one in quotation marks.
  output: ['spring.ai.tool.call.result'],
  thread: ['spring.ai.chat.client.conversation.id'],
}
