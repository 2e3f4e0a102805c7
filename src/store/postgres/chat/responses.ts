/** Responses in PostgreSQL. */
import type { StoredResponse } from '../../../domain/chat/responses-record.ts'
import type { ResponseStore } from '../../api/chat/responses.ts'
import type { Postgres } from '../db/client.ts'
import { toRows } from '../db/rows.sql.ts'
import * as SQL from './responses.sql.ts'

export function createResponseStore(db: Postgres): ResponseStore {
  return {
    async insertResponse(response) {
      await db.run(SQL.INSERT_RESPONSES, { rows: toRows([response]) })
    },
    async findResponse(id) {
      return (await db.first<StoredResponse>(SQL.FIND_RESPONSE, { id })) ?? null
    },
    async deleteResponse(id) {
      return (await db.run(SQL.DELETE_RESPONSE, { id })) > 0
    },
  }
}
