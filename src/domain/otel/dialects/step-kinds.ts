/** Kinds of steps, and what the dialects call them. Pure data. */

/** The meaning of a kind of step. Usage counts only in model calls, since spans above repeat it. */
export type StepKind =
  | 'llm'
  | 'embedding'
  | 'reranker'
  | 'retriever'
  | 'tool'
  | 'agent'
  | 'chain'
  | 'guardrail'
  | 'evaluator'
  | 'prompt'

/** The dialects' words for kinds, in lower case. */
export const STEP_KINDS: ReadonlyMap<string, StepKind> = new Map<string, StepKind>([
  ['chat', 'llm'],
  ['completion', 'llm'],
  ['text_completion', 'llm'],
  ['generate_content', 'llm'],
  ['llm', 'llm'],
  ['generation', 'llm'],
  ['response', 'llm'],
  ['responses', 'llm'],
  ['chat_model', 'llm'],
  ['llm_request', 'llm'],
  ['llm_call', 'llm'],
  ['model', 'llm'],
  ['ai.generatetext.dogenerate', 'llm'],
  ['ai.streamtext.dostream', 'llm'],
  ['ai.generateobject.dogenerate', 'llm'],
  ['ai.streamobject.dostream', 'llm'],
  ['embeddings', 'embedding'],
  ['embedding', 'embedding'],
  ['embedder', 'embedding'],
  ['ai.embed.doembed', 'embedding'],
  ['ai.embedmany.doembed', 'embedding'],
  ['rerank', 'reranker'],
  ['reranker', 'reranker'],
  ['ai.rerank.dorerank', 'reranker'],
  ['retrieval', 'retriever'],
  ['retriever', 'retriever'],
  ['execute_tool', 'tool'],
  ['tool', 'tool'],
  ['ai.toolcall', 'tool'],
  ['function', 'tool'],
  ['create_agent', 'agent'],
  ['invoke_agent', 'agent'],
  ['agent', 'agent'],
  ['interaction', 'agent'],
  ['invoke_workflow', 'chain'],
  ['agent_step', 'chain'],
  ['workflow', 'chain'],
  ['task', 'chain'],
  ['chain', 'chain'],
  ['plan', 'chain'],
  ['flow', 'chain'],
  ['framework', 'chain'],
  ['util', 'chain'],
  ['parser', 'chain'],
  ['ai.generatetext', 'chain'],
  ['ai.streamtext', 'chain'],
  ['ai.generateobject', 'chain'],
  ['ai.streamobject', 'chain'],
  ['ai.embed', 'chain'],
  ['ai.embedmany', 'chain'],
  ['ai.rerank', 'chain'],
  ['guardrail', 'guardrail'],
  ['evaluator', 'evaluator'],
  ['prompt', 'prompt'],
])

export const MODEL_KINDS: ReadonlySet<StepKind> = new Set(['llm', 'embedding', 'reranker'])
