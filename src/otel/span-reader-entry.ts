/** Entry of the thread that reads large requests of traces and logs. */
import { type MessagePort, resourceLimits } from 'node:worker_threads'
import { limitsOfHeap } from '../domain/json/json-limits.ts'
import { serveThread } from '../threads/serve-thread.ts'
import { type ReadLogs, readLogRequest } from './read-logs.ts'
import { type ReadRequest, readTraceRequest } from './read-request.ts'
import { sendSpans } from './span-batches.ts'

export interface ThreadRequest extends ReadRequest {
  /** Where the spans go; null for a request of logs, whose messages are the reply. */
  readonly port: MessagePort | null
}

const limits = limitsOfHeap(resourceLimits.maxOldGenerationSizeMb ?? 0, 'lossless')

serveThread<ThreadRequest, ReadLogs | null>(() => ({
  async run({ port, ...request }) {
    if (port === null) return readLogRequest(request, limits)
    await sendSpans(port, readTraceRequest(request, limits))
    return null
  },
}))
