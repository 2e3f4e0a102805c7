/**
 * One round of removal: calls past the retention of their project, then the content of deleted calls, then entries past
 * the retention of the audit list and expired tickets of exports.
 */
import { resolveRetention, toExpiryUs } from '../domain/projects/retention.ts'
import type { AuditStore } from '../store/api/access/audit.ts'
import type { ExpiryStep } from '../store/api/calls/calls.ts'
import type { ExportTicketStore } from '../store/api/calls/export-tickets.ts'
import { RETENTIONS_LISTED_MAX } from '../store/api/projects/projects.ts'
import type { Stores } from '../store/api/stores.ts'

/** Limit: failures after which a round ends, because the store is probably unavailable. */
const FAILURES_MAX = 10

export interface RoundOptions {
  readonly stores: Pick<Stores, 'projects' | 'removal' | 'retention'> & {
    readonly audit: Pick<AuditStore, 'expireEntries'>
    readonly exportTickets: Pick<ExportTicketStore, 'expireTickets'>
  }
  /** Retention in days of projects without a setting; null: forever. */
  readonly defaultDays: number | null
  /** Retention in days of the audit list; null: forever. */
  readonly auditDays: number | null
  readonly nowUs: () => number
  /** Called when anything was removed. */
  readonly onRemoved: (removed: Removed) => void
}

type Removed =
  | { readonly project_id?: string; readonly calls: number }
  | { readonly audit_entries: number }

/** @returns a round, which continues with other projects after a failure and throws the first failure at the end */
export function createRemovalRound(options: RoundOptions): (signal: AbortSignal) => Promise<void> {
  const { stores, defaultDays, auditDays, nowUs, onRemoved } = options

  /** @returns null when the project keeps its calls, or its setting is being changed */
  async function expireSome(project_id: string, signal: AbortSignal): Promise<ExpiryStep | null> {
    // For each step: a round can be long, and a project that was just set to keep its calls must lose none.
    const hold = await stores.retention.pinRetention(project_id)
    if (hold === null) return null
    try {
      const days = resolveRetention(hold.retention, defaultDays)
      if (days === null) return null
      const before_us = toExpiryUs(nowUs(), days)
      return await stores.removal.expireCalls({ project_id, before_us }, signal)
    } finally {
      await hold.end()
    }
  }

  async function expire(project_id: string, signal: AbortSignal): Promise<void> {
    let calls = 0
    try {
      while (!signal.aborted) {
        const step = await expireSome(project_id, signal)
        calls += step?.calls ?? 0
        if (step === null || step.isDone) break
      }
    } finally {
      if (calls > 0) onRemoved({ project_id, calls })
    }
  }

  async function removeDeleted(signal: AbortSignal): Promise<void> {
    const calls = await stores.removal.removeDeleted(signal)
    if (calls > 0) onRemoved({ calls })
  }

  async function expireAudit(days: number, signal: AbortSignal): Promise<void> {
    const before_us = toExpiryUs(nowUs(), days)
    let audit_entries = 0
    while (!signal.aborted) {
      const removed = await stores.audit.expireEntries(before_us)
      if (removed === 0) break
      audit_entries += removed
    }
    if (audit_entries > 0) onRemoved({ audit_entries })
  }

  return async (signal) => {
    const failures: unknown[] = []
    const attempt = (step: Promise<void>) => step.catch((error) => failures.push(error))
    for (const project_id of await listRetained(options, signal)) {
      if (signal.aborted || failures.length === FAILURES_MAX) break
      await attempt(expire(project_id, signal))
    }
    if (!signal.aborted) await attempt(removeDeleted(signal))
    if (auditDays !== null && !signal.aborted) await attempt(expireAudit(auditDays, signal))
    if (!signal.aborted) await attempt(stores.exportTickets.expireTickets(nowUs()))
    if (failures.length > 0) throw failures[0]
  }
}

/** Lists the projects whose calls expire. */
async function listRetained(
  { stores, defaultDays }: RoundOptions,
  signal: AbortSignal,
): Promise<Set<string>> {
  const caller = { keyId: 'retention', project_id: '', signal }
  const names = new Set(defaultDays === null ? [] : await stores.projects.listProjects(caller))
  let after = ''
  while (true) {
    const page = await stores.retention.listRetentions(after)
    for (const { project_id, retention_days } of page) {
      if (retention_days === null) names.delete(project_id)
      else names.add(project_id)
    }
    if (page.length < RETENTIONS_LISTED_MAX) return names
    after = page.at(-1)?.project_id ?? ''
  }
}
