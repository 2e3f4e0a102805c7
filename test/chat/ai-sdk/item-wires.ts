/** The formats of xAI, items of responses, and of Bedrock, binary frames. */
import { EventStreamCodec } from '@smithy/eventstream-codec'
import { fromUtf8, toUtf8 } from '@smithy/util-utf8'
import { event } from '../../support/fake-upstream.ts'

/** The format of one provider. */
export interface ProviderWire {
  readonly package: string
  /** Members of the usage in a response, of which chats show those that the package reads. */
  readonly usage: Readonly<Record<string, unknown>>
  /** A text after reasoning, and a call of the tool `f` with `{"a":1}`. */
  readonly whole: object
  readonly pieces: readonly (string | Uint8Array)[]
  readonly mediaType?: string
  /** An error of the provider, as a body. */
  readonly error: object
}

const RESPONSES_USAGE = {
  input_tokens: 100,
  output_tokens: 10,
  total_tokens: 110,
  input_tokens_details: { cached_tokens: 40 },
  output_tokens_details: { reasoning_tokens: 3 },
}
const REASONING_ITEM = {
  id: 'rs_1',
  type: 'reasoning',
  summary: [{ type: 'summary_text', text: 'why' }],
  status: 'completed',
  encrypted_content: 'sealed',
}
const TEXT_ITEM = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  status: 'completed',
  content: [{ type: 'output_text', text: 'Hello', annotations: [] }],
}
const CALL_ITEM = {
  id: 'fc_1',
  type: 'function_call',
  call_id: 'call00001',
  name: 'f',
  arguments: '{"a":1}',
  status: 'completed',
}
const RESPONSE = {
  id: 'up-1',
  object: 'response',
  created_at: 1,
  model: 'm-up',
  status: 'completed',
  output: [REASONING_ITEM, TEXT_ITEM, CALL_ITEM],
  usage: RESPONSES_USAGE,
}
const RESPONSE_EVENTS = [
  {
    type: 'response.created',
    response: { ...RESPONSE, status: 'in_progress', output: [], usage: null },
  },
  {
    type: 'response.output_item.added',
    output_index: 0,
    item: { ...REASONING_ITEM, status: 'in_progress', summary: [], encrypted_content: null },
  },
  {
    type: 'response.reasoning_summary_part.added',
    item_id: 'rs_1',
    output_index: 0,
    summary_index: 0,
    part: { type: 'summary_text', text: '' },
  },
  {
    type: 'response.reasoning_summary_text.delta',
    item_id: 'rs_1',
    output_index: 0,
    summary_index: 0,
    delta: 'why',
  },
  {
    type: 'response.reasoning_summary_text.done',
    item_id: 'rs_1',
    output_index: 0,
    summary_index: 0,
    text: 'why',
  },
  {
    type: 'response.reasoning_summary_part.done',
    item_id: 'rs_1',
    output_index: 0,
    summary_index: 0,
    part: { type: 'summary_text', text: 'why' },
  },
  { type: 'response.output_item.done', output_index: 0, item: REASONING_ITEM },
  {
    type: 'response.output_item.added',
    output_index: 1,
    item: { ...TEXT_ITEM, status: 'in_progress', content: [] },
  },
  {
    type: 'response.content_part.added',
    item_id: 'msg_1',
    output_index: 1,
    content_index: 0,
    part: { type: 'output_text', text: '', annotations: [] },
  },
  {
    type: 'response.output_text.delta',
    item_id: 'msg_1',
    output_index: 1,
    content_index: 0,
    delta: 'Hel',
    logprobs: [],
  },
  {
    type: 'response.output_text.delta',
    item_id: 'msg_1',
    output_index: 1,
    content_index: 0,
    delta: 'lo',
    logprobs: [],
  },
  {
    type: 'response.output_text.done',
    item_id: 'msg_1',
    output_index: 1,
    content_index: 0,
    text: 'Hello',
    logprobs: [],
  },
  { type: 'response.output_item.done', output_index: 1, item: TEXT_ITEM },
  {
    type: 'response.output_item.added',
    output_index: 2,
    item: { ...CALL_ITEM, arguments: '', status: 'in_progress' },
  },
  {
    type: 'response.function_call_arguments.delta',
    item_id: 'fc_1',
    output_index: 2,
    delta: '{"a":1}',
  },
  {
    type: 'response.function_call_arguments.done',
    item_id: 'fc_1',
    output_index: 2,
    arguments: '{"a":1}',
    name: 'f',
  },
  { type: 'response.output_item.done', output_index: 2, item: CALL_ITEM },
  { type: 'response.completed', response: RESPONSE },
].map((data, sequence_number) => ({ ...data, sequence_number }))

