/** Reads JSON from the API of another tool: with retries, and without the credentials in any message. */
import { setTimeout as wait } from 'node:timers/promises'
import { exceedsDepth, JSON_DEPTH_MAX } from '../domain/json/json-limits.ts'
import { parseLossless } from '../domain/json/json-text.ts'
import { objectOrEmpty } from '../domain/json/json-values.ts'
import { createKeyRedact } from '../outbound/key-redaction.ts'
import { ImportError } from './source.ts'

/** Limit: requests for one response. */
const TRIES_MAX = 5
/** Waits after failures: this, twice this, and so on; or what the server demands, up to the greatest. */
const RETRY_MS = 500
const RETRY_MS_MAX = 60_000
/** Limit: from a request to the end of its response. */
const TIMEOUT_MS = 120_000
/** Limit: bytes of one response. */
const RESPONSE_BYTES_MAX = 256 * 1024 * 1024
/** Limit: characters of an error's body in a message, and those of which it is the start once keys are redacted. */
const EXCERPT_CHARS = 200
const REDACTED_CHARS = 16 * 1024

export type Json = Readonly<Record<string, unknown>>
export type Query = Readonly<Record<string, string | number | readonly string[] | null | undefined>>

export interface ApiClient {
  /** The object that an address responds with. @throws ImportError */
  get(path: string, query?: Query): Promise<Json>
  /** The objects of the list that an address responds with. @throws ImportError */
  list(path: string, query?: Query): Promise<Json[]>
  /** @throws ImportError */
  post(path: string, body: object): Promise<Json>
  /** The text that an address responds with to a body. @throws ImportError */
  postForText(path: string, body: object): Promise<string>
  /** The bytes that an address responds with to a body. @throws ImportError */
  postForBytes(path: string, body: object): Promise<Buffer>
}

/**
 * It follows no redirects: a header with a key would go to the other host.
 *
 * @param location - http or https address, under which the paths are
 * @param headers - may hold credentials
 * @throws ImportError for another location, or a header that no request may have
 */
export function createApiClient(
  location: string,
  headers: Readonly<Record<string, string>>,
): ApiClient {
  const base = URL.parse(location)
  if (base === null || !/^https?:$/.test(base.protocol)) {
    throw new ImportError('an http or https address is needed; see weft import --help')
  }
  if (`${base.username}${base.password}${base.search}${base.hash}` !== '') {
    throw new ImportError(
      'the address must not hold credentials, a query or a fragment; see weft import --help',
    )
  }
  const root = base.href.replace(/\/+$/, '')
  const redact = createKeyRedact(keysOf(headers))

  async function request(path: string, init: RequestInit): Promise<Buffer> {
    const name = `${init.method} ${root}${path.replace(/\?.*$/, '')}`
    for (let tries = 1; ; tries++) {
      const outcome = await attempt(`${root}${path}`, {
        ...init,
        headers: { ...headers, ...init.headers },
      })
      if ('bytes' in outcome) return outcome.bytes
      const { status, isFinal, retryMs } = outcome
      if (isFinal || tries === TRIES_MAX) {
        const message = redact(outcome.message.slice(0, REDACTED_CHARS)).slice(0, EXCERPT_CHARS)
        throw new ImportError(`${name} ${message.trim()}`, status)
      }
      await wait(Math.min(retryMs ?? RETRY_MS * 2 ** (tries - 1), RETRY_MS_MAX))
    }
  }

  const requestText = async (path: string, init: RequestInit) =>
    (await request(path, init)).toString()
  const get = { method: 'GET' }
  const post = (body: object) => ({
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  return {
    get: async (path, query = {}) => parse(await requestText(path + render(query), get), path),
    list: async (path, query = {}) =>
      objectsOf(parseJson(await requestText(path + render(query), get), path)),
    post: async (path, body) => parse(await requestText(path, post(body)), path),
    postForText: (path, body) => requestText(path, post(body)),
    postForBytes: (path, body) => request(path, post(body)),
  }
}

type Outcome =
  | { readonly bytes: Buffer }
  | {
      readonly message: string
      readonly status: number | null
      readonly isFinal: boolean
      readonly retryMs: number | null
    }

async function attempt(url: string, init: RequestInit): Promise<Outcome> {
  try {
    const signal = AbortSignal.timeout(TIMEOUT_MS)
    const response = await fetch(url, { ...init, redirect: 'manual', signal })
    const bytes = await readBytes(response)
    if (bytes === null) {
      const message = `responds with more than ${RESPONSE_BYTES_MAX} bytes`
      return { message, status: null, isFinal: true, retryMs: null }
    }
    if (response.ok) return { bytes }
    const { status } = response
    const to = response.headers.get('location')
    const excerpt =
      to === null
        ? bytes.toString().slice(0, REDACTED_CHARS).replaceAll(/\s+/g, ' ').trim()
        : `it redirects to ${URL.parse(to, url)?.origin}, which is not followed`
    const after = Number(response.headers.get('retry-after') ?? Number.NaN)
    return {
      status,
      message: `responds with ${status}${excerpt === '' ? '' : `: ${excerpt}`}`,
      isFinal: status < 500 && status !== 429 && status !== 408,
      retryMs: after >= 0 ? after * 1000 : null,
    }
  } catch (error) {
    const { message, cause } = error as Error
    const reason = cause instanceof Error ? cause.message : message
    return { message: `fails: ${reason}`, status: null, isFinal: false, retryMs: null }
  }
}

/** The keys in headers, also the password that one of them encodes. @throws ImportError */
function keysOf(headers: Readonly<Record<string, string>>): string[] {
  try {
    new Headers(headers)
  } catch {
    // Its own message has the value.
    throw new ImportError('a key has characters that no header may have, such as a line break')
  }
  return Object.values(headers).flatMap((value) => {
    const [scheme, key = value] = value.split(' ')
    if (scheme !== 'Basic') return [key]
    return [
      key,
      Buffer.from(key, 'base64')
        .toString()
        .replace(/^[^:]*:/, ''),
    ]
  })
}

/** Null for a body that is too long. */
async function readBytes(response: Response): Promise<Buffer | null> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of response.body ?? []) {
    size += chunk.length
    if (size > RESPONSE_BYTES_MAX) return null
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

function render(query: Query): string {
  const pairs = Object.entries(query).flatMap(([name, value]) =>
    value === null || value === undefined
      ? []
      : [value].flat().map((one) => [name, String(one)] as [string, string]),
  )
  return pairs.length === 0 ? '' : `?${new URLSearchParams(pairs)}`
}

function parse(text: string, path: string): Json {
  return objectOrEmpty(parseJson(text, path))
}

/**
 * Parses JSON from outside, with every digit of its numbers.
 *
 * @param origin - for the message
 * @param parse - default: parseLossless
 * @throws ImportError
 */
export function parseJson(text: string, origin: string, parse = parseLossless): unknown {
  try {
    if (!exceedsDepth(text, JSON_DEPTH_MAX)) return parse(text)
  } catch {
    // The same error as for what nests too deep.
  }
  throw new ImportError(`${origin} has no JSON that can be read`)
}

/** The objects of a list; none of any other value. */
export function objectsOf(value: unknown): Json[] {
  return Array.isArray(value) ? value.filter((item) => objectOrEmpty(item) === item) : []
}
