/** Parses a training job from the text of its body. Runs on the main thread and in the thread of large bodies. */
import { decodeJsonBody, type JsonLimits, parseJsonBody } from '../../domain/json/json-limits.ts'
import { type JobContent, readJobContent } from '../../domain/training/training-job.ts'
import { toProblems, toValidationError } from '../../schemas/problems.ts'
import { TrainingJobCreateRequest } from '../../schemas/training/training-job.ts'

/**
 * @param limits - of the JSON; by default those of the event loop
 * @returns the fields of the job, and the text of its groups
 * @throws ApiError invalid_json, request_too_large, validation_failed
 */
export function readTrainingBody(
  bytes: Buffer,
  limits?: JsonLimits,
): { content: JobContent; payload: string } {
  const text = decodeJsonBody(bytes)
  const body = parseJsonBody(text, limits && { limits })
  const { data, error } = TrainingJobCreateRequest.safeParse(body)
  if (error) throw toValidationError(toProblems(error.issues, body))
  return readJobContent(data, text)
}