const CODEC = new EventStreamCodec(toUtf8, fromUtf8)
/** One frame of Bedrock's binary stream. */
export function frame(
  type: string,
  data: object,
  kind: 'event' | 'exception' = 'event',
): Uint8Array {
  const text = (value: string) => ({ type: 'string' as const, value })
  return CODEC.encode({
    headers: {
      [kind === 'event' ? ':event-type' : ':exception-type']: text(type),
      ':content-type': text('application/json'),
      ':message-type': text(kind),
    },
    body: fromUtf8(JSON.stringify(data)),
  })
}
const BEDROCK_USAGE = {
  inputTokens: 40,
  outputTokens: 10,
  totalTokens: 110,
  cacheReadInputTokens: 40,
  cacheWriteInputTokens: 20,
}
const BEDROCK_BLOCKS = [
  { reasoningContent: { reasoningText: { text: 'why', signature: 'sig' } } },
  { text: 'Hello' },
  { toolUse: { toolUseId: 'call00001', name: 'f', input: { a: 1 } } },
]

export const XAI_WIRE: ProviderWire = {
  package: '@ai-sdk/xai',
  usage: RESPONSES_USAGE,
  whole: RESPONSE,
  pieces: RESPONSE_EVENTS.map(event),
  error: { code: 'invalid-argument', error: 'as told' },
}

export const BEDROCK_WIRE: ProviderWire = {
  package: '@ai-sdk/amazon-bedrock',
  usage: BEDROCK_USAGE,
  whole: {
    output: { message: { role: 'assistant', content: BEDROCK_BLOCKS } },
    stopReason: 'tool_use',
    usage: BEDROCK_USAGE,
    metrics: { latencyMs: 1 },
  },
  pieces: [
    frame('messageStart', { role: 'assistant' }),
    frame('contentBlockDelta', {
      contentBlockIndex: 0,
      delta: { reasoningContent: { text: 'why' } },
    }),
    frame('contentBlockDelta', {
      contentBlockIndex: 0,
      delta: { reasoningContent: { signature: 'sig' } },
    }),
    frame('contentBlockStop', { contentBlockIndex: 0 }),
    frame('contentBlockDelta', { contentBlockIndex: 1, delta: { text: 'Hel' } }),
    frame('contentBlockDelta', { contentBlockIndex: 1, delta: { text: 'lo' } }),
    frame('contentBlockStop', { contentBlockIndex: 1 }),
    frame('contentBlockStart', {
      contentBlockIndex: 2,
      start: { toolUse: { toolUseId: 'call00001', name: 'f' } },
    }),
    frame('contentBlockDelta', {
      contentBlockIndex: 2,
      delta: { toolUse: { input: '{"a":1}' } },
    }),
    frame('contentBlockStop', { contentBlockIndex: 2 }),
    frame('messageStop', { stopReason: 'tool_use' }),
    frame('metadata', { usage: BEDROCK_USAGE, metrics: { latencyMs: 1 } }),
  ],
  mediaType: 'application/vnd.amazon.eventstream',
  error: { message: 'as told' },
}
