/** One model behind a fake server with Anthropic's Messages API. */
import { createAnthropicBackend } from '../../src/inference/anthropic/backend.ts'
import type { ServedModel } from '../../src/inference/models/registry.ts'
import { SYSTEM_CLOCK } from '../../src/inference/openai/upstream/targets.ts'
import { event, json, stream } from './fake-upstream.ts'
import { TIMEOUT_MS } from './model-server.ts'

type Options = Partial<Parameters<typeof createAnthropicBackend>[0]>

export function anthropicModel(baseUrl: string, options: Options = {}): ServedModel {
  return {
    id: 'claude',
    aliases: [],
    ownedBy: 'org',
    created: 1_700_000_000,
    capabilities: {
      tools: true,
      prioritySchedulingEnabled: false,
      reasoningEfforts: ['none', 'minimal', 'xhigh', 'max'],
    },
    backend: createAnthropicBackend({
      upstreams: [{ baseUrl, apiKey: 'sk-ant-secret' }],
      maxTokens: 8_192,
      clock: { ...SYSTEM_CLOCK, random: () => 0.01 },
      timeoutMs: TIMEOUT_MS,
      ...options,
    }),
    backendModel: 'claude-up',
    fallbacks: [],
  }
}

export const MESSAGE_USAGE = {
  input_tokens: 5,
  cache_creation_input_tokens: 20,
  cache_read_input_tokens: 100,
  output_tokens: 7,
}
export const MESSAGE_BLOCKS = [
  { type: 'thinking', thinking: 'why', signature: 'sig' },
  { type: 'redacted_thinking', data: 'sealed' },
  { type: 'text', text: 'Hello' },
  { type: 'tool_use', id: 'toolu_1', name: 'f', input: { a: 1 } },
]
const HEAD = { id: 'msg_up', type: 'message', role: 'assistant', model: 'claude-up' }
export const WHOLE_MESSAGE = {
  ...HEAD,
  content: MESSAGE_BLOCKS,
  stop_reason: 'tool_use',
  stop_sequence: null,
  usage: MESSAGE_USAGE,
}

const delta = (index: number, more: object) => ({ type: 'content_block_delta', index, delta: more })
const stop = (index: number) => ({ type: 'content_block_stop', index })
const start = (index: number, content_block: object) => ({
  type: 'content_block_start',
  index,
  content_block,
})

/** The events of the whole message, as the API sends them. */
export const MESSAGE_EVENTS = [
  {
    type: 'message_start',
    message: {
      ...HEAD,
      content: [],
      stop_reason: null,
      stop_sequence: null,
      usage: { ...MESSAGE_USAGE, output_tokens: 1 },
    },
  },
  start(0, { type: 'thinking', thinking: '', signature: '' }),
  { type: 'ping' },
  delta(0, { type: 'thinking_delta', thinking: 'why' }),
  delta(0, { type: 'signature_delta', signature: 'sig' }),
  stop(0),
  start(1, { type: 'redacted_thinking', data: 'sealed' }),
  stop(1),
  start(2, { type: 'text', text: '' }),
  delta(2, { type: 'text_delta', text: 'Hel' }),
  delta(2, { type: 'text_delta', text: 'lo' }),
  stop(2),
  start(3, { type: 'tool_use', id: 'toolu_1', name: 'f', input: {} }),
  delta(3, { type: 'input_json_delta', partial_json: '{"a"' }),
  delta(3, { type: 'input_json_delta', partial_json: ':1}' }),
  stop(3),
  {
    type: 'message_delta',
    delta: { stop_reason: 'tool_use', stop_sequence: null },
    usage: { output_tokens: 7, input_tokens: null },
  },
  { type: 'message_stop' },
]

/** Answers whole or with events, as the request asks. */
export function answerMessage(events: readonly object[] = MESSAGE_EVENTS) {
  const streamed = stream(events.map(event))
  const whole = json(200, WHOLE_MESSAGE)
  return (...[response, request]: Parameters<typeof whole>) =>
    (JSON.parse(request.body).stream === true ? streamed : whole)(response, request)
}
