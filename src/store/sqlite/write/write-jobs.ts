/**
 * The registry of all writes, by name. Each runs on the writing connection inside a shared transaction; its input and
 * result must survive structured clone. To add a write, add an entry beside its store.
 */
import { AUDIT_WRITES } from '../../base/access/audit-store.ts'
import { createBudgetWrites } from '../../base/access/budget-store.ts'
import { createKeyWrites } from '../../base/access/key-store.ts'
import { createPasswordWrites } from '../../base/access/password-store.ts'
import { createPersonWrites } from '../../base/access/person-store.ts'
import { createAlertWrites } from '../../base/alerts/alert-store.ts'
import { createAnnotationWrites } from '../../base/annotation/annotation-steps.ts'
import { EXPORT_TICKET_WRITES } from '../../base/calls/export-ticket-store.ts'
import { createCompletionCacheWrites } from '../../base/chat/completion-cache-store.ts'
import { RESPONSE_WRITES } from '../../base/chat/response-store.ts'
import { createEvaluationJobWrites } from '../../base/evaluations/evaluation-job-store.ts'
import { createEvaluatorWrites } from '../../base/evaluators/evaluator-store.ts'
import { createFeedbackWrites } from '../../base/feedback/feedback-writes.ts'
import { createServedAliasWrites } from '../../base/models/served-alias-store.ts'
import { createPriceWrites } from '../../base/prices/price-writes.ts'
import { REDACTION_WRITES, RETENTION_WRITES } from '../../base/projects/project-steps.ts'
import { createTrainingWrites } from '../../base/training/training-writes.ts'
import { createCallWrites } from '../calls/call-writes.ts'
import type { NameKeys } from '../calls/columns/id-columns.ts'
import { createRemovalWrites } from '../calls/removal/removal-writes.ts'
import type { Connection } from '../db/connection.ts'
import { SQLITE } from '../db/dialect.sql.ts'
import { toWriteJobs } from '../db/run-steps.ts'
import { FEEDBACK } from '../feedback/feedback.sql.ts'
import { createHealthWrites } from '../health/health-writes.ts'
import { createContentWrites } from '../objects/content-writes.ts'
import type { HourMarks } from '../stats/hour-marks.ts'
import { createSegmentWrites } from '../stats/segments/build/segment-writes.ts'
import { QUEUE } from '../training/training-queue.sql.ts'

interface WriteParts {
  readonly db: Connection
  /** Over the same connection. */
  readonly hours: HourMarks
  readonly keys: NameKeys
  /** Returns an id for rows that callers do not name, such as events of jobs. */
  newId(): string
}

export function createWriteJobs({ db, hours, keys, newId }: WriteParts) {
  return {
    ...toWriteJobs(db, AUDIT_WRITES),
    ...toWriteJobs(db, createKeyWrites(SQLITE)),
    ...toWriteJobs(db, createPersonWrites(SQLITE)),
    ...toWriteJobs(db, createPasswordWrites(SQLITE)),
    ...toWriteJobs(db, createBudgetWrites(SQLITE)),
    ...toWriteJobs(db, createAlertWrites(SQLITE)),
    ...toWriteJobs(db, createEvaluationJobWrites(SQLITE)),
    ...toWriteJobs(db, createAnnotationWrites(newId, SQLITE)),
    ...createCallWrites(db, hours, keys),
    ...createRemovalWrites(db),
    ...toWriteJobs(db, createFeedbackWrites(SQLITE, FEEDBACK)),
    ...toWriteJobs(db, createEvaluatorWrites(SQLITE)),
    ...toWriteJobs(db, createServedAliasWrites(SQLITE)),
    ...createHealthWrites(db),
    ...createContentWrites(db),
    ...toWriteJobs(db, createPriceWrites(SQLITE)),
    ...toWriteJobs(db, RESPONSE_WRITES),
    ...toWriteJobs(db, createCompletionCacheWrites(SQLITE)),
    ...toWriteJobs(db, EXPORT_TICKET_WRITES),
    ...toWriteJobs(db, RETENTION_WRITES),
    ...toWriteJobs(db, REDACTION_WRITES),
    ...createSegmentWrites(db),
    ...toWriteJobs(db, createTrainingWrites(newId, QUEUE)),
  }
}

export type WriteJobs = ReturnType<typeof createWriteJobs>
export type WriteInput<Name extends keyof WriteJobs> = Parameters<WriteJobs[Name]>[0]
export type WriteOutput<Name extends keyof WriteJobs> = ReturnType<WriteJobs[Name]>
