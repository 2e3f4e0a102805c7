/** Tables of platforms and gateways whose SDKs write spans, whatever library made the call. Pure data. */
import { type AttributePath, type Dialect, python, text } from './dialect.ts'

/** As langfuse-fields.ts rewrites what its SDKs send; their sessions are those of OpenInference, older users their own. */
export const LANGFUSE: Dialect = {
  name: 'langfuse',
  kind: ['langfuse.observation.type'],
  model: ['langfuse.observation.model.name'],
  messages: [text('langfuse.observation.messages')],
  tools: ['langfuse.observation.tools'],
  input: ['langfuse.observation.input'],
  answers: [text('langfuse.observation.answer')],
  output: ['langfuse.observation.output'],
  inputTokens: ['langfuse.observation.usage.input'],
  outputTokens: ['langfuse.observation.usage.output'],
  totalTokens: ['langfuse.observation.usage.total'],
  cacheRead: ['langfuse.observation.usage.cache_read'],
  cacheWrite: ['langfuse.observation.usage.cache_write'],
  reasoning: ['langfuse.observation.usage.reasoning'],
  cost: ['langfuse.observation.cost_details'],
  user: ['langfuse.user.id'],
  parameters: ['langfuse.observation.model.parameters'],
}

/** What LangSmith's tracing as OpenTelemetry (langsmith[otel] 0.15.1) adds to the older conventions. */
export const LANGSMITH: Dialect = {
  name: 'langsmith',
  kind: ['langsmith.span.kind'],
  usage: ['langsmith.metadata.usage_metadata'],
  thread: [
    'langsmith.metadata.thread_id',
    'langsmith.metadata.session_id',
    'langsmith.metadata.conversation_id',
  ],
  user: ['langsmith.metadata.user_id'],
}

/** LangSmith's tracing for JavaScript (0.10.5), whose spans begin with the status OK, which none can change. */
export const LANGSMITH_JS: Dialect = {
  name: 'langsmith_js',
  scopes: ['langsmith'],
  failsByException: true,
}

/** What Laminar's SDKs (Python 0.8.2, JavaScript 0.8.46) add to the conventions, whatever made the span. */
export const LAMINAR: Dialect = {
  name: 'laminar',
  kind: ['lmnr.span.type'],
  input: ['lmnr.span.input'],
  output: ['lmnr.span.output'],
  thread: ['lmnr.association.properties.session_id'],
  user: ['lmnr.association.properties.user_id'],
}

/** What the spans of LiteLLM (1.110.2), and of both versions of its proxy, have beside the conventions. */
export const LITELLM: Dialect = {
  name: 'litellm',
  holders: [python('metadata.requester_metadata')],
  // Without its proxy the model of the response is that of the provider.
  routedModel: [
    { path: 'litellm.provider.model', form: 'text', when: ['litellm.model_group'] },
    { path: 'litellm.provider.model', form: 'text', when: ['litellm.request.route'] },
  ],
  usage: [python('metadata.usage_object')],
  cost: ['gen_ai.cost.total_cost', 'litellm.cost.total'],
  thread: ['metadata.requester_metadata.session_id'],
  user: [
    'metadata.user_id',
    'metadata.user_api_key_end_user_id',
    'litellm.metadata.user_api_key_end_user_id',
  ],
}

/** Its spans for Langfuse: the attributes of OpenInference beside that output lack calls of tools. */
export const LITELLM_LANGFUSE: Dialect = {
  name: 'litellm_langfuse',
  scopes: ['litellm'],
  answers: [text('langfuse.observation.answer')],
}

/** Logfire's spans: requests and responses are JSON as a whole, in which each text is one. */
export const LOGFIRE: Dialect = {
  name: 'logfire',
  op: ['agent_name'],
  requestedModel: ['request_data.model', 'model_name'],
  model: ['response_data.model'],
  messages: [
    text('request_data.messages'),
    text('request_data.input'),
    'pydantic_ai.all_messages',
    'events',
  ],
  tools: ['request_data.tools'],
  input: ['tool_arguments', 'inputs'],
  answers: [text('response_data.message')],
  output: [
    'tool_response',
    'final_result',
    text('response_data.combined_chunk_content'),
    'embeddings',
  ],
  inputTokens: ['response_data.usage.prompt_tokens', 'response_data.usage.input_tokens'],
  outputTokens: ['response_data.usage.completion_tokens', 'response_data.usage.output_tokens'],
  totalTokens: ['response_data.usage.total_tokens'],
  serviceTier: ['response_data.service_tier'],
  holders: ['request_data', 'response_data'],
  providerUsage: ['gen_ai.usage.raw'],
  displayName: ['logfire.msg'],
}

