/**
 * The named fields of an agent span: which attributes each is read of, the first that is there counts, and the names
 * under which a query may ask for it. Pure data.
 */

type ColumnType = 'string' | 'number'

interface AttributeColumn {
  readonly type: ColumnType
  readonly keys: readonly string[]
}

const text = (...keys: string[]): AttributeColumn => ({ type: 'string', keys })
const number = (...keys: string[]): AttributeColumn => ({ type: 'number', keys })

/** Columns that are one attribute of the span, in the naming of each dialect. */
export const ATTRIBUTE_COLUMNS = {
  agent_name: text('gen_ai.agent.name', 'agent.name', 'agent_name'),
  agent_id: text('gen_ai.agent.id'),
  agent_description: text('gen_ai.agent.description'),
  agent_version: text('gen_ai.agent.version'),
  conversation_name: text('gen_ai.conversation.name'),
  provider_name: text(
    'gen_ai.provider.name',
    'gen_ai.system',
    'llm.provider',
    'llm.system',
    'ai.model.provider',
  ),
  request_model: text('gen_ai.request.model', 'llm.model_name', 'ai.model.id'),
  response_model: text('gen_ai.response.model', 'llm.response.model_name', 'ai.response.model'),
  response_id: text('gen_ai.response.id', 'ai.response.id'),
  output_type: text('gen_ai.output.type'),
  error_type: text('error.type'),
  server_address: text('server.address'),
  server_port: number('server.port'),
  tool_name: text('gen_ai.tool.name', 'tool.name', 'ai.toolCall.name'),
  tool_type: text('gen_ai.tool.type'),
  tool_call_id: text('gen_ai.tool.call.id', 'ai.toolCall.id'),
  tool_description: text('gen_ai.tool.description', 'tool.description'),
  tool_definitions: text('gen_ai.tool.definitions'),
  tool_call_arguments: text('gen_ai.tool.call.arguments', 'ai.toolCall.args', 'tool_arguments'),
  tool_call_result: text('gen_ai.tool.call.result', 'ai.toolCall.result', 'tool_response'),
  request_temperature: number('gen_ai.request.temperature', 'ai.settings.temperature'),
  request_max_tokens: number('gen_ai.request.max_tokens', 'ai.settings.maxOutputTokens'),
  request_top_p: number('gen_ai.request.top_p'),
  request_frequency_penalty: number('gen_ai.request.frequency_penalty'),
  request_presence_penalty: number('gen_ai.request.presence_penalty'),
  request_seed: number('gen_ai.request.seed'),
  request_choice_count: number('gen_ai.request.choice.count'),
  compaction_summary: text('weave.compaction.summary'),
  compaction_items_before: number('weave.compaction.items_before'),
  compaction_items_after: number('weave.compaction.items_after'),
  // What the Weave SDK (0.54) puts on spans that begin within a trial of an evaluation.
  eval_run_id: text('weave.eval.run_id'),
  eval_predict_and_score_call_id: text('weave.eval.predict_and_score_call_id'),
  eval_kind: text('weave.eval.kind'),
  eval_row_digest: text('weave.eval.row_digest'),
  eval_example_id: text('weave.eval.example_id'),
  eval_trial_index: number('weave.eval.trial_index'),
  eval_evaluation_name: text('weave.eval.evaluation_name'),
} as const satisfies Readonly<Record<string, AttributeColumn>>

/** Columns that are computed from several attributes. */
const COMPUTED_COLUMNS = {
  trace_id: 'string',
  span_id: 'string',
  parent_span_id: 'string',
  span_name: 'string',
  span_kind: 'string',
  status_code: 'string',
  status_message: 'string',
  operation_name: 'string',
  conversation_id: 'string',
  svc_user_id: 'string',
  end_user_id: 'string',
  svc_run_id: 'string',
  svc_run_step: 'number',
  svc_run_step_end: 'number',
  input_tokens: 'number',
  output_tokens: 'number',
  reasoning_tokens: 'number',
  cache_read_input_tokens: 'number',
  cache_creation_input_tokens: 'number',
} as const satisfies Readonly<Record<string, ColumnType>>

export type AttributeColumnName = keyof typeof ATTRIBUTE_COLUMNS
export type Column = AttributeColumnName | keyof typeof COMPUTED_COLUMNS

/** The type of each column. */
export const COLUMN_TYPES: Readonly<Record<Column, ColumnType>> = {
  ...COMPUTED_COLUMNS,
  ...(Object.fromEntries(
    Object.entries(ATTRIBUTE_COLUMNS).map(([name, { type }]) => [name, type]),
  ) as Record<AttributeColumnName, ColumnType>),
}

/** Attributes of the conventions behind the computed columns. */
const COMPUTED_KEYS: readonly (readonly [string, Column])[] = [
  ['gen_ai.operation.name', 'operation_name'],
  ['gen_ai.conversation.id', 'conversation_id'],
  ['gen_ai.usage.input_tokens', 'input_tokens'],
  ['gen_ai.usage.output_tokens', 'output_tokens'],
  ['gen_ai.usage.reasoning_tokens', 'reasoning_tokens'],
  ['gen_ai.usage.cache_read.input_tokens', 'cache_read_input_tokens'],
  ['gen_ai.usage.cache_creation.input_tokens', 'cache_creation_input_tokens'],
]

const BY_NAME: ReadonlyMap<string, Column> = new Map([
  ...Object.keys(COLUMN_TYPES).map((name) => [name, name as Column] as const),
  ...[
    ...COMPUTED_KEYS,
    ...Object.entries(ATTRIBUTE_COLUMNS).flatMap(([name, { keys }]) =>
      keys.map((key) => [key, name as Column] as const),
    ),
  ].flatMap(([key, name]) => spellingsOf(key).map((spelling) => [spelling, name] as const)),
])

/** The column that a query means: by its own name, an attribute's, or an attribute's without `gen_ai.` or `weave.`. */
export function columnOf(name: string): Column | null {
  return BY_NAME.get(name) ?? null
}

/** Whether an attribute is shown as a column, or is one that the conventions know. */
export function isKnownAttribute(key: string): boolean {
  return key.startsWith('gen_ai.') || BY_NAME.has(key)
}

function spellingsOf(key: string): string[] {
  if (key.startsWith('weave.')) return [key, key.slice('weave.'.length)]
  if (!key.startsWith('gen_ai.')) return [key]
  const short = key.slice('gen_ai.'.length)
  return [key, short, `weave.${short}`]
}
