/** Where a chat would go, on the wire: an addition to the spec. Spec: §4.3 (names a model and nothing of its engines). */
import { z } from 'zod'

const Refusal = z
  .object({
    code: z.string().describe('Code of the error.'),
    message: z.string().describe('Its message.'),
    param: z.string().nullable().describe('The field of the request that it is about, or null.'),
  })
  .nullable()

const Candidate = z.object({
  model: z.string().describe('Id of the model, or the name in `fallbacks` of one that is gone.'),
  engine: z.string().nullable().describe('Its engine; null for a model that is gone.'),
  refusal: Refusal.describe('Why it cannot answer this request; null: it can.'),
  upstreams: z
    .array(
      z.object({
        number: z.int().describe('Number of the upstream, from 1.'),
        weight: z.number().describe('Its share of the load.'),
        failures: z.int().describe('Consecutive failures; 0 after a response.'),
        rests_ms: z
          .int()
          .describe('Milliseconds for which it gets no requests after failures; 0: it gets them.'),
      }),
    )
    .describe('In the order in which the request would choose now; none for the embedded model.'),
})
export type RouteCandidate = z.infer<typeof Candidate>

export const RouteResponse = z
  .object({
    object: z.literal('route').describe('Always `route`.'),
    model: z
      .string()
      .nullable()
      .describe('Id of the model that would be asked first; null: the request would be refused.'),
    refusal: Refusal.describe('Why the request would be refused; null: it would not.'),
    fallback_on: z
      .array(z.string())
      .describe('Codes of refusals by the asked model after which its fallbacks are tried, too.'),
    candidates: z
      .array(Candidate)
      .describe(
        'The asked model, then its fallbacks in their order; those with a refusal are skipped.',
      ),
  })
  .meta({ id: 'RouteResponse', description: 'Where a chat would go.' })
