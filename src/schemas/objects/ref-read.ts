/**
 * Reading values by refs.
 *
 * Spec: §2.1 (shapes of refs). Choice: the route and fields of the public tracing clients.
 */
import { z } from 'zod'

/** Limit: refs of one request. */
const REFS_MAX = 1000
const REF_LENGTH_MAX = 2048

export const RefsReadBatchRequest = z.strictObject({
  refs: z
    .array(z.string().max(REF_LENGTH_MAX))
    .max(REFS_MAX, `must have at most ${REFS_MAX} refs`)
    .describe(
      'Refs of objects, ops and tables; `/attr/..`, `/key/..`, `/index/..`, `/id/..` select values inside them.',
    ),
})

export const RefsReadBatchResponse = z.object({
  vals: z.array(z.unknown()).describe('Their values, in order; null when the path leads nowhere.'),
})
export type RefsReadBatchResponse = z.infer<typeof RefsReadBatchResponse>
