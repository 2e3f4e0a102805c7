/**
 * Prepares bodies that may be large: small ones at once, large ones in a thread, so that nothing else waits for them.
 * For large bodies the main thread handles only the bytes and the result of the preparation.
 */
import type { FastifyRequest } from 'fastify'
import { ApiError } from '../../errors.ts'
import type { App } from '../../http/app-type.ts'
import {
  type BodyThread,
  type BodyThreadEntry,
  createBodyThread,
} from '../../threads/body-thread.ts'
import type { LargeBody } from './large-body-entry.ts'
import type { PreparationContext } from './preparation.ts'
import { type PreparationName, type Prepared, preparationOf } from './preparations.ts'

/** Limit: bytes of bodies that wait for the thread; one alone may have more. */
const WAITING_BYTES_MAX = 256 * 1024 * 1024
/** Limit: memory of the thread. */
const HEAP_MIB_MAX = 2048

export interface LargeBodies {
  /**
   * Prepares the body of a request whose route has `largeBody` in its config.
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
  entry: new URL('./large-body-entry.ts', import.meta.url),
}

export function createLargeBodies(options: LargeBodiesOptions): LargeBodies {
  const { refScheme, nowUs } = options
  const thread = createBodyThread<LargeBody, unknown>(options.threadEntry ?? THREAD_ENTRY)
  const run = limitBytes(thread)

  return {
    async prepare(app, request, name) {
      const { body, bodyText, principal, params } = request
      const { isStrict } = app.naming
      const known = { principal, params: { ...(params as object) }, isStrict, refScheme }
      const context = { ...known, nowUs: nowUs() }
      // On these routes only the JSON parser passes a body on as bytes.
      if (Buffer.isBuffer(body)) return await run({ name, bytes: body, ...context })
      const whole: PreparationContext = { ...context, text: bodyText ?? '' }
      return await preparationOf(name).prepare(body, whole)
    },
    close: thread.close,
  } as LargeBodies
}

function limitBytes({ run }: BodyThread<LargeBody, unknown>) {
  let waiting = 0
  return async (body: LargeBody): Promise<unknown> => {
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
