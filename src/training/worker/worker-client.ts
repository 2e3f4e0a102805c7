/**
 * Client of the worker protocol: claims, fetches, reports. It distinguishes a lost lease from a transient
 * failure, retries the latter, and must never send its key anywhere but to its server.
 */
import { createHash } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { z } from 'zod'
import {
  ARTIFACT_SHA256_HEADER,
  type ClaimRequest,
  type ClaimResponse,
  type CompleteRequest,
  type FailRequest,
  type HeartbeatResponse,
  LEASE_HEADER,
  type WorkerEvent,
} from '../../schemas/training/worker.ts'

/** Thrown when the job belongs to another worker by now, or has ended. */
export class LeaseLostError extends Error {
  constructor() {
    super('the lease is lost')
    this.name = 'LeaseLostError'
  }
}

/** Thrown for a response that a retry would not change. */
class RefusedError extends Error {
  readonly status: number

  /** @param reason - the server's; empty if it gave none */
  constructor(path: string, status: number, reason: string) {
    super(`${path} answered ${status}${reason && `: ${reason}`}`)
    this.name = 'RefusedError'
    this.status = status
  }
}

/** The reports on one claimed job. All throw LeaseLostError when the lease is lost. */
export interface JobClient {
  /** The trajectory groups, as JSON text. */
  payload(): Promise<string>
  /** The parent's file; null when the parent is the base model. */
  parent(): Promise<Uint8Array | null>
  /** @param progress - 0..1 */
  heartbeat(progress: number): Promise<HeartbeatAnswer>
  sendEvents(events: readonly WorkerEvent[]): Promise<void>
  /** @returns SHA-256 of the bytes, in hex */
  upload(artifact: Uint8Array): Promise<string>
  complete(report: Omit<CompleteRequest, 'lease_token'>): Promise<void>
  fail(report: Omit<FailRequest, 'lease_token'>): Promise<void>
  release(): Promise<void>
}

type HeartbeatAnswer = z.infer<typeof HeartbeatResponse>
type Fetchable = ClaimResponse['payload']

/** A worker's connection to its server. */
export interface WorkerClient {
  /** Waits for a job; null if there was none. @param signal - ends the wait */
  claim(request: ClaimRequest, signal: AbortSignal): Promise<ClaimResponse | null>
  job(claimed: ClaimResponse): JobClient
  /** Renews a lease on behalf of the thread that claimed it. @param signal - ends the request */
  renew(lease: Pick<ClaimResponse, 'id' | 'lease_token'>, signal: AbortSignal): Promise<void>
  /** Releases a job on behalf of the thread that claimed it. @param signal - ends the request */
  release(lease: Pick<ClaimResponse, 'id' | 'lease_token'>, signal: AbortSignal): Promise<void>
}

const ROOT = '/v1/preview/worker'
/** Limit: timeout of a request; a claim waits 30 s at most. */
const REQUEST_MS_MAX = 60_000
/** Limit: tries of one report, over about 6 seconds. */
const TRIES_MAX = 6
const FIRST_PAUSE_MS = 200
/** Limit: bytes of a response that are searched for the reason of a refusal. */
const REFUSAL_BYTES_MAX = 16_384
/** Limit: characters of the reason in an error. */
const REASON_CHARS_MAX = 300

interface Call {
  readonly method: 'GET' | 'POST' | 'PUT'
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array<ArrayBuffer>
  readonly signal?: AbortSignal
}

/**
 * Creates a client.
 *
 * @param baseUrl - the server, as `http://127.0.0.1:8080`
 * @param token - a key with the scope `worker`. Secret.
 */
