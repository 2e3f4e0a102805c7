/** Adds payloads to rows that were read without them. */
import type { Statements } from '../db/client.ts'
import { FIND_PAYLOADS } from './feedback.sql.ts'

interface PayloadRow {
  readonly feedback_key: number
  readonly payload_json: string
}

/** Returns the rows with their payloads, in order, without rows deleted meanwhile. */
export async function readPayloads<Row extends { readonly feedback_key: number }>(
  db: Pick<Statements, 'all'>,
  rows: readonly Row[],
): Promise<(Row & { payload_json: string })[]> {
  const keys = rows.map(({ feedback_key }) => feedback_key)
  const found = await db.all<PayloadRow>(FIND_PAYLOADS, { keys })
  const payloads = new Map(found.map((row) => [row.feedback_key, row.payload_json]))
  return rows.flatMap((row) => {
    const payload_json = payloads.get(row.feedback_key)
    return payload_json === undefined ? [] : [{ ...row, payload_json }]
  })
}
