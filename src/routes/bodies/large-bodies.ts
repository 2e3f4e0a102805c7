/**
 * Prepares bodies that may be large: small ones at once, large ones in a thread, so that nothing else waits for them.
 * For large bodies the main thread handles only the bytes and the result of the preparation.
 */
import { extname } from 'node:path'
import type { FastifyRequest } from 'fastify'
import { ApiError } from '../../errors.ts'
import type { App } from '../../http/app-type.ts'
import {
  type BodyThread,
  type BodyThreadEntry,
  createBodyThread,
} from '../../threads/body-thread.ts'
import {
  type PreparationName,
  type Prepared,
  prepareBody,
  type UnpreparedBody,
} from './preparations.ts'

/** Limit in bytes: a longer body is prepared in the thread. Parsing one of this length takes some 50 ms at worst. */
export const PARSED_BYTES_MAX = 512 * 1024

/** Limit: bytes of bodies that wait for the thread; one alone may have more. */
const WAITING_BYTES_MAX = 256 * 1024 * 1024
/** Limit: memory of the thread. */
const HEAP_MIB_MAX = 2048

export interface LargeBodies {
  /**
   * Prepares the body of a request whose route has the body mode `bytes`.
   *
   * @throws ApiError validation_failed, invalid_json, request_too_large, server_overloaded, server_draining; what the
   * preparation throws
   */
  prepare<Name extends PreparationName>(
    app: App,
    request: FastifyRequest,
    name: Name,
  ): Promise<Prepared<Name>>
  close(): Promise<void>
}

interface LargeBodiesOptions {
  readonly refScheme: string
  nowUs(): number
  /** Default: a thread of this folder's entry. */
  readonly threadEntry?: BodyThreadEntry
}

const THREAD_ENTRY: BodyThreadEntry = {
  heapMibMax: HEAP_MIB_MAX,
  entry: new URL(`./large-body-entry${extname(import.meta.url)}`, import.meta.url),
}

export function createLargeBodies(options: LargeBodiesOptions): LargeBodies {
  const { refScheme, nowUs } = options
  const thread = createBodyThread<UnpreparedBody, unknown>(options.threadEntry ?? THREAD_ENTRY)
  const run = limitBytes(thread)

  return {
    async prepare(app, request, name) {
      const { principal, params } = request
      const { isStrict } = app.naming
      const bytes = request.body as Buffer
      const known = { principal, params: { ...(params as object) }, isStrict, refScheme }
      const body = { name, bytes, ...known, nowUs: nowUs() }
      return await (bytes.length > PARSED_BYTES_MAX ? run(body) : prepareBody(body))
    },
    close: thread.close,
  } as LargeBodies
}

function limitBytes({ run }: BodyThread<UnpreparedBody, unknown>) {
  let waiting = 0
  return async (body: UnpreparedBody): Promise<unknown> => {
    const { buffer, byteLength } = body.bytes
    if (waiting > 0 && waiting + byteLength > WAITING_BYTES_MAX) {
      throw new ApiError('server_overloaded', { retryAfterS: 1 })
    }
    const isWhole = buffer instanceof ArrayBuffer && buffer.byteLength === byteLength
    waiting += byteLength
    try {
      const share = { keyId: body.principal?.keyId ?? '', project_id: '' }
      return await run(body, { transfer: isWhole ? [buffer] : [], share })
    } finally {
      waiting -= byteLength
    }
  }
}
