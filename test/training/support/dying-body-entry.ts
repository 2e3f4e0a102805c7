/** Entry of a thread that dies of its memory when a body is named `huge`, as a body does that is too large for it. */
import type { JobContent } from '../../../src/domain/training/training-job.ts'
import { serveThread } from '../../../src/threads/serve-thread.ts'
import type { BodyRequest } from '../../../src/training/jobs/training-body-entry.ts'

serveThread<BodyRequest, JobContent>(() => ({
  run({ file }) {
    const kept: object[] = []
    // Small objects: larger ones can use up what V8 allows for the end of the thread, and V8 then ends the process.
    while (file === 'huge') kept.push({ count: kept.length })
    return { model_id: file } as JobContent
  },
}))
