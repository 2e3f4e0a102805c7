/** The conventions that many libraries share, and the instrumentations that count otherwise. Pure data. */
import { type Dialect, flattened, text, typed } from './dialect.ts'

/** Keys of the Weave service itself, which any span may carry. */
export const WEAVE: Dialect = {
  name: 'weave',
  displayName: ['wandb.display_name'],
  thread: ['wandb.thread_id'],
  turn: ['wandb.turn_id'],
}

/** The semantic conventions of OpenTelemetry since 1.37, as the Weave SDK's agent spans write them, too. */
export const GEN_AI: Dialect = {
  name: 'gen_ai',
  kind: ['gen_ai.operation.name'],
  requestedModel: ['gen_ai.request.model'],
  model: ['gen_ai.response.model'],
  provider: ['gen_ai.provider.name', 'gen_ai.system'],
  messages: ['gen_ai.input.messages'],
  system: ['gen_ai.system_instructions'],
  tools: ['gen_ai.tool.definitions'],
  input: ['gen_ai.tool.call.arguments', text('gen_ai.retrieval.query.text')],
  answers: ['gen_ai.output.messages'],
  output: ['gen_ai.tool.call.result', 'gen_ai.retrieval.documents'],
  finish: ['gen_ai.response.finish_reasons'],
  inputTokens: ['gen_ai.usage.input_tokens'],
  outputTokens: ['gen_ai.usage.output_tokens'],
  totalTokens: ['gen_ai.usage.total_tokens'],
  cacheRead: [
    'gen_ai.usage.cache_read.input_tokens',
    'gen_ai.usage.cache_read_input_tokens',
    'gen_ai.usage.details.cache_read_tokens',
  ],
  cacheWrite: [
    'gen_ai.usage.cache_creation.input_tokens',
    'gen_ai.usage.cache_write.input_tokens',
    'gen_ai.usage.cache_creation_input_tokens',
    'gen_ai.usage.details.cache_write_tokens',
  ],
  reasoning: [
    'gen_ai.usage.reasoning.output_tokens',
    'gen_ai.usage.reasoning_tokens',
    'gen_ai.usage.details.reasoning_tokens',
  ],
  // The last one is that of pydantic-ai and logfire.
  cost: ['gen_ai.usage.cost', 'gen_ai.usage.cost_usd', 'gen_ai.usage.total_cost', 'operation.cost'],
  serviceTier: [
    'gen_ai.openai.response.service_tier',
    'openai.response.service_tier',
    'gen_ai.response.service_tier',
    'gen_ai.anthropic.service_tier',
  ],
  thread: ['gen_ai.conversation.id'],
  user: ['enduser.id'],
  parameters: ['gen_ai.request'],
}

export const OPEN_INFERENCE: Dialect = {
  name: 'openinference',
  holders: [typed('output.value', 'output.mime_type')],
  kind: ['openinference.span.kind'],
  requestedModel: ['llm.request.model_name'],
  model: [
    'llm.response.model_name',
    'llm.model_name',
    'embedding.model_name',
    'reranker.model_name',
  ],
  provider: ['llm.provider', 'llm.system'],
  cost: ['llm.cost.total'],
  messages: ['llm.input_messages', text('llm.prompts')],
  tools: ['llm.tools', 'tool.json_schema'],
  input: [
    typed('input.value', 'input.mime_type'),
    'tool.parameters',
    text('embedding.text'),
    text('reranker.query'),
  ],
  answers: ['llm.output_messages', 'llm.choices'],
  embeddings: ['embedding.embeddings'],
  output: [
    typed('output.value', 'output.mime_type'),
    'retrieval.documents',
    'reranker.output_documents',
  ],
  finish: [text('llm.finish_reason')],
  inputTokens: ['llm.token_count.prompt'],
  outputTokens: ['llm.token_count.completion'],
  totalTokens: ['llm.token_count.total'],
  cacheRead: ['llm.token_count.prompt_details.cache_read'],
  cacheWrite: ['llm.token_count.prompt_details.cache_write'],
  inputAudio: ['llm.token_count.prompt_details.audio'],
  outputAudio: ['llm.token_count.completion_details.audio'],
  reasoning: ['llm.token_count.completion_details.reasoning'],
  thread: ['session.id'],
  user: ['user.id'],
  // What an API reported beside the counts of the convention, as instrumentors that copy its response show it.
  providerUsage: [
    { path: 'output.value.usage', form: 'json', when: ['openinference.span.kind', 'LLM'] },
    // A stream of Mistral's is an event, whose data is the response.
    { path: 'output.value.data.usage', form: 'json', when: ['openinference.span.kind', 'LLM'] },
  ],
  parameters: ['llm.invocation_parameters'],
}

/** OpenLLMetry, and semantic conventions before 1.37: the same keys, with prompts and completions flattened. */
export const TRACELOOP: Dialect = {
  name: 'traceloop',
  kind: ['traceloop.span.kind', 'llm.request.type'],
  // Every span below a workflow has the name of that.
  op: ['traceloop.entity.name'],
  model: ['llm.response.model'],
  messages: [flattened('gen_ai.prompt')],
  tools: ['llm.request.functions'],
  input: ['traceloop.entity.input'],
  answers: [flattened('gen_ai.completion')],
  // LiteLLM has its calls there beside the answers of the newer conventions.
  functionCalls: ['gen_ai.completion'],
  output: ['traceloop.entity.output'],
  finish: [text('gen_ai.response.finish_reason')],
  inputTokens: ['gen_ai.usage.prompt_tokens'],
  outputTokens: ['gen_ai.usage.completion_tokens'],
  totalTokens: ['llm.usage.total_tokens'],
  reasoning: ['llm.usage.reasoning_tokens'],
  thread: [
    'traceloop.association.properties.session_id',
    'traceloop.association.properties.thread_id',
    'traceloop.association.properties.conversation_id',
  ],
  user: ['traceloop.association.properties.user_id', 'gen_ai.user'],
}

/**
 * Instrumentations that count as Anthropic and Bedrock do: their input leaves out what a cache had or took. These are
 * OpenTelemetry's for Bedrock (GenAI 1.3, botocore 0.66), OpenLIT for Python (1.45) and JavaScript (1.15), and OpenLLMetry for
 * Bedrock in Python (0.62.4) and for Anthropic in JavaScript (0.27.0); that for Anthropic in Python includes the cached input.
 */
export const UNCACHED_INPUT: Dialect = {
  name: 'uncached_input',
  scopes: [
    'opentelemetry.instrumentation.bedrock',
    'opentelemetry.instrumentation.genai.bedrock',
    'opentelemetry.instrumentation.botocore.bedrock',
    'openlit.instrumentation.anthropic',
    'openlit.instrumentation.bedrock',
    '@openlit/instrumentation-anthropic',
    '@openlit/instrumentation-bedrock',
    '@traceloop/instrumentation-anthropic',
  ],
  inputTokens: ['gen_ai.usage.input_tokens'],
  countsCacheBeside: true,
}
