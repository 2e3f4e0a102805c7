/** Calls the server's public API with the key of the signed-in user. */
import { noteServerTime } from './clock.ts'
import { parseExact } from './exact-json.ts'
import { dropKey, key } from './key.ts'
import { noteProject } from './unknown-project.ts'

/** An error response of the server, or a request without a response (status 0). */
export class ApiFailure extends Error {
  override readonly name = 'ApiFailure'
  readonly status: number
  readonly code: string

  constructor(status: number, code: string, message: string) {
    super(message)
    this.status = status
    this.code = code
  }
}

interface Asking {
  readonly signal?: AbortSignal | undefined
  /** Default POST with a body, GET without. */
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
}

/** Returns the JSON response of a route. @throws ApiFailure */
export async function requestJson<T>(
  path: string,
  body?: unknown,
  asking: Asking = {},
): Promise<T> {
  return readJson(await textIn(await request(path, body, asking)), JSON.parse)
}

/**
 * Returns the JSON response of a route whose content programs wrote: numbers in it keep every digit. @throws
 * ApiFailure
 */
export async function requestExact<T>(
  path: string,
  body: unknown,
  asking: Asking = {},
): Promise<T> {
  return readJson(await textIn(await request(path, body, asking)), parseExact<T>)
}

/** Yields the values of a response in JSON lines as they arrive; numbers keep every digit. @throws ApiFailure */
export async function* requestLines<T>(path: string, body: unknown, asking: Asking = {}) {
  for await (const line of askLineTexts(path, body, asking)) yield readJson(line, parseExact<T>)
}

/** Yields the lines as text, without line ends. @throws ApiFailure */
async function* askLineTexts(
  path: string,
  body: unknown,
  asking: Asking = {},
): AsyncGenerator<string> {
  // Kept in pieces: a line of many megabytes arrives in hundreds of chunks.
  let rest: string[] = []
  for await (const text of textsOf(await request(path, body, asking))) {
    const [first = '', ...lines] = text.split('\n')
    rest.push(first)
    if (lines.length === 0) continue
    const last = lines.pop() ?? ''
    for (const line of [rest.join(''), ...lines]) if (line !== '') yield line
    rest = [last]
  }
  const line = rest.join('')
  if (line !== '') yield line
}

/** Yields the text of a response as it arrives; stopping early cancels it. @throws ApiFailure when it breaks off */
export async function* textsOf(response: Response): AsyncGenerator<string> {
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
  if (reader === undefined) return
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      yield value
    }
  } catch (error) {
    throw asFailure(error)
  } finally {
    reader.cancel().catch(() => undefined)
  }
}

/** Returns the whole text of a response. @throws ApiFailure when it breaks off */
export async function textIn(response: Response): Promise<string> {
  try {
    return await response.text()
  } catch (error) {
    throw asFailure(error)
  }
}

/**
 * Returns the failure that ended a response early. An abort by the page is returned unchanged. An abort by the page
 * stays what it is.
 */
function asFailure(error: unknown): unknown {
  if (error instanceof DOMException && error.name === 'AbortError') return error
  return brokenOff()
}

export function brokenOff(): ApiFailure {
  return new ApiFailure(0, 'broken_off', 'The answer was cut off.')
}

/** @throws ApiFailure for what a proxy answered in the server's place, or cut */
export function readJson<T>(text: string, parse: (text: string) => T): T {
  try {
    return parse(text)
  } catch {
    throw new ApiFailure(0, 'no_json', 'The answer is not that of the server, or was cut off.')
  }
}

/** Returns the response if its status is a success. @throws ApiFailure */
export async function request(
  path: string,
  body: unknown,
  { signal, method = body === undefined ? 'GET' : 'POST', headers: more }: Asking,
): Promise<Response> {
  const secret = key.value
  const headers: Record<string, string> = { ...more }
  if (secret !== null) headers.authorization = credentials(path, secret)
  if (body !== undefined) headers['content-type'] = 'application/json'
  let response: Response
  try {
    response = await fetch(path, {
      method,
      headers,
      // With a key no cookie, since the browser would open its own password dialog on a 401.
      credentials: secret === null ? 'same-origin' : 'omit',
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...(signal === undefined ? {} : { signal }),
    })
  } catch (error) {
    if (signal?.aborted) throw error
    throw new ApiFailure(0, 'no_answer', 'The server does not answer.')
  }
  noteServerTime(response.headers.get('date'))
  noteProject(body, response.headers.get('x-weft-project'))
  if (response.ok) return response
  // An answer to a request with a replaced key says nothing about the new key.
  if (response.status === 401 && secret === key.value) {
    dropKey(secret === null ? 'Your session is over.' : 'The key is invalid or was revoked.')
  }
  throw await readFailure(response)
}

/** The trace API takes Basic authorization, the routes under /v1 take Bearer. */
function credentials(path: string, secret: string): string {
  return path.startsWith('/v1/') ? `Bearer ${secret}` : `Basic ${btoa(`page:${secret}`)}`
}

async function readFailure(response: Response): Promise<ApiFailure> {
  const told = await response.json().catch(() => null)
  const { code = 'unknown', message = `The server answered ${response.status}.` } =
    (told as { error?: { code?: string; message?: string } } | null)?.error ?? {}
  return new ApiFailure(response.status, code, message)
}

/** Whether the server, or a proxy in front of it, could not be reached, as while it restarts. */
export function isUnreachable(error: unknown): boolean {
  return error instanceof ApiFailure && (error.code === 'no_answer' || error.status === 502)
}

/** Returns a readable error message; null for a request that was aborted. */
export function errorText(error: unknown): string | null {
  if (error instanceof DOMException && error.name === 'AbortError') return null
  return error instanceof Error ? error.message : String(error)
}
