/**
 * Anthropic's clients by themselves (Python 2.14, Go 2.15, Java 3.14), beside the semantic conventions. Pure data.
 */
import { type Dialect, text } from './dialect.ts'

export const ANTHROPIC_SDK: Dialect = {
  name: 'anthropic-sdk',
  finish: [text('anthropic.message.stop_reason')],
  cacheWriteHour: ['anthropic.usage.cache_creation.ephemeral_1h_input_tokens'],
  serviceTier: ['anthropic.response.service_tier'],
}
