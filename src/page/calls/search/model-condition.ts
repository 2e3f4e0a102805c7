/** The condition that a call has used a model. Pure. */
import { contains, escapedInJson, field, isThere, literal } from './conditions.ts'

/** Keys in reports of usage that are not names of models. */
const COUNTERS = [
  ...['prompt_tokens_details', 'completion_tokens_details', 'total_tokens', 'requests'],
  ...['input_tokens_details', 'output_tokens_details', 'cached_tokens', 'reasoning_tokens'],
  ...['cache_read_input_tokens', 'cache_creation_input_tokens', 'audio_tokens', 'text_tokens'],
  ...['image_tokens', 'accepted_prediction_tokens', 'rejected_prediction_tokens'],
  ...['prompt_tokens_total_cost', 'completion_tokens_total_cost', 'server_tool_use'],
  ...['web_search_requests', 'service_tier', 'ephemeral_5m_input_tokens', 'null'],
  ...['prompt_token_count', 'candidates_token_count', 'thoughts_token_count'],
]

/**
 * Names of models are keys of the usage report, and the query can only search the text of the whole report. A search text
 * that also occurs in other keys or in numbers must therefore equal the whole name.
 */
export function modelCondition(name: string): object {
  const isCommon =
    !/\p{L}/u.test(name) || COUNTERS.some((counter) => counter.includes(name.toLowerCase()))
  if (!isCommon)
    return {
      $or: [contains('summary.usage', escapedInJson(name)), contains('inputs.model', name)],
    }
  return exactModelCondition(name)
}

/** The condition that a call has used the model of exactly this name. */
export function exactModelCondition(name: string): object {
  // An unescaped dot would be a path into the report.
  const key = `summary.usage.${name.replaceAll('.', '\\.')}`
  return { $or: [isThere(key), { $eq: [field('inputs.model'), literal(name)] }] }
}
