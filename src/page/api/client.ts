/** Asks the server's public API with the key of whoever looks. */
import { dropKey, key } from './key.ts'

/** A refusal of the server, or no answer at all (status 0). */
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

export interface Asking {
  readonly signal?: AbortSignal
  /** Default POST with a body, GET without. */
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
}

/** The answer of a route as JSON. @throws ApiFailure */
export async function ask<T>(path: string, body?: unknown, asking: Asking = {}): Promise<T> {
  const response = await request(path, body, asking)
  return (await response.json()) as T
}

/** The values of an answer in JSON lines, as they come. @throws ApiFailure */
export async function* askLines<T>(path: string, body: unknown, asking: Asking = {}) {
  const response = await request(path, body, asking)
  let rest = ''
  const texts = response.body?.pipeThrough(new TextDecoderStream())
  for await (const text of (texts ?? []) as AsyncIterable<string>) {
    const lines = (rest + text).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) if (line !== '') yield JSON.parse(line) as T
  }
  if (rest !== '') yield JSON.parse(rest) as T
}

/** The answer itself, once its status is good. @throws ApiFailure */
export async function request(
  path: string,
  body: unknown,
  { signal, method = body === undefined ? 'GET' : 'POST', headers: more }: Asking,
): Promise<Response> {
  const headers: Record<string, string> = { ...more, authorization: credentials(path) }
  if (body !== undefined) headers['content-type'] = 'application/json'
  let response: Response
  try {
    response = await fetch(path, {
      method,
      headers,
      // Else the browser would open its own password dialog at a 401.
      credentials: 'omit',
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...(signal === undefined ? {} : { signal }),
    })
  } catch (error) {
    if (signal?.aborted) throw error
    throw new ApiFailure(0, 'no_answer', 'The server does not answer.')
  }
  if (!response.ok) throw await readFailure(response)
  return response
}

/** The trace API takes Basic, what is below /v1 takes Bearer. */
function credentials(path: string): string {
  const secret = key.value ?? ''
  return path.startsWith('/v1/') ? `Bearer ${secret}` : `Basic ${btoa(`page:${secret}`)}`
}

async function readFailure(response: Response): Promise<ApiFailure> {
  const told = await response.json().catch(() => null)
  const { code = 'unknown', message = `The server answered ${response.status}.` } =
    (told as { error?: { code?: string; message?: string } } | null)?.error ?? {}
  if (response.status === 401) dropKey('The key is not known, or was revoked.')
  return new ApiFailure(response.status, code, message)
}

/** What went wrong, in words for people; null for a question that nobody waits for any more. */
export function wordsOf(error: unknown): string | null {
  if (error instanceof DOMException && error.name === 'AbortError') return null
  return error instanceof Error ? error.message : String(error)
}
