/** Translates tokenize requests and answers between the format of vLLM and those of other engines. Pure. */
import { isObject } from '../../domain/json/is-object.ts'
import { ApiError } from '../../errors.ts'
import type { RelayedDelta, Service, ServiceCall } from '../backend.ts'
import type { Engine } from './profiles.ts'
import { editMembers } from './request.ts'

/**
 * Returns the body for `/tokenize` or `/detokenize` of SGLang. It has the fields of vLLM except the texts of tokens,
 * and omits special tokens from a text by default.
 *
 * @throws ApiError unsupported_parameter
 */
export function renderSglangTokens({ service, request, body }: ServiceCall, model: string): string {
  const set = new Map([['model', JSON.stringify(model)]])
  if (service === 'detokenize') set.set('skip_special_tokens', 'false')
  else if (service === 'tokenize' && request.return_token_strs) {
    const message = 'return_token_strs is not supported: SGLang returns only the ids of tokens.'
    throw new ApiError('unsupported_parameter', { param: 'return_token_strs', message })
  }
  return editMembers(body, { set })
}

/**
 * Returns the body for `/tokenize` or `/detokenize` of llama-server.
 *
 * Its tokenizer takes no chats. As in vLLM, special tokens are added to a text unless the client disables them.
 *
 * @throws ApiError unsupported_parameter for a chat
 */
export function renderLlamaTokens(call: ServiceCall): string {
  if (call.service === 'detokenize') return JSON.stringify({ tokens: call.request.tokens })
  if (call.service !== 'tokenize') throw new ApiError('internal_error')
  const { prompt, add_special_tokens, return_token_strs, messages } = call.request
  if (messages) {
    const message =
      'messages is not supported: llama-server tokenizes only plain texts; send prompt.'
    throw new ApiError('unsupported_parameter', { param: 'messages', message })
  }
  return JSON.stringify({
    content: prompt,
    add_special: add_special_tokens ?? true,
    with_pieces: return_token_strs === true,
  })
}

interface Told {
  readonly engine: Engine
  readonly service: Service
  /** Context length: tokens of prompt and answer together, or null. */
  readonly contextTokens: () => number | null
}

/**
 * Returns an answer in the format of vLLM; answers already in it, or not about tokens, are returned unchanged.
 *
 * @throws ApiError upstream_invalid_response
 */
export function toVllmTokens(answer: RelayedDelta, told: Told): RelayedDelta {
  const { engine, service, contextTokens } = told
  const { content, text, tokens } = answer.texts[0]?.value ?? {}
  if (service === 'detokenize') {
    const prompt = content ?? text
    return typeof prompt === 'string' ? toDelta({ prompt }) : answer
  }
  if (service !== 'tokenize' || engine !== 'llama-server') return answer
  if (!Array.isArray(tokens)) throw new ApiError('upstream_invalid_response')
  const pieces = tokens.map((token) => (isObject(token) ? token : { id: token, piece: null }))
  const hasTexts = tokens.some(isObject)
  return toDelta({
    count: tokens.length,
    max_model_len: contextTokens(),
    tokens: pieces.map(({ id }) => id),
    ...(hasTexts ? { token_strs: pieces.map(({ piece }) => decodePiece(piece)) } : {}),
  })
}

/** A piece that is not valid UTF-8 is sent as a list of its bytes. */
function decodePiece(piece: unknown): string {
  return Array.isArray(piece) ? Buffer.from(piece).toString('utf8') : String(piece)
}

function toDelta(value: Readonly<Record<string, unknown>>): RelayedDelta {
  return { type: 'relayed', texts: [{ json: JSON.stringify(value), value }] }
}