export function createWorkerClient(baseUrl: string, token: string): WorkerClient {
  async function send({ method, path, headers, body, signal }: Call): Promise<Response> {
    const limit = AbortSignal.timeout(REQUEST_MS_MAX)
    const response = await fetch(new URL(path, baseUrl), {
      method,
      headers: { authorization: `Bearer ${token}`, ...headers },
      body: body ?? null,
      redirect: 'manual',
      signal: signal === undefined ? limit : AbortSignal.any([signal, limit]),
    })
    if (response.ok) return response
    const reason = await readReason(response)
    if (response.status === 409) throw new LeaseLostError()
    throw new RefusedError(path, response.status, reason)
  }

  /**
   * Returns the whole response; a truncated response is retried, too. Every report may be sent twice: the server
   * recognizes it by its lease, its number or its hash.
   */
  async function sendWithRetries(call: Call): Promise<Uint8Array> {
    for (let tried = 1; ; tried++) {
      try {
        return new Uint8Array(await (await send(call)).arrayBuffer())
      } catch (error) {
        if (!isTemporary(error) || tried === TRIES_MAX) throw error
        await sleep(FIRST_PAUSE_MS * 2 ** (tried - 1))
      }
    }
  }

  function post(path: string, body: unknown, signal?: AbortSignal): Call {
    const headers = { 'content-type': 'application/json' }
    return { method: 'POST', path, headers, body: JSON.stringify(body), ...(signal && { signal }) }
  }

  function createJobClient({ id, lease_token, payload, parent_checkpoint }: ClaimResponse) {
    const path = (name: string): string => `${ROOT}/jobs/${id}/${name}`
    const report = (name: string, body: object) =>
      sendWithRetries(post(path(name), { lease_token, ...body }))
    const headers = { [LEASE_HEADER]: lease_token }

    async function download({ url, sha256 }: Fetchable): Promise<Uint8Array> {
      requireOwnPath(url)
      const bytes = await sendWithRetries({ method: 'GET', path: url, headers })
      if (hashOf(bytes) === sha256) return bytes
      throw new Error(`${url} came with another hash`)
    }

    return {
      payload: async () => decodeText(await download(payload)),
      async parent() {
        const artifact = parent_checkpoint?.artifact ?? null
        return artifact === null ? null : await download(artifact)
      },
      async heartbeat(progress) {
        const answer = await report('heartbeat', { progress })
        return JSON.parse(decodeText(answer)) as HeartbeatAnswer
      },
      async sendEvents(events) {
        await report('events', { events })
      },
      async upload(artifact) {
        const sha256 = hashOf(artifact)
        await sendWithRetries({
          method: 'PUT',
          path: path('artifact'),
          headers: {
            ...headers,
            [ARTIFACT_SHA256_HEADER]: sha256,
            'content-type': 'application/octet-stream',
          },
          body: new Uint8Array(artifact),
        })
        return sha256
      },
      async complete(body) {
        await report('complete', body)
      },
      async fail(body) {
        await report('fail', body)
      },
      async release() {
        await report('release', {})
      },
    } satisfies JobClient
  }

  return {
    async claim(request, signal) {
      const response = await send(post(`${ROOT}/claim`, request, signal))
      return response.status === 204 ? null : ((await response.json()) as ClaimResponse)
    },
    job: createJobClient,
    async renew({ id, lease_token }, signal) {
      await send(post(`${ROOT}/jobs/${id}/heartbeat`, { lease_token }, signal))
    },
    async release({ id, lease_token }, signal) {
      await send(post(`${ROOT}/jobs/${id}/release`, { lease_token }, signal))
    },
  }
}

/** @throws Error for an address on another host: the request would send the key there */
function requireOwnPath(url: string): void {
  if (!/^\/(?!\/)/.test(url)) throw new Error('the server named a file outside of itself')
}

/**
 * Returns the message of an error response; empty for a response without one, a long one, or one that breaks off.
 */
async function readReason({ body }: Response): Promise<string> {
  try {
    let text = ''
    const decoder = new TextDecoder()
    for await (const bytes of body ?? []) {
      text += decoder.decode(bytes, { stream: true })
      if (text.length > REFUSAL_BYTES_MAX) return ''
    }
    const { error } = JSON.parse(text) as { readonly error?: { readonly message?: unknown } }
    return String(error?.message ?? '').slice(0, REASON_CHARS_MAX)
  } catch {
    return ''
  }
}

/** Whether an error is a lost connection, a timeout, or a response of an overloaded or failing server. */
function isTemporary(error: unknown): boolean {
  if (error instanceof LeaseLostError) return false
  if (error instanceof RefusedError) return error.status >= 500 || error.status === 429
  return error instanceof Error && (error instanceof TypeError || error.name === 'TimeoutError')
}

function decodeText(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes)
}

function hashOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}
