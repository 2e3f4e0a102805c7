/** Every row of every table of the interface, by section. Each must appear in the title of a test. */
function rows(section: string, names: string): string[] {
  return names
    .trim()
    .split(/\s*\|\s*|\n\s*/)
    .filter((name) => name !== '')
    .map((name) => `§${section} ${name}`)
}

export const SPEC_ROWS: readonly string[] = [
  ...rows('2.1', 'object ref | op ref | call ref | project_id'),
  ...rows(
    '2.2',
    `project_id | weave_ref | feedback_type | payload | id | creator | annotation_ref | runnable_ref
     call_ref | trigger_ref | queue_id | svc_user_id`,
  ),
  ...rows('2.3', 'id | created_at | svc_user_id | payload'),
  ...rows('2.4', 'json_path | value_type'),
  ...rows(
    '2.5',
    `id | project_id | op_name | trace_id | started_at | attributes | inputs | display_name | parent_id
     thread_id | turn_id | ended_at | exception | output | summary | svc_user_id | svc_username
     svc_run_id | svc_run_step | svc_run_step_end | deleted_at | storage_size_bytes
     total_storage_size_bytes`,
  ),
  ...rows(
    '2.6',
    `project_id | op_name | started_at | attributes | inputs | id | display_name | trace_id | parent_id
     thread_id | turn_id | otel_dump | svc_user_id | svc_run_id | svc_run_step`,
  ),
  ...rows(
    '2.7',
    `op_names | input_refs | output_refs | parent_ids | trace_ids | call_ids | thread_ids | turn_ids
     trace_roots_only | svc_user_ids | svc_run_ids`,
  ),
  ...rows('2.8', 'aggregations | percentiles'),
  ...rows('2.9', 'usage bucket | call bucket'),
  ...rows(
    '2.10',
    `ChatCompletionDeveloperMessageParam | ChatCompletionSystemMessageParam
     ChatCompletionUserMessageParam | ChatCompletionAssistantMessageParam
     ChatCompletionToolMessageParam | ChatCompletionFunctionMessageParam
     CustomChatCompletionMessageParam | Message`,
  ),
  ...rows('2.11', 'id | object | created | owned_by | root | list object | list data'),
  ...rows('2.12', 'model_id | trajectory_groups | experimental_config'),
  ...rows(
    '2.12 trajectory',
    `messages_and_choices | tools | additional_histories | reward | initial_policy_version
     final_policy_version | metrics | metadata | logs | start_time`,
  ),
  ...rows(
    '2.12 experimental_config',
    `advantage_balance | epsilon | epsilon_high | model_k2_tau | learning_rate | mask_prob_ratio
     max_negative_advantage_importance_sampling_weight | ppo | precalculate_logprobs | scale_rewards`,
  ),
  ...rows('2.13', 'id | step | metrics'),
  ...rows('4.2', 'project_id | start | end | feedback_type | trigger_ref | sample_limit'),
  ...rows(
    '4.3',
    `messages | model | frequency_penalty | logit_bias | logprobs | top_logprobs | max_tokens
     max_completion_tokens | n | presence_penalty | response_format | seed | stop | stream
     stream_options | temperature | top_p | tools | tool_choice | reasoning_effort | include_reasoning
     parallel_tool_calls | user | use_beam_search | top_k | min_p | repetition_penalty
     length_penalty | stop_token_ids | include_stop_str_in_output | ignore_eos | min_tokens
     skip_special_tokens | spaces_between_special_tokens | truncate_prompt_tokens | prompt_logprobs
     allowed_token_ids | bad_words | echo | add_generation_prompt | continue_final_message
     add_special_tokens | documents | chat_template | chat_template_kwargs | mm_processor_kwargs
     structured_outputs | priority | request_id | logits_processors | return_tokens_as_token_ids
     return_token_ids | cache_salt | kv_transfer_params | engine_xargs`,
  ),
  ...rows(
    '4.3 structured_outputs',
    `json | regex | choice | grammar | json_object | disable_fallback | disable_any_whitespace
     disable_additional_properties | whitespace_pattern | structural_tag | _backend
     _backend_was_auto`,
  ),
  ...rows(
    '4.3 response',
    `model | choices | usage | id | object | created | service_tier | system_fingerprint
     prompt_logprobs | prompt_token_ids | kv_transfer_params`,
  ),
  ...rows('4.3 choice', 'index | message | logprobs | finish_reason | stop_reason | token_ids'),
  ...rows(
    '4.3 message',
    `role | content | refusal | annotations | audio | function_call | tool_calls | reasoning
     reasoning_content`,
  ),
  ...rows('4.3 usage', 'prompt_tokens | total_tokens | completion_tokens | prompt_tokens_details'),
  ...rows(
    '4.4',
    `project_id | start | end | granularity | usage_metrics | call_metrics | filter | timezone`,
  ),
  ...rows('4.4 response', 'start | end | granularity | timezone | usage_buckets | call_buckets'),
  ...rows(
    '4.5',
    `project_id | id | include_costs | include_storage_size | include_total_storage_size | call`,
  ),
  ...rows('4.6', 'start | id | trace_id'),
  ...rows('4.7', 'models list'),
  ...rows('4.8', 'training job'),
  ...rows('4.9', 'after | limit | order'),
  ...rows('4.9 response', 'data | has_more | object | first_id | last_id'),
  ...rows('5', 'basic | bearer'),
  ...rows('7', '1 | 2'),
  ...rows(
    '8',
    `feedback payload schema sample_limit | calls stats | checkpoints limit | chat seed
     chat truncate_prompt_tokens | chat defaults`,
  ),
  ...rows('9', 'trailing slash'),
]
