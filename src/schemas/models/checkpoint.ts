/** Checkpoints on the wire. Spec: §2.13, §4.9, §8. */
import { z } from 'zod'
import { boundedInteger } from '../bounded-fields.ts'
import { FreeObject, Time } from '../primitives.ts'
import { orderField, PageQuery, pageOf } from '../query/page-query.ts'
import { PreviewModelParams } from './preview-model.ts'

/** Limit: steps that one request deletes. */
const DELETED_STEPS_MAX = 10_000

/** Path of one checkpoint (addition to the spec). */
export const CheckpointParams = PreviewModelParams.extend({
  step: z.string().describe('Step of the checkpoint, or `latest`.'),
})

/**
 * Query of the checkpoint list.
 *
 * Spec: §4.9 after, limit, order; §8 checkpoints limit. Choice: unknown and repeated names are refused.
 */
export const CheckpointListQuery = PageQuery.extend({ order: orderField('step') })

/** Spec: §2.13. */
export const CheckpointResponse = z
  .object({
    id: z.string().meta({ description: 'Id of the checkpoint.', format: 'uuid' }),
    step: z.int().describe('Its training step, >= 0; unique in its model.'),
    metrics: FreeObject.describe('Metrics of the training step by name.'),
  })
  .meta({ id: 'CheckpointResponse', description: 'The weights of a model after a step.' })
export type CheckpointResponse = z.infer<typeof CheckpointResponse>

/** Spec: §4.9. */
export const CheckpointListResponse = pageOf(CheckpointResponse).meta({
  id: 'CheckpointListResponse',
  description: 'A page of checkpoints.',
})
export type CheckpointListResponse = z.infer<typeof CheckpointListResponse>

/** One checkpoint with its origin. Spec: §2.13 (nothing of the spec reads a single one). */
export const CheckpointDetail = z
  .object({
    ...CheckpointResponse.shape,
    created_at: Time.describe('When it was created, UTC.'),
    job_id: z.string().nullable().describe('Job that produced it.'),
    worker: z
      .object({
        id: z.string().describe('Name of the worker.'),
        version: z.string().describe('Its version.'),
      })
      .nullable()
      .describe('The worker that trained it; workers may interpret the same settings differently.'),
    artifact: z
      .object({
        url: z.string().describe('Path of the file on this server.'),
        sha256: z.string().describe('SHA-256 of the file, in hex.'),
        bytes: z.int().describe('Length of the file in bytes.'),
      })
      .nullable()
      .describe('Its weights as a file of the worker; null: those of the base model.'),
  })
  .meta({ id: 'CheckpointDetail', description: 'A checkpoint and its origin.' })
export type CheckpointDetail = z.infer<typeof CheckpointDetail>

/** Input of the deletion (addition to the spec, as training clients send it). */
export const CheckpointDeleteRequest = z
  .strictObject({
    steps: z
      .array(boundedInteger('a whole number from 0', { min: 0, max: Number.MAX_SAFE_INTEGER }))
      .max(DELETED_STEPS_MAX)
      .describe('Steps to delete.'),
  })
  .meta({ id: 'CheckpointDeleteRequest', description: 'Checkpoints to delete.' })

export const CheckpointDeleteResponse = z
  .object({
    deleted_count: z.int().describe('Checkpoints that were deleted.'),
    not_found_steps: z.array(z.int()).describe('Requested steps without a checkpoint.'),
  })
  .meta({ id: 'CheckpointDeleteResponse', description: 'The result.' })
