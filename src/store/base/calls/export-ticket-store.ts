/** Tickets of exports in SQLite and PostgreSQL alike. */
import { ApiError } from '../../../errors.ts'
import {
  type ExportTicket,
  type ExportTicketStore,
  MEDIA_TICKET_LIMITS,
  MEDIA_TICKET_PREFIX,
  TICKET_LIMITS,
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
    const { key_id } = ticket
    const isOfMedia = key_id.startsWith(MEDIA_TICKET_PREFIX)
    const { ofKey, ofAll } = isOfMedia ? MEDIA_TICKET_LIMITS : TICKET_LIMITS
    yield* run(SQL.DELETE_OLDEST_OF_KEY, { key_id, limit: ofKey })
    const counted = isOfMedia ? SQL.COUNT_MEDIA_TICKETS : SQL.COUNT_TICKETS
    if ((yield* count(counted, { pattern: `${MEDIA_TICKET_PREFIX}%` })) > ofAll) {
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

function* findTicket({ token_hash, now_us }: Redemption): Steps<ExportTicket | null> {
  return (yield* first<ExportTicket>(SQL.FIND_TICKET, { token_hash, now_us })) ?? null
}

export function createExportTicketStore({
  read,
  write,
}: StepRuns<typeof EXPORT_TICKET_WRITES>): ExportTicketStore {
  return {
    findTicket: (token_hash, now_us) => read(findTicket({ token_hash, now_us })),
    issueTicket: (ticket, now_us) => write('issue_export_ticket', { ticket, now_us }),
    redeemTicket: (token_hash, now_us) => write('redeem_export_ticket', { token_hash, now_us }),
    expireTickets: (now_us) => write('expire_export_tickets', { now_us }),
  }
}
