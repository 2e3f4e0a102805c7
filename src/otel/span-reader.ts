/** Reads trace requests: small ones at once, large ones in a thread, so that nothing else waits for them. */
import { Piscina } from 'piscina'
import { ApiError } from '../errors.ts'
import { type ReadRequest, type ReadSpans, readTraceRequest } from './read-request.ts'
import type { ThreadAnswer } from './span-reader-entry.ts'

/** Bodies up to this are read at once: some 2 ms. */
const INLINE_BYTES_MAX = 128 * 1024
/** Limit: large requests that wait for the thread. */
const WAITING_MAX = 64
/** Limit: memory of the thread; a body of 64 MiB becomes objects of several times its length. */
const HEAP_MIB_MAX = 2048
/** An idle thread is ended after this, since it keeps the memory of the largest body. */
const IDLE_MS_MAX = 10_000

export interface TraceReader {
  /** @throws ApiError invalid_otlp, otlp_project_missing, server_overloaded */
  read(request: ReadRequest): Promise<ReadSpans>
  close(): Promise<void>
}

export function createTraceReader(): TraceReader {
  let pool: Piscina<ReadRequest, ThreadAnswer> | null = null
  const start = () =>
    new Piscina<ReadRequest, ThreadAnswer>({
      filename: new URL('./span-reader-entry.ts', import.meta.url).href,
      name: 'readTraces',
      minThreads: 0,
      maxThreads: 1,
      maxQueue: WAITING_MAX,
      idleTimeout: IDLE_MS_MAX,
      resourceLimits: { maxOldGenerationSizeMb: HEAP_MIB_MAX },
    })
  return {
    async read(request) {
      if (request.bytes.length <= INLINE_BYTES_MAX) return readTraceRequest(request)
      pool ??= start()
      if (pool.queueSize >= WAITING_MAX) throw new ApiError('server_overloaded', { retryAfterS: 1 })
      const { buffer, byteLength } = request.bytes
      const isWhole = buffer instanceof ArrayBuffer && buffer.byteLength === byteLength
      const { spans, refusal } = await pool.run(request, { transferList: isWhole ? [buffer] : [] })
      if (refusal) throw new ApiError(refusal.code, { message: refusal.message })
      return spans
    },
    async close() {
      await pool?.destroy()
    },
  }
}
