/** The digest of a request, the same for all requests that a model would answer alike. */
import { createHash } from 'node:crypto'
import { isObject } from '../../../domain/json/is-object.ts'
import { parseLossless, renderJson } from '../../../domain/json/json-text.ts'
import type { Service } from '../../backend.ts'

/** Raised when stored completions can no longer be replayed. */
const FORMAT = 1

/** A request whose response may be cached. */
export interface CacheableRequest {
  readonly service: 'chat' | Service
  /** The validated request, and its JSON text, in the format of the service. */
  readonly request: object
  readonly body: string
  /** Headers and query of the client that are forwarded. Default: none. */
  readonly headers?: Readonly<Record<string, string>>
  readonly query?: string
}

interface DigestScope {
  /** The project that the request names, or without one its key. */
  readonly owner: string
  readonly modelId: string
  /** Changes with all that decides how the model responds. */
  readonly revision: string
}

/** Members of a chat that change nothing in what a model says. The model is part of the scope. */
const CHAT_OTHERS: ReadonlySet<string> = new Set([
  'model',
  'stream',
  'stream_options',
  'user',
  'request_id',
  'priority',
  'metadata',
  'store',
  'safety_identifier',
  'prompt_cache_key',
  'prompt_cache_retention',
])
/** Responses of services repeat members of their requests. */
const SERVICE_OTHERS: ReadonlySet<string> = new Set(['request_id', 'priority'])

/**
 * Returns the SHA-256 in hex.
 *
 * Spec: §4 (a cache is an addition). Choice: the order of members, nulls, the default of `n` and the
 * name of the limit of tokens make no difference.
 * Numbers and everything below the top level count as sent.
 */
export function digestRequest(
  request: Omit<CacheableRequest, 'request'>,
  scope: DigestScope,
): string {
  const { service, body, headers = {}, query = '' } = request
  const { owner, modelId, revision } = scope
  const value = parseLossless(body)
  const members = listMembers(isObject(value) ? value : {}, service === 'chat')
  const parts = [FORMAT, owner, modelId, revision, service, headers, query, members]
  return createHash('sha256')
    .update(renderJson(sortMembers(parts)))
    .digest('hex')
}

type Fields = Readonly<Record<string, unknown>>

function listMembers(request: Fields, isChat: boolean): Fields {
  const others = isChat ? CHAT_OTHERS : SERVICE_OTHERS
  const entries = Object.entries(request).filter(
    ([name, value]) => value !== null && !others.has(name),
  )
  const members = Object.fromEntries(entries)
  if (!isChat) return members
  const { n = 1, max_tokens, max_completion_tokens = max_tokens, ...rest } = members
  return { ...rest, n, max_completion_tokens }
}

function sortMembers(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortMembers)
  if (!isObject(value) || JSON.isRawJSON(value)) return value
  const members = Object.entries(value).sort(([left], [right]) => (left < right ? -1 : 1))
  return Object.fromEntries(members.map(([name, member]) => [name, sortMembers(member)]))
}
