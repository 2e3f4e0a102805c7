/** Parses a training job from the text of its body. Runs on the main thread and in the thread of large bodies. */
import { decodeJsonBody, parseJsonBody } from '../../domain/json/json-body-text.ts'
import { type JobContent, readJobContent } from '../../domain/training/training-job.ts'
import { toProblems, toValidationError } from '../../schemas/problems.ts'
import { TrainingJobCreateRequest } from '../../schemas/training/training-job.ts'

/**
 * @param containersMax - objects and lists that it may contain; by default as many as any body
 * @returns the fields of the job, and the text of its groups
 * @throws ApiError invalid_json, request_too_large, validation_failed
 */
export function readTrainingBody(
  bytes: Buffer,
  containersMax?: number,
): { content: JobContent; payload: string } {
  const text = decodeJsonBody(bytes)
  const body = parseJsonBody(text, containersMax === undefined ? {} : { containersMax })
  const { data, error } = TrainingJobCreateRequest.safeParse(body)
  if (error) throw toValidationError(toProblems(error.issues, body))
  return readJobContent(data, text)
}
