/** Responses in SQLite. */
import type { StoredResponse } from '../../../domain/chat/responses/responses-record.ts'
import type { ResponseStore } from '../../api/chat/responses.ts'
import * as SQL from '../../base/chat/responses.sql.ts'
import type { Connection } from '../db/connection.ts'
import { orStoreError } from '../db/store-error.ts'
import type { Writes } from '../write/writes.ts'

/** @param db - for reads on this thread */
export function createResponseStore(db: Connection, writes: Writes): ResponseStore {
  const findById = db.prepare(SQL.FIND_RESPONSE)
  return {
    insertResponse: (response) => writes.run('insert_response', response),
    async findResponse(id) {
      return orStoreError(() => (findById.get({ id }) as StoredResponse | undefined) ?? null)
    },
    deleteResponse: (id) => writes.run('delete_response', id),
  }
}
