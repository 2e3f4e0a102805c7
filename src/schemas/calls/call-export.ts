/** Exports of calls on the wire. An addition to the spec: `/calls/exports`. */
import { z } from 'zod'
import { Time } from '../primitives.ts'
import { CallsQueryRequest, columns } from './calls-query.ts'

/** Selection of calls, as in a list, and the format of the file. */
export const CallExportRequest = z
  .strictObject({
    // A file has whole bodies: in CSV nothing would say which ones were not read.
    ...CallsQueryRequest.omit({ preview_bodies: true }).shape,
    columns: columns.describe(
      'For JSON lines as in a list. For CSV, where it is required, the columns of the table: fields, dotted into JSON ' +
        '(`inputs.question`), or one of `status`, `latency_ms`, `models`, `total_tokens`, `total_cost`, `feedback`.',
    ),
    format: z
      .enum(['jsonl', 'csv'])
      .nullish()
      .describe('JSON lines as in a list, or CSV (RFC 4180).')
      .meta({ default: 'jsonl' }),
  })
  .meta({ id: 'CallExportRequest', description: 'Which calls to save, and how.' })
export type CallExportRequest = z.infer<typeof CallExportRequest>

export const CallExportResponse = z
  .object({
    path: z.string().describe('Path of the file on this server. It works once, without a key.'),
    expires_at: Time.describe(
      'The download must begin before this time; its duration is not limited.',
    ),
  })
  .meta({ id: 'CallExportResponse', description: 'Address of the file.' })

export const CallExportParams = z.object({
  token: z.string().max(64).describe('The secret part of the address.'),
})
