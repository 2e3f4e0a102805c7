/** Tokens as llama-server tells them, in the words of vLLM. Pure. */
import { isObject } from '../../domain/json/is-object.ts'
import { ApiError } from '../../errors.ts'
import type { RelayedDelta, ServiceCall } from '../backend.ts'

/**
 * The body of `/tokenize` or `/detokenize` of llama-server.
 *
 * Its tokenizer takes no chat; as with vLLM special tokens are put around a text unless the client says no.
 *
 * @throws ApiError unsupported_parameter for a chat
 */
export function renderLlamaTokens(call: ServiceCall): string {
  if (call.service === 'detokenize') return JSON.stringify({ tokens: call.request.tokens })
  if (call.service !== 'tokenize') throw new ApiError('internal_error')
  const { prompt, add_special_tokens, return_token_strs, messages } = call.request
  if (messages) {
    const message = 'messages is not supported: llama-server cuts plain texts alone, send prompt.'
    throw new ApiError('unsupported_parameter', { param: 'messages', message })
  }
  return JSON.stringify({
    content: prompt,
    add_special: add_special_tokens ?? true,
    with_pieces: return_token_strs === true,
  })
}

/**
 * Its answer in the words of vLLM.
 *
 * @param contextTokens - tokens of prompt and answer together, or null
 * @throws ApiError upstream_invalid_response
 */
export function toVllmTokens({ texts }: RelayedDelta, contextTokens: number | null): RelayedDelta {
  const { content, tokens } = texts[0]?.value ?? {}
  if (typeof content === 'string') return toDelta({ prompt: content })
  if (!Array.isArray(tokens)) throw new ApiError('upstream_invalid_response')
  const pieces = tokens.map((token) => (isObject(token) ? token : { id: token, piece: null }))
  const hasTexts = tokens.some(isObject)
  return toDelta({
    count: tokens.length,
    max_model_len: contextTokens,
    tokens: pieces.map(({ id }) => id),
    ...(hasTexts ? { token_strs: pieces.map(({ piece }) => toText(piece)) } : {}),
  })
}

/** A piece that is no UTF-8 comes as a list of its bytes. */
function toText(piece: unknown): string {
  return Array.isArray(piece) ? Buffer.from(piece).toString('utf8') : String(piece)
}

function toDelta(value: Readonly<Record<string, unknown>>): RelayedDelta {
  return { type: 'relayed', texts: [{ json: JSON.stringify(value), value }] }
}
