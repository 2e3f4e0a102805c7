/**
 * Where each dialect of GenAI spans stores the fields of a call: one table per dialect, tried in this order; the first
 * path with a value wins. Pure data. Paths are dotted attribute keys, or prefixes of flattened ones.
 */
import { AG2 } from './ag2.ts'
import { ANTHROPIC_SDK } from './anthropic-sdk.ts'
import { CLAUDE_CODE } from './claude-code.ts'
import { type Dialect, flattened, items, text, typed } from './dialect.ts'
import { GENKIT } from './genkit.ts'
import { LANGSMITH } from './langsmith.ts'
import { LITELLM } from './litellm.ts'
import { LOGFIRE_AGENTS } from './logfire-agents.ts'
import { MASTRA } from './mastra.ts'
import { MLFLOW } from './mlflow.ts'
import { OPENLLMETRY_ANTHROPIC_JS, OPENLLMETRY_BEDROCK } from './openllmetry.ts'
import { SPRING_AI } from './spring-ai.ts'
import { VOLTAGENT } from './voltagent.ts'

/** The semantic conventions of OpenTelemetry since 1.37, as the Weave SDK's agent spans write them, too. */
const GEN_AI: Dialect = {
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

const OPEN_INFERENCE: Dialect = {
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
  ],
  parameters: ['llm.invocation_parameters'],
}

/** OpenLLMetry, and semantic conventions before 1.37: the same keys, with prompts and completions flattened. */
const TRACELOOP: Dialect = {
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

const VERCEL: Dialect = {
  name: 'vercel',
  kind: ['ai.operationId'],
  op: ['ai.telemetry.functionId'],
  requestedModel: ['ai.model.id'],
  model: ['ai.response.model'],
  provider: ['ai.model.provider'],
  messages: ['ai.prompt.messages', 'ai.prompt'],
  tools: ['ai.prompt.tools'],
  input: ['ai.toolCall.args', 'ai.value', items('ai.values'), items('ai.documents')],
  answers: [text('ai.response.text')],
  toolCalls: ['ai.response.toolCalls'],
  thoughts: [text('ai.response.reasoning')],
  output: [
    'ai.toolCall.result',
    'ai.response.object',
    'ai.embedding',
    items('ai.embeddings'),
    items('ai.ranking'),
  ],
  finish: [text('ai.response.finishReason')],
  inputTokens: ['ai.usage.inputTokens', 'ai.usage.promptTokens', 'ai.usage.tokens'],
  outputTokens: ['ai.usage.outputTokens', 'ai.usage.completionTokens'],
  totalTokens: ['ai.usage.totalTokens'],
  cacheRead: ['ai.usage.cachedInputTokens', 'ai.usage.inputTokenDetails.cacheReadTokens'],
  cacheWrite: ['ai.usage.inputTokenDetails.cacheWriteTokens'],
  reasoning: ['ai.usage.reasoningTokens', 'ai.usage.outputTokenDetails.reasoningTokens'],
  // Since version 7 the runtime context takes the place of metadata.
  thread: [
    'ai.telemetry.metadata.sessionId',
    'ai.telemetry.metadata.threadId',
    'ai.settings.context.sessionId',
    'ai.settings.context.threadId',
  ],
  user: ['ai.telemetry.metadata.userId', 'ai.settings.context.userId'],
  parameters: ['ai.settings'],
}

/** Requests and responses are JSON as a whole, in which each text is one. */
const LOGFIRE: Dialect = {
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

/**
 * Google's ADK before 2.0 for Python, and for JavaScript (2.0), which have requests and responses of the Gemini API as
 * JSON, in either spelling. Their attributes leave thoughts out of the output; the total of the response has them.
 */
const ADK: Dialect = {
  name: 'adk',
  holders: ['gcp.vertex.agent.llm_request', 'gcp.vertex.agent.llm_response'],
  model: [
    'gcp.vertex.agent.llm_response.model_version',
    'gcp.vertex.agent.llm_response.modelVersion',
  ],
  messages: ['gcp.vertex.agent.llm_request.contents'],
  system: [
    'gcp.vertex.agent.llm_request.config.system_instruction',
    'gcp.vertex.agent.llm_request.config.systemInstruction',
  ],
  tools: ['gcp.vertex.agent.llm_request.config.tools'],
  input: ['gcp.vertex.agent.tool_call_args'],
  answers: ['gcp.vertex.agent.llm_response.content'],
  output: ['gcp.vertex.agent.tool_response'],
  totalTokens: [
    'gcp.vertex.agent.llm_response.usage_metadata.total_token_count',
    'gcp.vertex.agent.llm_response.usageMetadata.totalTokenCount',
  ],
  cacheRead: [
    'gcp.vertex.agent.llm_response.usage_metadata.cached_content_token_count',
    'gcp.vertex.agent.llm_response.usageMetadata.cachedContentTokenCount',
  ],
  reasoning: [
    'gcp.vertex.agent.llm_response.usage_metadata.thoughts_token_count',
    'gcp.vertex.agent.llm_response.usageMetadata.thoughtsTokenCount',
  ],
  thread: ['gcp.vertex.agent.session_id'],
}

/** As langfuse-fields.ts rewrites what its SDKs send; their sessions are those of OpenInference, older users their own. */
const LANGFUSE: Dialect = {
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

/** Keys of the Weave service itself, which any span may carry. */
const WEAVE: Dialect = {
  name: 'weave',
  displayName: ['wandb.display_name'],
  thread: ['wandb.thread_id'],
  turn: ['wandb.turn_id'],
}

export const DIALECTS: readonly Dialect[] = [
  WEAVE,
  OPENLLMETRY_BEDROCK,
  OPENLLMETRY_ANTHROPIC_JS,
  LOGFIRE_AGENTS,
  GEN_AI,
  AG2,
  ANTHROPIC_SDK,
  OPEN_INFERENCE,
  TRACELOOP,
  VERCEL,
  LOGFIRE,
  ADK,
  LANGFUSE,
  CLAUDE_CODE,
  GENKIT,
  MLFLOW,
  LANGSMITH,
  LITELLM,
  MASTRA,
  VOLTAGENT,
  SPRING_AI,
]
