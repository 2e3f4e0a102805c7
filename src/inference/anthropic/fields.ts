/** What Anthropic's Messages API has of the fields of a chat. */
import { createProfile } from '../openai/profiles.ts'

export const ANTHROPIC_OFFERS = ['chat', 'messages'] as const

/** Spec: §4.3 (every field). Choice: what the API does not have is rejected by name, or dropped where the model allows it. */
export const ANTHROPIC_PROFILE = createProfile(
  [
    'messages',
    'model',
    'max_tokens',
    'max_completion_tokens',
    'response_format',
    'stop',
    'stream',
    'stream_options',
    'temperature',
    'top_p',
    'top_k',
    'tools',
    'tool_choice',
    'parallel_tool_calls',
    'reasoning_effort',
    'user',
    'continue_final_message',
  ],
  ['priority', 'request_id'],
)
