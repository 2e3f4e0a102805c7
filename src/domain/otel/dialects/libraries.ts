/** Tables of clients and frameworks that write spans of their own. Pure data. */
import { type Dialect, items, text } from './dialect.ts'

/** Anthropic's clients by themselves (Python 2.14, Go 2.15, Java 3.14), beside the semantic conventions. */
export const ANTHROPIC_SDK: Dialect = {
  name: 'anthropic-sdk',
  finish: [text('anthropic.message.stop_reason')],
  cacheWriteHour: ['anthropic.usage.cache_creation.ephemeral_1h_input_tokens'],
  serviceTier: ['anthropic.response.service_tier'],
}

export const VERCEL: Dialect = {
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

/**
 * Google's ADK before 2.0 for Python, and for JavaScript (2.0), which have requests and responses of the Gemini API as
 * JSON, in either spelling. Their attributes leave thoughts out of the output; the total of the response has them.
 */
export const ADK: Dialect = {
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

/** AG2's own spans (1.2), beside the semantic conventions. */
export const AG2: Dialect = {
  name: 'ag2',
  scopes: ['opentelemetry.instrumentation.ag2'],
  // A span of each model call's usage stands beside that of the call.
  repeated: [{ path: 'ag2.usage.kind', form: 'text', when: ['ag2.usage.kind', 'model_call'] }],
  reasoning: ['gen_ai.usage.thinking_tokens'],
}

/**
 * Spans of Claude Code and its Agent SDK (0.3.328, with its enhanced telemetry). Names without a prefix: those of other
 * scopes may mean something else.
 */
export const CLAUDE_CODE: Dialect = {
  name: 'claude_code',
  scopes: ['com.anthropic.claude_code'],
  kind: ['span.type'],
  model: ['model'],
  messages: [text('user_prompt')],
  input: ['tool_input', text('full_command'), text('file_path')],
  outputEvents: [['tool.output', 'output']],
  finish: [text('stop_reason')],
  inputTokens: ['input_tokens'],
  outputTokens: ['output_tokens'],
  cacheRead: ['cache_read_tokens'],
  cacheWrite: ['cache_creation_tokens'],
  countsCacheBeside: true,
}

/** Spans of Genkit (1.42 for JavaScript, 1.4 for Go): request and response of each step as JSON. */
export const GENKIT: Dialect = {
  name: 'genkit',
  holders: ['genkit:input', 'genkit:output'],
  kind: ['genkit:metadata:subtype', 'genkit:type'],
  requestedModel: [
    'genkit:input.model',
    {
      path: 'genkit:name',
      form: 'text',
      when: ['genkit:metadata:subtype', 'model', 'embedder', 'reranker'],
    },
  ],
  model: ['genkit:output.raw.model', 'genkit:output.raw.modelVersion'],
  messages: ['genkit:input.messages'],
  tools: ['genkit:input.tools'],
  input: ['genkit:input'],
  answers: ['genkit:output.message'],
  output: ['genkit:output'],
  finish: ['genkit:output.finishReason'],
  // Its own report has no cached tokens in some plugins.
  providerUsage: ['genkit:output.raw.usage', 'genkit:output.raw.usageMetadata'],
  usage: ['genkit:output.usage'],
  parameters: ['genkit:input.config'],
}

/**
 * Ax (24.0), beside the semantic conventions: counts are in an event. Its input leaves out what a cache had or took, which only
 * the total has. Its spans have no messages.
 */
export const AX: Dialect = {
  name: 'ax',
  attributeEvents: [['gen_ai.usage', 'gen_ai.usage.input_tokens']],
  reasoning: ['gen_ai.usage.thoughts_tokens'],
  countsThoughtsBeside: true,
}

/** TanStack AI's middleware (0.58), beside the semantic conventions. Its tools have no name of an operation. */
export const TANSTACK: Dialect = {
  name: 'tanstack',
  kind: ['gen_ai.tool.type'],
  // The span of a run has the sum of its requests, and their model.
  repeated: ['tanstack.ai.iterations'],
}

/** Spans of promptfoo's evaluations (0.123), beside the semantic conventions: the prompt, which may be a chat, and the answer. */
export const PROMPTFOO: Dialect = {
  name: 'promptfoo',
  scopes: ['promptfoo'],
  messages: ['promptfoo.request.body'],
  input: ['tool.arguments'],
  answers: [text('promptfoo.response.body')],
  output: ['tool.output'],
  totalTokens: ['promptfoo.usage.total_tokens'],
}

const MASTRA_TYPES = [
  'agent_run',
  'model_generation',
  'model_step',
  'model_inference',
  'tool_call',
  'mcp_tool_call',
  'workflow_run',
  'workflow_step',
  'processor_run',
  'generic',
]

/** Spans of Mastra (core 1.71 with its exporter 1.4) beside the conventions: values under the type of the span. */
export const MASTRA: Dialect = {
  name: 'mastra',
  input: MASTRA_TYPES.map((type) => `mastra.${type}.input`),
  output: MASTRA_TYPES.map((type) => `mastra.${type}.output`),
  thread: ['mastra.metadata.sessionId', 'mastra.metadata.threadId'],
  user: ['mastra.metadata.userId'],
}

/** Spring AI's observations (2.0), beside the semantic conventions. Its messages are in no span. */
export const SPRING_AI: Dialect = {
  name: 'spring-ai',
  input: ['spring.ai.tool.call.arguments'],
  // A text is one in quotation marks.
  output: ['spring.ai.tool.call.result'],
  thread: ['spring.ai.chat.client.conversation.id'],
}

const VOLTAGENT_JSON = ['span.type', 'tool', 'memory'] as const

/** VoltAgent's own spans (2.10). Its model calls have no answer: that is on the agent above them. */
export const VOLTAGENT: Dialect = {
  name: 'voltagent',
  scopes: ['@voltagent/'],
  // Every span of an agent has the type of that.
  kind: ['span.type', 'entity.type'],
  requestedModel: ['llm.model', 'ai.model.name'],
  messages: ['llm.messages', 'agent.messages'],
  input: [{ path: 'input', form: 'json', when: VOLTAGENT_JSON }, text('input')],
  output: [{ path: 'output', form: 'json', when: VOLTAGENT_JSON }, text('output')],
  finish: [text('llm.finish_reason'), text('ai.response.finish_reason')],
  inputTokens: ['llm.usage.prompt_tokens', 'usage.prompt_tokens'],
  outputTokens: ['llm.usage.completion_tokens', 'usage.completion_tokens'],
  totalTokens: ['llm.usage.total_tokens', 'usage.total_tokens'],
  cacheRead: ['llm.usage.cached_tokens', 'usage.cached_tokens'],
  reasoning: ['llm.usage.reasoning_tokens', 'usage.reasoning_tokens'],
  thread: ['conversation.id'],
}

/** Pipecat's own spans (1.14): a conversation, its turns, and the services for models and speech that they ask. */
export const PIPECAT: Dialect = {
  name: 'pipecat',
  scopes: ['pipecat'],
  messages: ['input'],
  tools: ['tools'],
  input: [text('text')],
  // Calls of tools are in the messages of the next request alone.
  answers: [text('output')],
  output: [text('transcript')],
  thread: ['conversation.id'],
}

/** Pipecat's counts (1.14) are those of the provider: the input of these leaves out what a cache had or took. */
export const PIPECAT_UNCACHED: Dialect = {
  name: 'pipecat_uncached',
  scopes: ['pipecat'],
  inputTokens: [
    {
      path: 'gen_ai.usage.input_tokens',
      form: 'json',
      when: ['gen_ai.provider.name', 'anthropic', 'aws.bedrock'],
    },
  ],
  countsCacheBeside: true,
}

/** What Mirascope's spans (2.8) have beside the semantic conventions. */
export const MIRASCOPE: Dialect = {
  name: 'mirascope',
  scopes: ['mirascope'],
  usage: ['mirascope.response.usage'],
  thread: ['mirascope.ops.session.id'],
}

/** A component of a pipeline, and what an agent of its own does in a step. */
const HAYSTACK_STEPS = ['haystack.component', 'haystack.agent.step.llm']
const HAYSTACK_INPUTS = [...HAYSTACK_STEPS, 'haystack.agent.step.tool', 'haystack.agent'].map(
  (step) => `${step}.input`,
)
const HAYSTACK_OUTPUTS = HAYSTACK_INPUTS.map((path) => path.replace(/input$/, 'output'))
const inHaystack = (place: string): string[] => HAYSTACK_STEPS.map((step) => `${step}.${place}`)

/** Haystack's own tracer (3.4), under whichever scope the program names, with its tracing of contents. */
export const HAYSTACK: Dialect = {
  name: 'haystack',
  holders: [...HAYSTACK_INPUTS, ...HAYSTACK_OUTPUTS],
  op: ['haystack.component.name', 'haystack.tool.name'],
  // What asks a model is known by its answer: the type of a component is the name of a class.
  model: [...inHaystack('output.replies.0.meta.model'), 'haystack.component.output.meta.model'],
  messages: inHaystack('input.messages').map(text),
  tools: inHaystack('input.tools'),
  input: [...HAYSTACK_INPUTS, 'haystack.pipeline.input_data'],
  answers: inHaystack('output.replies').map(text),
  output: [...HAYSTACK_OUTPUTS, 'haystack.pipeline.output_data'],
  finish: inHaystack('output.replies.0.meta.finish_reason'),
  providerUsage: [
    ...inHaystack('output.replies.0.meta.usage'),
    'haystack.component.output.meta.usage',
  ],
}
