/** Responses in PostgreSQL. */
import type { StoredResponse } from '../../../domain/chat/responses/responses-record.ts'
import type { ResponseStore } from '../../api/chat/responses.ts'
import * as SQL from '../../base/chat/responses.sql.ts'
import type { Postgres } from '../db/client.ts'

export function createResponseStore(db: Postgres): ResponseStore {
  return {
    async insertResponse(response) {
      await db.run(SQL.INSERT_RESPONSE, { ...response })
    },
    async findResponse(id) {
      return (await db.first<StoredResponse>(SQL.FIND_RESPONSE, { id })) ?? null
    },
    async deleteResponse(id) {
      return (await db.run(SQL.DELETE_RESPONSE, { id })) > 0
    },
  }
}
