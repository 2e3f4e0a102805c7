/** Entry of a thread that dies of its memory when a project is named `huge`, as a request does that is too large for it. */

import type { MessagePort } from 'node:worker_threads'
import { sendSpans } from '../../../src/otel/span-batches.ts'
import type { ThreadRequest } from '../../../src/otel/span-reader-entry.ts'
import { serveThread } from '../../../src/threads/serve-thread.ts'

serveThread<ThreadRequest, void>(() => ({
  run({ project_id, port }) {
    const kept: object[] = []
    // Small objects: larger ones can use up what V8 allows for the end of the thread, and V8 then ends the process.
    while (project_id === 'huge') kept.push({ count: kept.length })
    const projects = [project_id ?? '']
    const head = { projects, count: 0, feedback: [], runs: [], rejected: 0, message: null }
    return sendSpans(port as MessagePort, { ...head, calls: [] })
  },
}))
