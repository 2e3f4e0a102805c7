/** How the models answer, on the wire: an addition to the spec. Spec: §4.7 (lists models and nothing of their engines). */
import { z } from 'zod'

const ms = (what: string) => z.number().nullable().describe(`${what}, milliseconds.`)
const time = z.string().meta({ format: 'date-time' })

const Upstream = z.object({
  number: z.int().describe('Number of the upstream, from 1.'),
  address: z.string().describe('Where it is.'),
  requests: z.int().describe('Requests that are there now.'),
  failures: z.int().describe('Failures in a row; 0 once it has answered.'),
  rests_ms: z
    .int()
    .describe('Milliseconds for which it is left alone after failures; 0: it is asked.'),
})

const Backend = z
  .object({
    id: z.string().describe('Model, as clients name it.'),
    aliases: z.array(z.string()).describe('Its other names.'),
    engine: z
      .string()
      .nullable()
      .describe('What answers: tiny, or the engine of the models file; null for trained models.'),
    offers: z.array(z.string()).describe('What it can be asked.'),
    upstreams: z.array(Upstream).describe('Servers that are asked; none for the embedded model.'),
    answers: z.int().describe('Whole answers since the server began.'),
    failures: z.int().describe('Answers that the model or its upstream failed to give.'),
    first_ms_p50: ms('Half of the last 500 answers began within this'),
    first_ms_p95: ms('95 % of them began within this'),
    total_ms_p50: ms('Half of them were whole within this'),
    total_ms_p95: ms('95 % of them were whole within this'),
    last_answer_at: time.nullable().describe('When it last answered, UTC.'),
    last_failure: z
      .object({
        code: z.string().describe('Code of the error.'),
        at: time.describe('When it was, UTC.'),
      })
      .nullable()
      .describe('What went wrong last.'),
  })
  .meta({ id: 'Backend', description: 'A model, who answers for it, and how.' })
export type Backend = z.infer<typeof Backend>

export const BackendListResponse = z.object({
  object: z.literal('list').describe('Always `list`.'),
  data: z
    .array(Backend)
    .describe('The models of the models file, then trained ones that were asked.'),
})
