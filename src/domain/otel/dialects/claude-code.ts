/** Spans of Claude Code and its Agent SDK (0.3.328, with its enhanced telemetry). Pure data. */
import { type Dialect, text } from './dialect.ts'

/** Names without a prefix: those of other scopes may mean something else. */
export const CLAUDE_CODE: Dialect = {
  name: 'claude_code',
  scope: 'com.anthropic.claude_code',
  kind: ['span.type'],
  model: ['model'],
  messages: [text('user_prompt')],
  input: ['tool_input', text('full_command'), text('file_path')],
  outputEvents: [['tool.output', 'output']],
  finish: [text('stop_reason')],
  inputTokens: ['input_tokens'],
  outputTokens: ['output_tokens'],
  cacheRead: ['cache_read_tokens'],
  cacheWrite: ['cache_creation_tokens'],
  countsCacheBeside: true,
}
