/** What Anthropic's Messages API has of the fields of a chat. */
import type { FieldRule, Profile } from '../openai/profiles.ts'

export const ANTHROPIC_OFFERS = ['chat', 'messages'] as const

const PASSED = [
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
] as const satisfies readonly (keyof Profile)[]

const OWN = ['priority', 'request_id'] as const satisfies readonly (keyof Profile)[]

/** Spec: §4.3 (every field). Choice: what the API does not have is rejected by name, or dropped where the model allows it. */
export function createAnthropicProfile(fields: readonly string[]): Profile {
  const rule = (name: string): FieldRule => {
    if ((PASSED as readonly string[]).includes(name)) return 'pass'
    return (OWN as readonly string[]).includes(name) ? 'own' : 'reject'
  }
  return Object.fromEntries(fields.map((name) => [name, rule(name)])) as Profile
}
