/** What six providers send, in their own formats: a text, reasoning and a tool call, whole and streamed. */
import { type Behaviour, event, json, stream } from '../../support/fake-upstream.ts'
import { BEDROCK_WIRE, type ProviderWire, XAI_WIRE } from './item-wires.ts'

const CHAT_HEAD = { id: 'up-1', created: 1, model: 'm-up' }
const CALL = { id: 'call00001', type: 'function', function: { name: 'f', arguments: '{"a":1}' } }

/** A stream in the format of chat completions. */
function chatPieces(deltas: readonly object[], finish: string, more: object): string[] {
  const head = { ...CHAT_HEAD, object: 'chat.completion.chunk' }
  const chunk = (delta: object, finish_reason: string | null) => ({
    ...head,
    choices: [{ index: 0, delta, finish_reason }],
  })
  const chunks = [...deltas.map((delta) => chunk(delta, null)), { ...chunk({}, finish), ...more }]
  return [...chunks.map(event), event('[DONE]')]
}

const GOOGLE_PARTS = [
  { text: 'why', thought: true },
  { text: 'Hello' },
  { functionCall: { name: 'f', args: { a: 1 } }, thoughtSignature: 'c2ln' },
]
const GOOGLE_USAGE = {
  promptTokenCount: 100,
  cachedContentTokenCount: 40,
  candidatesTokenCount: 7,
  thoughtsTokenCount: 3,
  totalTokenCount: 110,
}
const google = (parts: readonly object[], finishReason?: string) => ({
  responseId: 'up-1',
  modelVersion: 'm-up',
  candidates: [
    { index: 0, content: { role: 'model', parts }, ...(finishReason ? { finishReason } : {}) },
  ],
  usageMetadata: GOOGLE_USAGE,
})

const MISTRAL_USAGE = {
  prompt_tokens: 100,
  completion_tokens: 10,
  total_tokens: 110,
  prompt_tokens_details: { cached_tokens: 40 },
}
const MISTRAL_CONTENT = [
  { type: 'thinking', thinking: [{ type: 'text', text: 'why' }] },
  { type: 'text', text: 'Hello' },
]

const GROQ_USAGE = { ...MISTRAL_USAGE, completion_tokens_details: { reasoning_tokens: 3 } }

const COHERE_USAGE = {
  billed_units: { input_tokens: 1, output_tokens: 1 },
  tokens: { input_tokens: 100, output_tokens: 10 },
}
const cohere = (type: string, more: object) => event({ type, ...more })

export const WIRES: Readonly<
  Record<'google' | 'mistral' | 'groq' | 'cohere' | 'xai' | 'amazon-bedrock', ProviderWire>
> = {
  google: {
    package: '@ai-sdk/google',
    usage: GOOGLE_USAGE,
    whole: google(GOOGLE_PARTS, 'STOP'),
    pieces: [
      event(google(GOOGLE_PARTS.slice(0, 1))),
      event(google([{ text: 'Hel' }])),
      event(google([{ text: 'lo' }])),
      event(google(GOOGLE_PARTS.slice(2), 'STOP')),
    ],
    error: { error: { code: 400, message: 'as told', status: 'INVALID_ARGUMENT' } },
  },
  mistral: {
    package: '@ai-sdk/mistral',
    usage: MISTRAL_USAGE,
    whole: {
      ...CHAT_HEAD,
      object: 'chat.completion',
      choices: [
        {
          index: 0,
          message: { role: 'assistant', content: MISTRAL_CONTENT, tool_calls: [CALL] },
          finish_reason: 'tool_calls',
        },
      ],
      usage: MISTRAL_USAGE,
    },
    pieces: chatPieces(
      [
        { role: 'assistant', content: MISTRAL_CONTENT.slice(0, 1) },
        { content: 'Hel' },
        { content: 'lo' },
        { tool_calls: [{ index: 0, ...CALL }] },
      ],
      'tool_calls',
      { usage: MISTRAL_USAGE },
    ),
    error: {
      object: 'error',
      message: 'as told',
      type: 'invalid_request_error',
      param: null,
      code: null,
    },
  },
  groq: {
    package: '@ai-sdk/groq',
    usage: GROQ_USAGE,
    whole: {
      ...CHAT_HEAD,
      object: 'chat.completion',
      choices: [
        {
          index: 0,
          message: { role: 'assistant', content: 'Hello', reasoning: 'why', tool_calls: [CALL] },
          finish_reason: 'tool_calls',
        },
      ],
      usage: GROQ_USAGE,
    },
    pieces: chatPieces(
      [
        { role: 'assistant', content: '', reasoning: 'why' },
        { content: 'Hel' },
        { content: 'lo' },
        { tool_calls: [{ index: 0, ...CALL }] },
      ],
      'tool_calls',
      { x_groq: { id: 'req_1', usage: GROQ_USAGE } },
    ),
    error: { error: { message: 'as told', type: 'invalid_request_error' } },
  },
  cohere: {
    package: '@ai-sdk/cohere',
    usage: COHERE_USAGE,
    whole: {
      id: 'up-1',
      finish_reason: 'TOOL_CALL',
      message: {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 'why' },
          { type: 'text', text: 'Hello' },
        ],
        tool_calls: [CALL],
      },
      usage: COHERE_USAGE,
    },
    pieces: [
      cohere('message-start', {
        id: 'up-1',
        delta: {
          message: { role: 'assistant', content: [], tool_plan: '', tool_calls: [], citations: [] },
        },
      }),
      cohere('content-start', {
        index: 0,
        delta: { message: { content: { type: 'thinking', thinking: '' } } },
      }),
      cohere('content-delta', { index: 0, delta: { message: { content: { thinking: 'why' } } } }),
      cohere('content-end', { index: 0 }),
      cohere('content-start', {
        index: 1,
        delta: { message: { content: { type: 'text', text: '' } } },
      }),
      cohere('content-delta', { index: 1, delta: { message: { content: { text: 'Hel' } } } }),
      cohere('content-delta', { index: 1, delta: { message: { content: { text: 'lo' } } } }),
      cohere('content-end', { index: 1 }),
      cohere('tool-call-start', {
        index: 0,
        delta: { message: { tool_calls: { ...CALL, function: { name: 'f', arguments: '' } } } },
      }),
      cohere('tool-call-delta', {
        index: 0,
        delta: { message: { tool_calls: { function: { arguments: '{"a":1}' } } } },
      }),
      cohere('tool-call-end', { index: 0 }),
      cohere('message-end', { delta: { finish_reason: 'TOOL_CALL', usage: COHERE_USAGE } }),
      event('[DONE]'),
    ],
    error: { message: 'as told' },
  },
  xai: XAI_WIRE,
  'amazon-bedrock': BEDROCK_WIRE,
}
export type WireName = keyof typeof WIRES
export const WIRE_NAMES = Object.keys(WIRES) as WireName[]

/** Whether a request is one for a stream, in the format of its provider. */
function asksForStream({ url, body }: { readonly url: string; readonly body: string }): boolean {
  return /:streamGenerateContent|\/converse-stream$/.test(url) || /"stream":true/.test(body)
}

/** Answers whole or with a stream, as the request asks. */
export function answerProvider(name: WireName, pieces = WIRES[name].pieces): Behaviour {
  const { whole, mediaType } = WIRES[name]
  const streamed: Behaviour = mediaType
    ? (response) => {
        response
          .writeHead(200, { 'content-type': mediaType })
          .end(Buffer.concat(pieces.map(Buffer.from)))
      }
    : stream(pieces)
  return (response, request) =>
    (asksForStream(request) ? streamed : json(200, whole))(response, request)
}
