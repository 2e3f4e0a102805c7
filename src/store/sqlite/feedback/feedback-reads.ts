/** The read jobs of queries and statistics over feedback. */
import type { FeedbackSample } from '../../../domain/feedback/feedback-sample.ts'
import type { FeedbackSums } from '../../../domain/feedback/feedback-sums.ts'
import type {
  FeedbackAggregateRequest,
  FeedbackAggregateResponse,
} from '../../../schemas/feedback/feedback-stats.ts'
import type { FeedbackMeasure, FeedbackRows, PayloadPaths } from '../../api/feedback/feedback.ts'
import { PART_BYTES } from '../../base/db/sizes.ts'
import { createFeedbackReads, type FeedbackQuery } from '../../base/feedback/feedback-reads.ts'
import { runPausing } from '../db/run-steps.ts'
import type { ReadJob } from '../read/read-job.ts'
import { chooseSample } from './choose-sample.ts'
import { FEEDBACK } from './feedback.sql.ts'

const READS = createFeedbackReads(FEEDBACK)

export const queryFeedback: ReadJob<FeedbackQuery, FeedbackRows> = (db, query, checkpoint) =>
  runPausing(db, READS.query(query), checkpoint)

export const measureFeedback: ReadJob<FeedbackMeasure, FeedbackSums> = (db, measure, checkpoint) =>
  runPausing(db, READS.measure(measure), checkpoint)

export const aggregateFeedback: ReadJob<
  FeedbackAggregateRequest,
  FeedbackAggregateResponse['buckets']
> = (db, request, checkpoint) => runPausing(db, READS.aggregate(request), checkpoint)

export const findPayloadPaths: ReadJob<FeedbackSample, PayloadPaths> = (db, sample, checkpoint) => {
  const keys = chooseSample(db, sample, checkpoint)
  const chosen = keys.map((feedback_key) => ({ feedback_key, bytes: PART_BYTES }))
  return runPausing(db, READS.findPaths(chosen), checkpoint)
}
