/** The condition that a call has used a model. Pure. */
import { contains, escapedInJson, field, isThere, literal } from './conditions.ts'

/** What reports of usage hold besides the names of models. */
const COUNTERS = [
  ...['prompt_tokens_details', 'completion_tokens_details', 'total_tokens', 'requests'],
  ...['input_tokens_details', 'output_tokens_details', 'cached_tokens', 'reasoning_tokens'],
  ...['cache_read_input_tokens', 'cache_creation_input_tokens', 'audio_tokens', 'text_tokens'],
  ...['image_tokens', 'accepted_prediction_tokens', 'rejected_prediction_tokens'],
  ...['prompt_tokens_total_cost', 'completion_tokens_total_cost', 'server_tool_use'],
  ...['web_search_requests', 'service_tier', 'ephemeral_5m_input_tokens', 'null'],
  ...['prompt_token_count', 'candidates_token_count', 'thoughts_token_count'],
]

export const MODEL_HINT =
  'The name of a model, or a part of it. A part that is also found in names of counters, such as “total”, must be the whole name.'

/**
 * The names are the keys of a report of usage, and can only be searched in the text of the whole report. So a part that
 * any report may hold, or its numbers, has to be the whole name.
 */
export function modelCondition(name: string): object {
  const isCommon =
    !/\p{L}/u.test(name) || COUNTERS.some((counter) => counter.includes(name.toLowerCase()))
  if (!isCommon)
    return {
      $or: [contains('summary.usage', escapedInJson(name)), contains('inputs.model', name)],
    }
  // A plain dot would lead on into the report.
  const key = `summary.usage.${name.replaceAll('.', '\\.')}`
  return { $or: [isThere(key), { $eq: [field('inputs.model'), literal(name)] }] }
}
