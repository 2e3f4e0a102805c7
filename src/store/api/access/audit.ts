/** The contract of the store of the audit list, to which entries are only added. */
import { setImmediate } from 'node:timers/promises'
import type {
  AuditAction,
  AuditChange,
  AuditEntry,
  AuditOrigin,
} from '../../../domain/access/audit.ts'

/** Limit: entries per read, each with at most 128 Ki characters of states. */
export const AUDIT_PER_PART = 200

/** Which entries are listed. */
export interface AuditListing {
  /** At or after; microseconds. */
  readonly from_us: number
  /** Before; microseconds. */
  readonly until_us: number
  /** null: of all. */
  readonly svc_user_id: string | null
  /** null: of all. Applied to what `svc_user_id` leaves. */
  readonly action: AuditAction | null
  /** The entry that the list follows; null: from the beginning. */
  readonly after: Pick<AuditEntry, 'id' | 'created_at_us'> | null
  readonly order: 'asc' | 'desc'
}

export interface AuditStore {
  /**
   * Adds an entry for what is not a write of this store, or only its beginning. Writes of keys, people, budgets, alerts,
   * evaluators, annotation queues, retention and redaction add their entries themselves, in their transaction. Resolves when it is durable.
   *
   * @throws ApiError server_overloaded, store_unavailable
   */
  record(change: AuditChange, by: AuditOrigin): Promise<void>
  /** @throws ApiError store_unavailable */
  findEntry(id: string): Promise<AuditEntry | null>
  /**
   * Reads the next entries; at most AUDIT_PER_PART, of which those of other actions may be left out.
   *
   * @returns `next`: where the list goes on; null: it ends
   * @throws ApiError store_unavailable
   */
  listEntries(listing: AuditListing): Promise<AuditPart>
  /**
   * Removes some of the entries before a time for good, the oldest first.
   *
   * @returns how many; 0: there are none left
   * @throws ApiError server_overloaded, store_unavailable
   */
  expireEntries(before_us: number): Promise<number>
}

export interface AuditPart {
  readonly entries: readonly AuditEntry[]
  readonly next: AuditListing['after']
}

/** Yields all entries of a listing in parts, and lets other requests run between two parts. */
export async function* listAuditParts(
  audit: Pick<AuditStore, 'listEntries'>,
  listing: AuditListing,
): AsyncGenerator<readonly AuditEntry[]> {
  let { after } = listing
  do {
    const { entries, next } = await audit.listEntries({ ...listing, after })
    yield entries
    after = next
    await setImmediate()
  } while (after !== null)
}
