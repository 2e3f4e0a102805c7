/** Exports of calls on the wire. An addition to the spec: `/calls/exports`. */
import { z } from 'zod'
import { CallsQueryRequest, columns } from './calls-query.ts'

/** Which calls, as in a list, and the form of the file. */
export const CallExportRequest = z
  .strictObject({
    ...CallsQueryRequest.shape,
    columns: columns.describe(
      'As in a list. In CSV the columns of the table: fields, dotted into JSON (`inputs.question`), or one of `status`, `latency_ms`, ' +
        '`models`, `total_tokens`, `total_cost`, `feedback`; required there.',
    ),
    format: z
      .enum(['jsonl', 'csv'])
      .nullish()
      .describe('JSON lines, each as a list gives it, or CSV (RFC 4180).')
      .meta({ default: 'jsonl' }),
  })
  .meta({ id: 'CallExportRequest', description: 'Which calls to save, and how.' })
export type CallExportRequest = z.infer<typeof CallExportRequest>

export const CallExportResponse = z
  .object({
    path: z.string().describe('Address of the file on this server. It works once, without a key.'),
    expires_at: z
      .string()
      .meta({ format: 'date-time' })
      .describe('Until then the download must begin; it may last as long as it takes.'),
  })
  .meta({ id: 'CallExportResponse', description: 'Where the file is.' })

export const CallExportParams = z.object({
  token: z.string().max(64, 'must have at most 64 characters').describe('Of the path.'),
})
