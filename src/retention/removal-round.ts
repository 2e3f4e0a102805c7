/** One round of removal: calls that projects do not keep any longer, then what deleted calls hold on the disk. */
import { resolveRetention, toExpiryUs } from '../domain/projects/retention.ts'
import { RETENTIONS_LISTED_MAX } from '../store/api/projects/retention.ts'
import type { Stores } from '../store/api/stores.ts'

/** Limit: failures after which a round ends; the store is away then. */
const FAILURES_MAX = 10

export interface RoundOptions {
  readonly stores: Pick<Stores, 'projects' | 'removal' | 'retention'>
  /** Days that projects without a setting keep calls; null: for ever. */
  readonly defaultDays: number | null
  readonly nowUs: () => number
  /** Told what was removed, when it was anything. */
  readonly onRemoved: (removed: { readonly project_id?: string; readonly calls: number }) => void
}

/** @returns a round: where one project fails the others go on, and the first failure is thrown at the end */
export function createRemovalRound(options: RoundOptions): (signal: AbortSignal) => Promise<void> {
  const { stores, defaultDays, nowUs, onRemoved } = options

  async function expire(project_id: string, signal: AbortSignal): Promise<void> {
    // Read as late as can be: a round may be long, and who keeps calls after all means it at once.
    const days = resolveRetention(await stores.retention.findRetention(project_id), defaultDays)
    if (days === null) return
    const before_us = toExpiryUs(nowUs(), days)
    const calls = await stores.removal.expireCalls({ project_id, before_us }, signal)
    if (calls > 0) onRemoved({ project_id, calls })
  }

  async function removeDeleted(signal: AbortSignal): Promise<void> {
    const calls = await stores.removal.removeDeleted(signal)
    if (calls > 0) onRemoved({ calls })
  }

  return async (signal) => {
    const failures: unknown[] = []
    const attempt = (step: Promise<void>) => step.catch((error) => failures.push(error))
    for (const project_id of await listRetained(options, signal)) {
      if (signal.aborted || failures.length === FAILURES_MAX) break
      await attempt(expire(project_id, signal))
    }
    if (!signal.aborted) await attempt(removeDeleted(signal))
    if (failures.length > 0) throw failures[0]
  }
}

/** Projects that may not keep their calls for ever. */
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
