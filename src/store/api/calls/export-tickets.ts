/** The contract of the store of tickets, each of which allows a download or upload by a token instead of a key. */

/** Begins the `key_id` of tickets for media, which have limits of their own, and what their tokens are hashed with. */
export const MEDIA_TICKET_PREFIX = 'media:'

/** Limits: tickets of a key, of which the oldest is removed first, and of all keys. */
export const TICKET_LIMITS = { ofKey: 10, ofAll: 200 } as const
export const MEDIA_TICKET_LIMITS = { ofKey: 1000, ofAll: 5000 } as const

export interface ExportTicket {
  /** SHA-256 of the token, in hex; of one for media with the prefix. */
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
   * @throws ApiError server_overloaded for more than the limit of all keys, store_unavailable
   */
  issueTicket(ticket: ExportTicket, nowUs: number): Promise<void>
  /** Returns a ticket unless it has expired. */
  findTicket(tokenHash: string, nowUs: number): Promise<ExportTicket | null>
  /** Removes a ticket, and returns it unless it has expired. Whichever process issued it, it is returned once. */
  redeemTicket(tokenHash: string, nowUs: number): Promise<ExportTicket | null>
  /** Removes the tickets that have expired. @throws ApiError store_unavailable */
  expireTickets(nowUs: number): Promise<void>
}
