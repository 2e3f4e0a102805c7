/** Calls the server's public API with the key of the signed-in user. */
import { noteServerTime } from './clock.ts'
import { parseExact } from './exact-json.ts'
import { dropKey, key } from './key.ts'

/** An error answer of the server, or no answer at all (status 0). */
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

/** Returns the JSON answer of a route. @throws ApiFailure */
export async function ask<T>(path: string, body?: unknown, asking: Asking = {}): Promise<T> {
  const response = await request(path, body, asking)
  return (await response.json()) as T
}

/** The same for an answer that holds what programs wrote: numbers in it keep every digit. @throws ApiFailure */
export async function askExact<T>(path: string, body: unknown, asking: Asking = {}): Promise<T> {
  const response = await request(path, body, asking)
  return parseExact<T>(await response.text())
}

/** Yields the values of an answer in JSON lines as they arrive; numbers keep every digit. @throws ApiFailure */
export async function* askLines<T>(path: string, body: unknown, asking: Asking = {}) {
  for await (const line of askLineTexts(path, body, asking)) yield parseExact<T>(line)
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

/** Yields the text of an answer as it arrives; stopping early cancels it. @throws ApiFailure when it breaks off */
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
    if (error instanceof DOMException && error.name === 'AbortError') throw error
    throw new ApiFailure(0, 'broken_off', 'The answer was cut off.')
  } finally {
    reader.cancel().catch(() => undefined)
  }
}

/** Returns the response if its status is a success. @throws ApiFailure */
export async function request(
  path: string,
  body: unknown,
  { signal, method = body === undefined ? 'GET' : 'POST', headers: more }: Asking,
): Promise<Response> {
  const secret = key.value ?? ''
  const headers: Record<string, string> = { ...more, authorization: credentials(path, secret) }
  if (body !== undefined) headers['content-type'] = 'application/json'
  let response: Response
  try {
    response = await fetch(path, {
      method,
      headers,
      // Otherwise the browser would open its own password dialog on a 401.
      credentials: 'omit',
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...(signal === undefined ? {} : { signal }),
    })
  } catch (error) {
    if (signal?.aborted) throw error
    throw new ApiFailure(0, 'no_answer', 'The server does not answer.')
  }
  noteServerTime(response.headers.get('date'))
  if (response.ok) return response
  // An answer to a request with a replaced key says nothing about the new key.
  if (response.status === 401 && secret === key.value) {
    dropKey('The key is invalid or was revoked.')
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

/** Returns a readable error message; null for a request that was aborted. */
export function wordsOf(error: unknown): string | null {
  if (error instanceof DOMException && error.name === 'AbortError') return null
  return error instanceof Error ? error.message : String(error)
}
