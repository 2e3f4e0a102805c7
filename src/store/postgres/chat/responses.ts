/** Responses in PostgreSQL. */
import type { ResponseStore } from '../../api/chat/responses.ts'
import { findResponse, RESPONSE_WRITES } from '../../base/chat/response-steps.ts'
import type { Postgres } from '../db/client.ts'
import { runSteps } from '../db/run-steps.ts'

export function createResponseStore(db: Postgres): ResponseStore {
  return {
    insertResponse: (response) => runSteps(db, RESPONSE_WRITES.insert_response(response)),
    findResponse: (id) => runSteps(db, findResponse(id)),
    deleteResponse: (id) => runSteps(db, RESPONSE_WRITES.delete_response(id)),
  }
}
