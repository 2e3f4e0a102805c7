/** The list of served models. Keys beyond the spec's pass; client libraries skip what they do not know. */
import { z } from 'zod'

/**
 * One served model.
 *
 * Spec: §2.11.
 * Choice: further keys may follow, as `max_model_len` and `parent`, which common clients read.
 */
export const ModelListEntry = z
  .looseObject({
    id: z.string().describe('Name to send as `model`; may contain slashes.'),
    object: z.literal('model').describe('Always model.'),
    created: z.int().describe('When the model was created, seconds since the epoch.'),
    owned_by: z.string().describe('Owner of the model.'),
    root: z.string().describe('The model that an alias stands for; otherwise the id itself.'),
  })
  .meta({ id: 'ModelListEntry', description: 'A served model.' })
export type ModelListEntry = z.infer<typeof ModelListEntry>

/** Body of the model listing; not paged. Spec: §2.11, §4.7. */
export const ModelListResponse = z
  .looseObject({
    object: z.literal('list').describe('Always list.'),
    data: z.array(ModelListEntry).describe('The served models.'),
  })
  .meta({ id: 'ModelListResponse', description: 'The served models.' })
