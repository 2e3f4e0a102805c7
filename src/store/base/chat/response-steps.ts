/** The statements of responses, in SQLite and PostgreSQL alike. */
import type { StoredResponse } from '../../../domain/chat/responses/responses-record.ts'
import { first, run, type Steps } from '../db/steps.ts'
import * as SQL from './responses.sql.ts'

export const RESPONSE_WRITES = {
  *insert_response(response: StoredResponse): Steps<void> {
    yield* run(SQL.INSERT_RESPONSE, response)
  },
  /** Deletes a response; returns whether it existed. */
  *delete_response(id: string): Steps<boolean> {
    return (yield* run(SQL.DELETE_RESPONSE, { id })) > 0
  },
}

export function* findResponse(id: string): Steps<StoredResponse | null> {
  return (yield* first<StoredResponse>(SQL.FIND_RESPONSE, { id })) ?? null
}
