/** Responses in SQLite and PostgreSQL alike. */
import type { StoredResponse } from '../../../domain/chat/responses/responses-record.ts'
import type { ResponseStore } from '../../api/chat/recordings.ts'
import { first, run, type StepRuns, type Steps } from '../db/steps.ts'
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

function* findResponse(id: string): Steps<StoredResponse | null> {
  return (yield* first<StoredResponse>(SQL.FIND_RESPONSE, { id })) ?? null
}

export function createResponseStore(runs: StepRuns<typeof RESPONSE_WRITES>): ResponseStore {
  const { read, write } = runs
  return {
    insertResponse: (response) => write('insert_response', response),
    findResponse: (id) => read(findResponse(id)),
    deleteResponse: (id) => write('delete_response', id),
  }
}
