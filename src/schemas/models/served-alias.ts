/** Names by which projects serve models, on the wire: additions to the spec. Spec: §4.3 model. */
import { z } from 'zod'
import { ProjectId, Time } from '../primitives.ts'

/** Limits: characters. */
const NAME_CHARS_MAX = 128
const MODEL_CHARS_MAX = 512

const Model = z.string().min(1, 'must not be empty').max(MODEL_CHARS_MAX)

export const AliasPath = z.object({
  name: z
    .string()
    .max(NAME_CHARS_MAX)
    .regex(/^[A-Za-z0-9][\w.-]*$/, 'must consist of letters, digits, _ . and -')
    .describe('Name that requests give as their model.'),
})

export const AliasQuery = z.object({ project_id: ProjectId })

const percent = z
  .number()
  .min(0)
  .max(100)
  .describe('Percent of the end users, or of the conversations where none is named.')

export const AliasSetRequest = z
  .strictObject({
    project_id: ProjectId,
    target: Model.describe('Model that is served, as `owl:step3`.'),
    candidate: z
      .strictObject({ model: Model.describe('Model that gets a share, as `owl:step4`.'), percent })
      .nullish()
      .describe('Model that gets a share of the traffic. Default: none.'),
  })
  .meta({ id: 'AliasSetRequest', description: 'What a name serves.' })

export const AliasRollBackRequest = z
  .strictObject({ project_id: ProjectId })
  .meta({ id: 'AliasRollBackRequest', description: 'The project of the name.' })

export const ServedAliasResponse = z
  .object({
    project_id: z.string().describe('Its project.'),
    name: z.string().describe('Name that requests give as their model.'),
    target: z.string().describe('Model that is served.'),
    candidate: z
      .object({ model: z.string().describe('Model that gets a share.'), percent })
      .nullable()
      .describe('Model that gets a share of the traffic; null: none.'),
    earlier: z.array(z.string()).describe('Earlier targets, the newest first; at most 20.'),
    updated_at: Time.describe('When it was set, UTC.'),
  })
  .meta({ id: 'ServedAliasResponse', description: 'A name that serves a model.' })
export type ServedAliasResponse = z.infer<typeof ServedAliasResponse>

export const AliasListResponse = z
  .object({ aliases: z.array(ServedAliasResponse).describe('By their names.') })
  .meta({ id: 'AliasListResponse', description: 'Names that serve models.' })

export const AliasDeleteResponse = z
  .object({ deleted: z.boolean().describe('Whether there was such a name.') })
  .meta({ id: 'AliasDeleteResponse', description: 'Whether a name was deleted.' })
