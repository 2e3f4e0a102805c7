/**
 * Backends and their latencies on the wire, an addition to the spec. Spec: §4.7 (lists models and nothing of their
 * engines).
 */
import { z } from 'zod'
import { Time } from '../primitives.ts'

const ms = (what: string) => z.number().nullable().describe(`${what}, milliseconds.`)
const Upstream = z.object({
  number: z.int().describe('Number of the upstream, from 1.'),
  address: z.string().describe('Its address.'),
  requests: z.int().describe('Requests in progress.'),
  failures: z.int().describe('Consecutive failures; 0 after an answer.'),
  rests_ms: z
    .int()
    .describe('Milliseconds for which it gets no requests after failures; 0: it gets requests.'),
  first_event_ms: ms('Moving average until the first event of a stream'),
  response_ms: ms('Moving average until a whole response was read'),
})

const Backend = z
  .object({
    id: z.string().describe('Id of the model.'),
    aliases: z.array(z.string()).describe('Its aliases.'),
    engine: z
      .string()
      .nullable()
      .describe('The engine: tiny, or that of the models file; null for trained models.'),
    offers: z.array(z.string()).describe('Endpoints that it serves.'),
    upstreams: z.array(Upstream).describe('Its upstreams; none for the embedded model.'),
    answers: z.int().describe('Completed answers since the server started.'),
    failures: z.int().describe('Failed answers since the server started.'),
    first_ms_p50: ms('Half of the last 500 answers began within this'),
    first_ms_p95: ms('95 % of them began within this'),
    total_ms_p50: ms('Half of them were whole within this'),
    total_ms_p95: ms('95 % of them were whole within this'),
    last_answer_at: Time.nullable().describe('When it last answered, UTC.'),
    last_failure: z
      .object({
        code: z.string().describe('Code of the error.'),
        at: Time.describe('When it happened, UTC.'),
      })
      .nullable()
      .describe('The last failure.'),
  })
  .meta({ id: 'Backend', description: 'A model, its upstreams, and how they perform.' })
export type Backend = z.infer<typeof Backend>

export const BackendListResponse = z.object({
  object: z.literal('list').describe('Always `list`.'),
  data: z
    .array(Backend)
    .describe('The models of the models file, then trained ones that have been used.'),
})
