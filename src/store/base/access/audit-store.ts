/** The audit list in SQLite and PostgreSQL alike. */
import { randomBytes } from 'node:crypto'
import {
  type AuditChange,
  type AuditEntry,
  type AuditOrigin,
  renderState,
} from '../../../domain/access/audit.ts'
import { createOrderedIds } from '../../../domain/time/ordered-ids.ts'
import {
  AUDIT_PER_PART,
  type AuditListing,
  type AuditPart,
  type AuditStore,
} from '../../api/access/audit.ts'
import { all, first, run, type StepRuns, type Steps } from '../db/steps.ts'
import * as SQL from './audit.sql.ts'

/** Limit: entries that one write removes. */
const EXPIRED_PER_WRITE = 500

/** An origin with the id and time of its entry. Whoever writes passes it to the work, which must not read clocks. */
export interface AuditStamp extends AuditOrigin {
  readonly id: string
  readonly created_at_us: number
}

const newEntryId = createOrderedIds(readClockUs, randomBytes)

/** Makes the stamp of one entry, with the clock of the machine. */
export function stamp(by: AuditOrigin): AuditStamp {
  const { svc_user_id, key_id, address, forwarded_for } = by
  return {
    svc_user_id,
    key_id,
    address,
    forwarded_for,
    id: newEntryId(),
    created_at_us: readClockUs(),
  }
}

function readClockUs(): number {
  return Date.now() * 1000
}

/** Adds an entry in the transaction of the work that yields it. */
export function* record(
  by: AuditStamp,
  { action, subject_id, projects, before, after }: AuditChange,
): Steps<void> {
  yield* run(SQL.INSERT_ENTRY, {
    ...by,
    action,
    subject_id,
    projects_json: JSON.stringify([...new Set(projects)]),
    before_json: before && renderState(before),
    after_json: after && renderState(after),
  })
}

export const AUDIT_WRITES = {
  *record_audit({
    by,
    change,
  }: {
    readonly by: AuditStamp
    readonly change: AuditChange
  }): Steps<void> {
    yield* record(by, change)
  },
  /** Returns how many entries were removed. */
  *expire_audit(before_us: number): Steps<number> {
    return yield* run(SQL.EXPIRE_ENTRIES, { before_us, limit: EXPIRED_PER_WRITE })
  },
}

interface AuditRow extends Omit<AuditEntry, 'projects'> {
  readonly projects_json: string
}

export function createAuditStore({ read, write }: StepRuns<typeof AUDIT_WRITES>): AuditStore {
  return {
    record: (change, by) => write('record_audit', { by: stamp(by), change }),
    findEntry: (id) => read(findEntry(id)),
    listEntries: (listing) => read(listEntries(listing)),
    expireEntries: (before_us) => write('expire_audit', before_us),
  }
}

function* findEntry(id: string): Steps<AuditEntry | null> {
  const row = yield* first<AuditRow>(SQL.FIND_ENTRY, { id })
  return row === undefined ? null : toEntry(row)
}

/** A filter of the action beside one of the user applies to the part: its rows are read by the index of users. */
function* listEntries(listing: AuditListing): Steps<AuditPart> {
  const { from_us, until_us, svc_user_id, action, order } = listing
  const start = { created_at_us: order === 'asc' ? from_us : until_us, id: '' }
  const cursorUs = listing.after?.created_at_us ?? start.created_at_us
  const isWithin = order === 'asc' ? cursorUs >= from_us : cursorUs < until_us
  const after = (isWithin && listing.after) || start
  const by = svc_user_id !== null ? 'svc_user_id' : action !== null ? 'action' : null
  const rows = yield* all<AuditRow>(SQL.listEntries(by, order), {
    ...(by === null ? {} : { wanted: svc_user_id ?? action }),
    ...(order === 'asc' ? { until_us } : { from_us }),
    after_us: after.created_at_us,
    after_id: after.id,
    limit: AUDIT_PER_PART,
  })
  const last = rows.length < AUDIT_PER_PART ? undefined : rows.at(-1)
  return {
    entries: rows.filter((row) => action === null || row.action === action).map(toEntry),
    next: last === undefined ? null : { id: last.id, created_at_us: last.created_at_us },
  }
}

function toEntry({ projects_json, ...row }: AuditRow): AuditEntry {
  return { ...row, projects: JSON.parse(projects_json) as string[] }
}
