/** Models of the training preview on the wire, an addition to the spec. Spec: §2.12 model_id. */
import { z } from 'zod'
import { nameOf, ProjectId } from '../primitives.ts'
import { orderField, PageQuery, pageOf } from '../query/page-query.ts'

const BASE_MODEL_MAX = 256

/** One half of a project id. */
const projectSegment = z
  .string()
  .max(128)
  .refine(
    (text) => ProjectId.safeParse(`${text}/project`).success,
    'must be visible text without / \\ # ? % :',
  )

/**
 * Input of `POST /v1/preview/models`.
 *
 * Spec: §2.12 model_id (required, but nothing of the spec makes a model).
 * Choice: this route, with the fields that training clients send.
 */
export const PreviewModelCreateRequest = z
  .strictObject({
    entity: projectSegment
      .nullish()
      .describe('First half of the project id; the user of the key when absent or null.'),
    project: projectSegment.describe('Second half of the project id.'),
    name: z
      .string()
      .regex(/^[\w.-]{1,128}$/, 'must be 1 to 128 letters, digits, dots, dashes or underscores')
      .describe('Name of the model, unique in its project.'),
    base_model: nameOf(BASE_MODEL_MAX).describe('Base model that training starts from.'),
    return_existing: z
      .boolean()
      .optional()
      .describe(
        'Whether to return an existing model of this name. Default false: it is an error, model_conflict.',
      )
      .meta({ default: false }),
  })
  .meta({ id: 'PreviewModelCreateRequest', description: 'A model to train.' })
export type PreviewModelCreateRequest = z.infer<typeof PreviewModelCreateRequest>

/** A model of the preview. Spec: §2.12 model_id. Choice: the shape that training clients read. */
export const PreviewModelResponse = z
  .object({
    id: z.string().meta({
      description: 'Id of the model: the model_id of jobs and checkpoints.',
      format: 'uuid',
    }),
    entity: z.string().describe('First half of the project id.'),
    project: z.string().describe('Second half of the project id.'),
    name: z.string().describe('Name of the model.'),
    base_model: z.string().describe('Base model that training starts from.'),
    run_id: z.string().nullable().describe('Always null: Weft has no runs.'),
  })
  .meta({ id: 'PreviewModelResponse', description: 'A model of the training preview.' })
export type PreviewModelResponse = z.infer<typeof PreviewModelResponse>

/**
 * Path of one model, and of its checkpoints.
 *
 * Spec: §4.9. Choice: a model_id that is no UUID is a model that does not exist (404), not a 422.
 */
export const PreviewModelParams = z.object({
  model_id: z.string().describe('Id of the model, a UUID.'),
})

/** Query of the model list (addition to the spec). */
export const PreviewModelListQuery = PageQuery.extend({
  project_id: ProjectId.optional().describe('Only models of this project.'),
  name: z.string('must be given once').max(128).optional().describe('Only models of this name.'),
  order: orderField('creation'),
})

export const PreviewModelListResponse = pageOf(PreviewModelResponse).meta({
  id: 'PreviewModelListResponse',
  description: 'A page of models.',
})

/** Response to the deletion. Spec: §2.12 model_id. Choice: the shape that training clients read. */
export const PreviewModelDeleteResponse = z
  .object({
    model_id: z.string().describe('Id of the deleted model.'),
    deleted_checkpoints: z.int().describe('Number of checkpoints deleted with it.'),
    deleted_run: z.boolean().describe('Always false: Weft has no runs.'),
  })
  .meta({ id: 'PreviewModelDeleteResponse', description: 'A deleted model.' })
