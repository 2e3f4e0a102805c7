/** Reads trace requests: small ones at once, large ones in a thread, so that nothing else waits for them. */
import { extname } from 'node:path'
import { MessageChannel } from 'node:worker_threads'
import type { CallParts } from '../domain/calls/new-call.ts'
import type { PackedCalls } from '../domain/calls/packed-calls.ts'
import { type BodyThreadEntry, createBodyThread } from '../threads/body-thread.ts'
import { type ReadLogs, readLogRequest } from './read-logs.ts'
import { type ReadRequest, readTraceRequest } from './read-request.ts'
import { packBatches, receiveSpans, type SpansHead } from './span-batches.ts'
import type { ThreadRequest } from './span-reader-entry.ts'

/** Bodies up to this are read at once: some 2 ms. */
const INLINE_BYTES_MAX = 128 * 1024
/** Limit: large requests that wait for the thread. */
const WAITING_MAX = 64
/** Limit: memory of the thread, 2 GiB for a body of 64 MiB. Strings and numbers become some 16 times their length where digits are kept. */
const HEAP_BYTES_PER_BODY_BYTE = 32
const HEAP_MIB_MIN = 2048
const MIB = 1024 * 1024

export interface OpenSpans extends SpansHead {
  /** The calls, in the order in which the spans began. @throws ApiError server_draining, request_too_large */
  batches(): AsyncIterable<PackedCalls<CallParts>>
  /** Must be called, whether the batches were taken or not. */
  close(): void
}

export interface TraceReader {
  /**
   * @throws ApiError invalid_otlp, otlp_project_missing, server_overloaded, server_draining, request_too_large when the
   * memory does not do
   */
  read(request: ReadRequest): Promise<OpenSpans>
  /** The messages of a request of logs. @throws ApiError as `read` does */
  readLogs(request: ReadRequest): Promise<ReadLogs>
  close(): Promise<void>
}

/** @param bodyBytesMax - of the largest request */
export function optionsOfTraceReader(bodyBytesMax: number): BodyThreadEntry {
  const heapMib = Math.ceil((bodyBytesMax * HEAP_BYTES_PER_BODY_BYTE) / MIB)
  return {
    heapMibMax: Math.max(HEAP_MIB_MIN, heapMib),
    entry: new URL(`./span-reader-entry${extname(import.meta.url)}`, import.meta.url),
  }
}

export function createTraceReader(options: BodyThreadEntry): TraceReader {
  const thread = createBodyThread<ThreadRequest, ReadLogs | null>(options, WAITING_MAX)

  function run(request: ThreadRequest): Promise<ReadLogs | null> {
    const { buffer, byteLength } = request.bytes
    const isWhole = buffer instanceof ArrayBuffer && buffer.byteLength === byteLength
    const ports = request.port === null ? [] : [request.port]
    return thread.run(request, { transfer: isWhole ? [...ports, buffer] : ports })
  }

  return {
    async read(request) {
      if (request.bytes.length <= INLINE_BYTES_MAX) {
        const { calls, ...head } = readTraceRequest(request)
        return { ...head, batches: () => toAsync(packBatches(calls)), close: () => undefined }
      }
      const { port1, port2: port } = new MessageChannel()
      const failed = new Promise<never>((_resolve, reject) => {
        run({ ...request, port }).catch(reject)
      })
      // Reported to those who wait for it; otherwise it must not be an unhandled rejection.
      failed.catch(() => undefined)
      const spans = receiveSpans(port1, failed)
      try {
        return { ...(await spans.head()), batches: spans.batches, close: spans.close }
      } catch (error) {
        spans.close()
        throw error
      }
    },
    async readLogs(request) {
      if (request.bytes.length <= INLINE_BYTES_MAX) return readLogRequest(request)
      return (await run({ ...request, port: null })) as ReadLogs
    },
    close: thread.close,
  }
}

async function* toAsync<Item>(items: Iterable<Item>): AsyncGenerator<Item> {
  yield* items
}
