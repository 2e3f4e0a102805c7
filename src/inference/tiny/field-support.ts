/**
 * How the tiny model handles each field of a chat request, in one complete table. `ignored` is allowed only where a
 * client could not notice that the field has no effect.
 */
import type { FieldSupport } from '../../domain/chat/chat-rules.ts'

/**
 * Spec: §4.3.
 * Choice: what the model cannot do is rejected by name when it is asked for. Ignored is a label of the
 * client.
 */
export const TINY_FIELDS: FieldSupport = {
  messages: 'honoured',
  model: 'honoured',
  frequency_penalty: 'honoured',
  logit_bias: 'honoured',
  logprobs: 'honoured',
  top_logprobs: 'honoured',
  max_tokens: 'honoured',
  max_completion_tokens: 'honoured',
  n: 'honoured',
  presence_penalty: 'honoured',
  response_format: 'honoured',
  seed: 'honoured',
  stop: 'honoured',
  stream: 'honoured',
  stream_options: 'honoured',
  temperature: 'honoured',
  top_p: 'honoured',
  tools: 'honoured',
  tool_choice: 'honoured',
  reasoning_effort: 'honoured',
  include_reasoning: 'honoured',
  parallel_tool_calls: 'honoured',
  user: 'ignored',
  use_beam_search: 'honoured',
  top_k: 'honoured',
  min_p: 'honoured',
  repetition_penalty: 'honoured',
  length_penalty: 'honoured',
  stop_token_ids: 'honoured',
  include_stop_str_in_output: 'honoured',
  ignore_eos: 'honoured',
  min_tokens: 'honoured',
  skip_special_tokens: 'honoured',
  spaces_between_special_tokens: 'honoured',
  truncate_prompt_tokens: 'honoured',
  prompt_logprobs: 'honoured',
  allowed_token_ids: 'honoured',
  bad_words: 'honoured',
  echo: 'honoured',
  add_generation_prompt: 'honoured',
  continue_final_message: 'honoured',
  add_special_tokens: 'honoured',
  documents: 'honoured',
  chat_template: 'rejected',
  chat_template_kwargs: 'honoured',
  mm_processor_kwargs: 'rejected',
  structured_outputs: 'honoured',
  priority: 'honoured',
  request_id: 'honoured',
  logits_processors: 'rejected',
  return_tokens_as_token_ids: 'honoured',
  return_token_ids: 'honoured',
  cache_salt: 'honoured',
  kv_transfer_params: 'rejected',
  engine_xargs: 'rejected',
}
