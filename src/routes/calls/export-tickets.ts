/** Tickets for exports: each allows one download, soon, by a token instead of a key. In memory only. */
import { createHash, randomBytes } from 'node:crypto'
import type { Principal } from '../../domain/access/permissions.ts'
import { ApiError } from '../../errors.ts'
import type { CallExportRequest } from '../../schemas/calls/call-export.ts'

/** Limit: lifetime of a ticket until its download begins. */
export const TICKET_TTL_MS = 60_000
/** Limit: tickets per key; the oldest is dropped first. */
const KEY_TICKETS_MAX = 10
/** Limit: tickets of all keys. */
const TICKETS_MAX = 200
const TOKEN_BYTES = 32

interface ExportTicket {
  readonly keyId: string
  /** Finds the caller again when the download begins, so that a key or person revoked meanwhile gets nothing. */
  readonly findPrincipal: () => Promise<Principal | null>
  readonly request: CallExportRequest
}

export interface ExportTickets {
  /** Issues a ticket. @returns its token. @throws ApiError server_overloaded when there are too many */
  issue(ticket: ExportTicket): string
  /** Redeems a token, once. @returns its ticket, or null */
  take(token: string): ExportTicket | null
}

/** @param nowMs - a monotonic clock */
export function createExportTickets(nowMs: () => number = () => performance.now()): ExportTickets {
  /** Tickets by the hash of the token, oldest first: the time of a lookup reveals nothing about a token. */
  const waiting = new Map<string, ExportTicket & { readonly endsMs: number }>()

  function dropEnded(): void {
    for (const [name, { endsMs }] of waiting) {
      if (endsMs > nowMs()) return
      waiting.delete(name)
    }
  }

  return {
    issue(ticket) {
      dropEnded()
      const own = [...waiting].filter(([, { keyId }]) => keyId === ticket.keyId)
      const [oldest] = own
      if (oldest !== undefined && own.length >= KEY_TICKETS_MAX) waiting.delete(oldest[0])
      if (waiting.size >= TICKETS_MAX) throw new ApiError('server_overloaded', { retryAfterS: 5 })
      const token = randomBytes(TOKEN_BYTES).toString('base64url')
      waiting.set(nameOf(token), { ...ticket, endsMs: nowMs() + TICKET_TTL_MS })
      return token
    },
    take(token) {
      dropEnded()
      const name = nameOf(token)
      const ticket = waiting.get(name) ?? null
      waiting.delete(name)
      return ticket
    },
  }
}

function nameOf(token: string): string {
  return createHash('sha256').update(token).digest('base64url')
}
