/** `POST /v1/moderations` on the wire, an addition to the spec: the fields of the OpenAI API; unknown ones pass. */
import { z } from 'zod'
import { boundedList, ruleError } from '../../bounded-fields.ts'
import { model } from '../input-fields.ts'

/** Texts or parts of one request. */
const INPUTS_MAX = 2_048

const INPUT_RULE = `a string, or a list of 1 to ${INPUTS_MAX} strings or parts`

export const ModerationRequest = z
  .looseObject(
    {
      input: z
        .union(
          [
            z.string(),
            boundedList(z.string(), { min: 1, max: INPUTS_MAX }),
            boundedList(z.looseObject({ type: z.string().describe('Kind of the part.') }), {
              min: 1,
              max: INPUTS_MAX,
            }),
          ],
          ruleError(INPUT_RULE),
        )
        .describe(`Input to moderate: ${INPUT_RULE}.`),
      model,
    },
    ruleError('a JSON object'),
  )
  .meta({ id: 'ModerationRequest', description: 'Texts or images to moderate.' })
export type ModerationRequest = z.infer<typeof ModerationRequest>

export const ModerationResponse = z
  .looseObject({
    id: z.string().optional().describe('Id of the moderation.'),
    model: z.string().optional().describe('The model.'),
    results: z.array(z.looseObject({})).describe('One result per input.'),
  })
  .meta({ id: 'ModerationResponse', description: 'Moderation results of inputs.' })
