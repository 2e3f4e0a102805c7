/** The contract of the store of tickets, each of which allows one download of calls by a token instead of a key. */

/** Limit: tickets of a key; the oldest is removed first. */
export const KEY_TICKETS_MAX = 10
/** Limit: tickets of all keys. */
export const TICKETS_MAX = 200

export interface ExportTicket {
  /** SHA-256 of the token, in hex. */
  readonly token_hash: string
  readonly key_id: string
  /** Who issued it, and what is downloaded. */
  readonly ticket_json: string
  /** Microseconds since the epoch. It cannot be redeemed from then on. */
  readonly expires_at_us: number
}

export interface ExportTicketStore {
  /**
   * Stores a ticket, and removes those that have expired. Processes that issue tickets at the same moment may pass a limit
   * by these.
   *
   * @throws ApiError server_overloaded for more than TICKETS_MAX, store_unavailable
   */
  issueTicket(ticket: ExportTicket, nowUs: number): Promise<void>
  /** Removes a ticket, and returns it unless it has expired. Whichever process issued it, it is returned once. */
  redeemTicket(tokenHash: string, nowUs: number): Promise<ExportTicket | null>
  /** Removes the tickets that have expired. @throws ApiError store_unavailable */
  expireTickets(nowUs: number): Promise<void>
}
