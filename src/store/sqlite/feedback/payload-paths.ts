/** The read job behind payload schemas: chooses the sample, then reads its payloads one by one. */
import {
  type FeedbackSample,
  SAMPLE_CHARACTERS_MAX,
} from '../../../domain/feedback/feedback-sample.ts'
import { createLeafPaths } from '../../../domain/json/json-paths.ts'
import type { PayloadPaths } from '../../api/feedback/feedback.ts'
import type { ReadJob } from '../read/read-job.ts'
import { chooseSample } from './choose-sample.ts'
import { FIND_PAYLOAD } from './feedback.sql.ts'

/** Returns the leaf paths of a sample; reads the newest payloads first, so that a limit skips old ones. */
export const findPayloadPaths: ReadJob<FeedbackSample, PayloadPaths> = function* (
  db,
  sample,
  checkpoint,
) {
  const findPayload = db.prepare(FIND_PAYLOAD).pluck()
  const leaves = createLeafPaths()
  let characters = 0
  for (const feedback_key of chooseSample(db, sample, checkpoint)) {
    if (checkpoint()) yield
    const json = findPayload.get({ feedback_key }) as string | undefined
    // It was deleted during a pause.
    if (json === undefined) continue
    characters += json.length
    if (characters > SAMPLE_CHARACTERS_MAX) return { paths: leaves.list(), is_complete: false }
    leaves.add(JSON.parse(json))
  }
  return { paths: leaves.list(), is_complete: leaves.isComplete() }
}
