/** Entry of the thread that reads large trace requests. */
import { type MessagePort, resourceLimits } from 'node:worker_threads'
import { limitsOfHeap } from '../domain/json/json-limits.ts'
import { serveThread } from '../threads/serve-thread.ts'
import { type ReadRequest, readTraceRequest } from './read-request.ts'
import { sendSpans } from './span-batches.ts'

export interface ThreadRequest extends ReadRequest {
  /** Where the spans go. */
  readonly port: MessagePort
}

const limits = limitsOfHeap(resourceLimits.maxOldGenerationSizeMb ?? 0, 'lossless')

serveThread<ThreadRequest, void>(() => ({
  run: ({ port, ...request }) => sendSpans(port, readTraceRequest(request, limits)),
}))
