/** Entries of the audit list. Pure. */
import type { AUDIT_ACTIONS, AuditEntryResponse } from '../../schemas/access/audit.ts'
import type { JsonObject } from '../../schemas/primitives.ts'
import { renderTimestamp } from '../../schemas/timestamp.ts'
import { parseLossless } from '../json/json-text.ts'

/** Limit: characters of a state as JSON. */
const STATE_CHARS_MAX = 65_536
/** Characters of `omitted`, with the names of all fields. */
const OMITTED_CHARS = 1024

export type AuditAction = (typeof AUDIT_ACTIONS)[number]

/** Who acts, and from where. */
export interface AuditOrigin {
  readonly svc_user_id: string
  readonly key_id: string
  /** At the other end of the connection; null: there is none. */
  readonly address: string | null
  /** What a proxy, or the client itself, says of the client; null: nothing. */
  readonly forwarded_for: string | null
}

/** What is done. States have no secrets, and the names of responses. */
export interface AuditChange {
  readonly action: AuditAction
  readonly subject_id: string
  /** Patterns; who reads the entry must own all of them. */
  readonly projects: readonly string[]
  /** null: there was nothing. */
  readonly before: object | null
  /** null: there is nothing. */
  readonly after: object | null
}

export interface AuditEntry extends AuditOrigin, Omit<AuditChange, 'before' | 'after'> {
  readonly id: string
  readonly created_at_us: number
  /** JSON. */
  readonly before_json: string | null
  readonly after_json: string | null
}

/** The origin of what no request asks for: the process itself. */
export const SERVER_ORIGIN: AuditOrigin = {
  svc_user_id: 'server',
  key_id: 'server',
  address: null,
  forwarded_for: null,
}

/** Returns the fields in which two states differ, before and after. */
export function diffStates(before: object, after: object): Pick<AuditChange, 'before' | 'after'> {
  const next = new Map(Object.entries(after))
  const changed = Object.entries(before).filter(
    ([name, value]) => JSON.stringify(value) !== JSON.stringify(next.get(name)),
  )
  return {
    before: Object.fromEntries(changed),
    after: Object.fromEntries(changed.map(([name]) => [name, next.get(name)])),
  }
}

/**
 * Renders a state as JSON of at most STATE_CHARS_MAX characters. What is too long is cut, the longest fields first: of
 * a list the last entries, everything else as a whole; `omitted` then has the number of entries, or of characters, by
 * field.
 */
export function renderState(state: object): string {
  const text = JSON.stringify(state)
  if (text.length <= STATE_CHARS_MAX) return text
  let excess = text.length + OMITTED_CHARS - STATE_CHARS_MAX
  const cut = new Map<string, unknown>(Object.entries(state))
  const omitted: Record<string, number> = {}
  const byLength = [...cut].toSorted(([, one], [, other]) => lengthOf(other) - lengthOf(one))
  for (const [name, value] of byLength) {
    if (excess <= 0) break
    const length = lengthOf(value)
    const left = Array.isArray(value) ? takeWithin(value, length - excess) : null
    cut.set(name, left)
    omitted[name] = Array.isArray(value) ? value.length - (left ?? []).length : length
    excess -= length - lengthOf(left)
  }
  return JSON.stringify({ ...Object.fromEntries(cut), omitted })
}

function lengthOf(value: unknown): number {
  return JSON.stringify(value)?.length ?? 0
}

/** Returns the first entries whose JSON has at most so many characters. */
function takeWithin(entries: readonly unknown[], charsMax: number): unknown[] {
  let chars = 2
  const end = entries.findIndex((entry) => {
    chars += lengthOf(entry) + 1
    return chars > charsMax
  })
  return end === -1 ? [...entries] : entries.slice(0, end)
}

export function renderAuditEntry(entry: AuditEntry): AuditEntryResponse {
  const { created_at_us, before_json, after_json, projects, ...named } = entry
  return {
    ...named,
    created_at: renderTimestamp(created_at_us),
    projects: [...projects],
    before: before_json === null ? null : (parseLossless(before_json) as JsonObject),
    after: after_json === null ? null : (parseLossless(after_json) as JsonObject),
  }
}