/** What Logfire's spans of openai-agents (5.4.0) have beside its other spans. */
export const LOGFIRE_AGENTS: Dialect = {
  name: 'logfire_agents',
  scopes: ['logfire.openai_agents'],
  holders: ['response'],
  // Its list of events ends with the answer.
  messages: ['raw_input', { path: 'input', form: 'json', when: ['gen_ai.operation.name', 'chat'] }],
  tools: ['response.tools'],
  input: ['input'],
  answers: [
    'response.output',
    { path: 'output', form: 'json', when: ['gen_ai.operation.name', 'chat'] },
  ],
  output: ['output'],
  providerUsage: ['usage'],
  thread: ['group_id'],
}

const ofMlflowModel = (path: string): AttributePath => ({
  path,
  form: 'json',
  when: ['mlflow.spanType', 'CHAT_MODEL', 'LLM'],
})

/** Spans that MLflow's tracing exports (3.17.2): every value is JSON as a text. */
export const MLFLOW: Dialect = {
  name: 'mlflow',
  holders: [
    'mlflow.spanType',
    'mlflow.spanInputs',
    'mlflow.spanOutputs',
    'mlflow.chat.tokenUsage',
    'mlflow.llm.model',
    'mlflow.llm.provider',
  ],
  kind: ['mlflow.spanType'],
  requestedModel: ['mlflow.spanInputs.model'],
  model: ['mlflow.llm.model'],
  provider: ['mlflow.llm.provider'],
  messages: [ofMlflowModel('mlflow.spanInputs.messages')],
  tools: ['mlflow.chat.tools', 'mlflow.spanInputs.tools'],
  input: ['mlflow.spanInputs'],
  answers: [ofMlflowModel('mlflow.spanOutputs.choices')],
  output: ['mlflow.spanOutputs'],
  // MLflow's own counts have neither reasoning nor, for Responses, what a cache took.
  providerUsage: [
    {
      ...ofMlflowModel('mlflow.spanOutputs.usage'),
      when: ['mlflow.spanType', 'CHAT_MODEL', 'LLM', 'EMBEDDING'],
    },
  ],
  // Of Anthropic's counts, too, the input has what a cache had or took.
  usage: ['mlflow.chat.tokenUsage'],
  cost: ['mlflow.llm.cost'],
  parameters: [ofMlflowModel('mlflow.spanInputs')],
}

/** LangWatch's SDKs (1.4 for Python): values have their type beside them; any span may carry these keys. */
export const LANGWATCH: Dialect = {
  name: 'langwatch',
  holders: ['langwatch.input', 'langwatch.output', 'langwatch.params', 'langwatch.metrics'],
  kind: ['langwatch.span.type'],
  messages: [
    {
      path: 'langwatch.input.value',
      form: 'text',
      when: ['langwatch.input.type', 'chat_messages'],
    },
  ],
  tools: ['langwatch.params.tools'],
  input: [text('langwatch.input.value')],
  answers: [
    {
      path: 'langwatch.output.value',
      form: 'text',
      when: ['langwatch.output.type', 'chat_messages'],
    },
  ],
  output: [text('langwatch.output.value')],
  reasoning: ['langwatch.metrics.reasoning_tokens'],
  cost: ['langwatch.metrics.cost'],
  thread: ['langwatch.thread.id'],
}

/** What LangWatch's own spans say of a trace, in a key that other libraries use otherwise. */
export const LANGWATCH_TRACE: Dialect = {
  name: 'langwatch_trace',
  scopes: ['langwatch'],
  holders: ['metadata'],
  thread: ['metadata.thread_id'],
  user: ['metadata.user_id'],
}

/** Future AGI's traceAI (openai 0.1.10): counts in detail below the key of a count, requests and messages as it has them. */
export const TRACEAI: Dialect = {
  name: 'traceai',
  scopes: ['traceai'],
  // A response as Python prints it.
  holders: ['gen_ai.request.parameters', python('output.value')],
  kind: ['gen_ai.span.kind'],
  requestedModel: ['gen_ai.request.parameters.model'],
  tools: ['gen_ai.request.parameters.tools'],
  // Its messages of a response begin with the thoughts, as if they were the answer.
  answers: [text('output.value.output')],
  cacheRead: ['gen_ai.usage.input_tokens.cache_read'],
  cacheWrite: ['gen_ai.usage.input_tokens.cache_write'],
  reasoning: ['gen_ai.usage.output_tokens.reasoning'],
  inputAudio: ['gen_ai.usage.input_tokens.audio'],
  outputAudio: ['gen_ai.usage.output_tokens.audio'],
  // It leaves out what a cache took.
  providerUsage: [
    { path: 'output.value.usage', form: 'json', when: ['output.value.object', 'response'] },
  ],
  parameters: ['gen_ai.request.parameters'],
}
