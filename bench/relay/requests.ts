/** The requests of bench/relay.ts: the same bodies for all servers, with the headers that each of them needs. */

/** Pieces of text in a stream. */
export const EVENTS = 200
/** Model whose streams stay open. */
export const HELD_MODEL = 'held'
/** Key of the servers that need one. */
export const KEY = 'wk_bench_key_with_enough_letters'

/** The variants measured without `--only`. */
export const USUAL_VARIANTS = ['direct', 'bare', 'weft', 'portkey'] as const
/**
 * Besides, Weft without recording calls, without its log, with a stored key, without and with a budget; with messages that
 * are passed on to Anthropic's API or translated for an engine of OpenAI's; with a cached completion; and LiteLLM's proxy,
 * with chats and with messages.
 */
export const VARIANTS = [
  ...USUAL_VARIANTS,
  ...(['unrecorded', 'silent', 'keyed', 'budgeted'] as const),
  ...(['messages', 'translated', 'cached'] as const),
  ...(['litellm', 'litellm-messages'] as const),
] as const
export type Variant = (typeof VARIANTS)[number]
/** Variants whose requests and responses are those of Anthropic's API. */
const MESSAGES: ReadonlySet<Variant> = new Set(['messages', 'translated', 'litellm-messages'])

/** The end of a complete stream. */
export const streamEnding = (variant: Variant) =>
  MESSAGES.has(variant) ? 'message_stop"}' : '[DONE]'

/** The project that completions are recorded in. */
export const PROJECT = 'bench/relay'
const RECORDED = `openai-project: ${PROJECT}`

interface BodyOptions {
  /** Characters of the prompt. */
  readonly promptChars: number
  readonly isStream?: boolean
  readonly model?: string
}

function renderBody(
  { promptChars, isStream = false, model = 'bench' }: BodyOptions,
  isMessages: boolean,
): string {
  const turns = Array.from({ length: 4 }, (_, turn) => ({
    role: turn % 2 === 0 ? 'user' : 'assistant',
    content: 'Tell me what you know of it, please. '
      .repeat(Math.ceil(promptChars / 4 / 37))
      .slice(0, promptChars / 4),
  }))
  const system = 'You are brief.'
  return JSON.stringify({
    model,
    ...(isMessages
      ? { system, messages: turns }
      : { messages: [{ role: 'system', content: system }, ...turns] }),
    temperature: 0.7,
    max_tokens: 256,
    ...(isStream ? { stream: true } : {}),
  })
}

/** Where a request goes, besides its body. */
interface Target {
  readonly variant: Variant
  /** For relays that read the upstream from a header. */
  readonly upstreamPort: number
  readonly key: string
}

/** The bytes of a request. */
export function renderRequest(
  { variant, upstreamPort, key }: Target,
  options: BodyOptions,
): Buffer {
  const own: Readonly<Record<Variant, readonly string[]>> = {
    direct: [],
    bare: [],
    weft: [RECORDED],
    unrecorded: [],
    silent: [RECORDED],
    keyed: [RECORDED],
    budgeted: [RECORDED],
    messages: [RECORDED, 'anthropic-version: 2023-06-01'],
    translated: [RECORDED, 'anthropic-version: 2023-06-01'],
    cached: [RECORDED],
    litellm: [],
    'litellm-messages': ['anthropic-version: 2023-06-01'],
    portkey: [
      'x-portkey-provider: openai',
      `x-portkey-custom-host: http://127.0.0.1:${upstreamPort}/v1`,
    ],
  }
  const isMessages = MESSAGES.has(variant)
  const body = renderBody(options, isMessages)
  const head = [
    `POST /v1/${isMessages ? 'messages' : 'chat/completions'} HTTP/1.1`,
    'host: 127.0.0.1',
    `authorization: Bearer ${key}`,
    'content-type: application/json',
    `content-length: ${body.length}`,
    ...own[variant],
  ]
  return Buffer.from(`${head.join('\r\n')}\r\n\r\n${body}`)
}
