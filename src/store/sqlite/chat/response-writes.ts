/** The writes of responses. */
import type { StoredResponse } from '../../../domain/chat/responses/responses-record.ts'
import * as SQL from '../../base/chat/responses.sql.ts'
import type { Connection } from '../db/connection.ts'

export function createResponseWrites(db: Connection) {
  const insert = db.prepare(SQL.INSERT_RESPONSE)
  const remove = db.prepare(SQL.DELETE_RESPONSE)
  return {
    insert_response(response: StoredResponse): void {
      insert.run(response)
    },
    /** Deletes a response; returns whether it existed. */
    delete_response(id: string): boolean {
      return remove.run({ id }).changes > 0
    },
  }
}
