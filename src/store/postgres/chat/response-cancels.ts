/** Requests to cancel responses, between the processes that share a PostgreSQL. */
import type { ResponseCancel, ResponseCancelStore } from '../../api/chat/response-cancels.ts'
import type { Postgres } from '../db/client.ts'
import * as SQL from './response-cancels.sql.ts'

/** Age of a request whose process has died, microseconds. */
const LEFT_BEHIND_US = 60_000_000
/** Limit: requests that one read returns. */
const REQUESTED_MAX = 1_000

interface Row extends Omit<ResponseCancel, 'caller'> {
  readonly caller_json: string
}

export function createResponseCancelStore(db: Postgres): ResponseCancelStore {
  return {
    async requestCancel({ id, response_id, caller: { keyId, projects } }, now_us) {
      await db.run(SQL.DELETE_LEFT_BEHIND, { before_us: now_us - LEFT_BEHIND_US })
      const caller_json = JSON.stringify({ keyId, projects })
      await db.run(SQL.INSERT_CANCEL, { id, response_id, caller_json, now_us })
    },
    async listRequested() {
      const rows = await db.all<Row>(SQL.SELECT_REQUESTED, { limit: REQUESTED_MAX })
      return rows.map(({ caller_json, ...row }) => ({ ...row, caller: JSON.parse(caller_json) }))
    },
    async fulfil(id, response_json) {
      await db.run(SQL.FULFIL, { id, response_json })
    },
    async findCancelled(id) {
      const found = await db.first<{ response_json: string | null }>(SQL.FIND_CANCELLED, { id })
      return found?.response_json ?? null
    },
    async withdraw(id) {
      await db.run(SQL.DELETE_CANCEL, { id })
    },
  }
}
