/** Tags of calls on the wire; an addition to the spec. */
import { z } from 'zod'
import { ClientId, ProjectId } from '../primitives.ts'
import { isTag, TAG_RULE } from '../shapes.ts'

/** Limit: calls, and tags, of one request. */
const CALLS_MAX = 1000
const CHANGED_MAX = 20

const Tag = z
  .string()
  .refine(isTag, TAG_RULE)
  .meta({ minLength: 1, examples: ['checked'] })

const tags = z.array(Tag).max(CHANGED_MAX).nullish()

export const CallsTagRequest = z
  .strictObject({
    project_id: ProjectId,
    call_ids: z
      .array(ClientId)
      .min(1, 'must have at least 1 entry')
      .max(CALLS_MAX)
      .describe(
        `The calls, at most ${CALLS_MAX}; they are tagged alone, without their descendants.`,
      ),
    add: tags.describe('Tags that each of the calls shall have. Default: none.'),
    remove: tags.describe('Tags that none of the calls shall have. Default: none.'),
  })
  .meta({ id: 'CallsTagRequest', description: 'A change of the tags of calls.' })
export type CallsTagRequest = z.infer<typeof CallsTagRequest>

export const CallsTagResponse = z.object({
  added_count: z.int().describe('Number of tags that calls did not have before.'),
  removed_count: z.int().describe('Number of tags that were removed from calls.'),
})
