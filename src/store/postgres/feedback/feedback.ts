/** Feedback in PostgreSQL. */
import { type ReadCaller, requireWaiting } from '../../../domain/access/read-caller.ts'
import type { FeedbackStore } from '../../api/feedback/feedback.ts'
import type { StepRuns, Steps } from '../../base/db/steps.ts'
import { createFeedbackReads, type SizedKey } from '../../base/feedback/feedback-reads.ts'
import {
  createFeedbackWrites,
  createWritingMethods,
  type FeedbackReplacement,
  type FeedbackWrites,
} from '../../base/feedback/feedback-writes.ts'
import type { Postgres } from '../db/client.ts'
import { POSTGRES, wellFormed } from '../db/dialect.sql.ts'
import type { Reads } from '../db/reads.ts'
import { createStepRuns, runSteps } from '../db/run-steps.ts'
import { CHOOSE_SAMPLE, FEEDBACK, LOCK_IDS } from './feedback.sql.ts'
import { readAbout } from './feedback-about.ts'

const WRITES = createFeedbackWrites(POSTGRES, FEEDBACK)
const READS = createFeedbackReads(FEEDBACK)

export function createFeedbackStore(db: Postgres, reads: Reads): FeedbackStore {
  const write: StepRuns<FeedbackWrites>['write'] = (name, input) =>
    db.transaction(async (tx) => {
      if (name === 'replace_feedback') {
        const { replaced_id, feedback } = input as unknown as FeedbackReplacement
        // In a fixed order, so that concurrent replacements of each other's ids cannot deadlock.
        const ids = [replaced_id, feedback.id].sort()
        await tx.all(LOCK_IDS, { project_id: feedback.project_id, ids })
      }
      return createStepRuns(tx, WRITES).write(name, input)
    })
  const readSteps = <T>(caller: ReadCaller, steps: Steps<T>) =>
    reads.run(caller, (checkpoint) => runSteps(db, steps, checkpoint))
  const { purgeFeedback, purgeAbout, ...writing } = createWritingMethods(write)
  return {
    purgeFeedback,
    purgeAbout,
    createFeedback: (feedback) => writing.createFeedback(wellFormed(feedback)),
    createFeedbackBatch: (batch) => writing.createFeedbackBatch(batch.map(wellFormed)),
    replaceFeedback: (id, feedback) => writing.replaceFeedback(id, wellFormed(feedback)),
    queryFeedback: (project_id, query, caller) =>
      readSteps(caller, READS.query({ project_id, query })),
    async listAbout(weave_refs, { project_id, signal }) {
      return readAbout(db, project_id, weave_refs, () => requireWaiting(signal))
    },
    findPayloadPaths: (sample, caller) =>
      reads.run(caller, async (checkpoint) => {
        const chosen = await db.snapshot((tx) => tx.all<SizedKey>(CHOOSE_SAMPLE, { ...sample }))
        return runSteps(db, READS.findPaths(chosen), checkpoint)
      }),
    measureFeedback: (measure, caller) => readSteps(caller, READS.measure(measure)),
    aggregateFeedback: (request, caller) => readSteps(caller, READS.aggregate(request)),
  }
}
