/** Tickets of exports in SQLite and PostgreSQL alike. */
import { ApiError } from '../../../errors.ts'
import {
  type ExportTicket,
  type ExportTicketStore,
  KEY_TICKETS_MAX,
  TICKETS_MAX,
} from '../../api/calls/export-tickets.ts'
import { count, first, run, type StepRuns, type Steps } from '../db/steps.ts'
import * as SQL from './export-tickets.sql.ts'

interface Issue {
  readonly ticket: ExportTicket
  readonly now_us: number
}

interface Redemption {
  readonly token_hash: string
  readonly now_us: number
}

export const EXPORT_TICKET_WRITES = {
  *issue_export_ticket({ ticket, now_us }: Issue): Steps<void> {
    yield* run(SQL.DELETE_EXPIRED, { now_us })
    yield* run(SQL.INSERT_TICKET, ticket)
    yield* run(SQL.DELETE_OLDEST_OF_KEY, { key_id: ticket.key_id, limit: KEY_TICKETS_MAX })
    if ((yield* count(SQL.COUNT_TICKETS, {})) > TICKETS_MAX) {
      throw new ApiError('server_overloaded', { retryAfterS: 5 })
    }
  },
  *redeem_export_ticket({ token_hash, now_us }: Redemption): Steps<ExportTicket | null> {
    const ticket = yield* first<ExportTicket>(SQL.DELETE_TICKET, { token_hash })
    return ticket !== undefined && ticket.expires_at_us > now_us ? ticket : null
  },
  *expire_export_tickets({ now_us }: Pick<Issue, 'now_us'>): Steps<void> {
    yield* run(SQL.DELETE_EXPIRED, { now_us })
  },
}

export function createExportTicketStore({
  write,
}: StepRuns<typeof EXPORT_TICKET_WRITES>): ExportTicketStore {
  return {
    issueTicket: (ticket, now_us) => write('issue_export_ticket', { ticket, now_us }),
    redeemTicket: (token_hash, now_us) => write('redeem_export_ticket', { token_hash, now_us }),
    expireTickets: (now_us) => write('expire_export_tickets', { now_us }),
  }
}
