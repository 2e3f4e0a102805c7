/** Responses in SQLite. */
import type { ResponseStore } from '../../api/chat/responses.ts'
import { findResponse } from '../../base/chat/response-steps.ts'
import type { Connection } from '../db/connection.ts'
import { createStepReader } from '../db/run-steps.ts'
import type { Writes } from '../write/writes.ts'

/** @param db - for reads on this thread */
export function createResponseStore(db: Connection, writes: Writes): ResponseStore {
  const read = createStepReader(db)
  return {
    insertResponse: (response) => writes.run('insert_response', response),
    findResponse: (id) => read(findResponse(id)),
    deleteResponse: (id) => writes.run('delete_response', id),
  }
}
