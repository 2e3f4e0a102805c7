/**
 * Caches the reports of the children of calls, as far as this process has written them: a call that ends is stored with
 * its own usage. What is missing here (written by another process, evicted, not yet sent) makes an answer slower, never
 * wrong: each call keeps the sum of the marks of the reports that it knew, which statistics compare with those that are
 * stored.
 */
import { createHash } from 'node:crypto'
import {
  addedUsage,
  USAGE_COUNTERS,
  type UsageCounters,
} from '../../../../domain/usage/own-usage.ts'
import type { CallUsage } from '../../../../domain/usage/usage.ts'

/** Limit: cached sums, one per call and model, at some 400 bytes, and ids; the least recently used are evicted. */
const SUMS_MAX = 100_000
const MARK_BITS = 64

export interface NestedReports {
  /** The sum of the marks, 64 bits. */
  readonly mark: bigint
  /** Sums by model. */
  readonly sums: ReadonlyMap<string, UsageCounters>
  /** The children. */
  readonly ids: ReadonlySet<string>
}

interface Parent {
  mark: bigint
  readonly ids: Set<string>
  readonly sums: Map<string, UsageCounters>
}

/** A report below another call. */
export interface ChildReport {
  readonly project_id: string
  readonly id: string
  readonly parent_id: string | null
  readonly usage: readonly CallUsage[]
}

export interface NestedReportsCache {
  add(child: ChildReport): void
  /** Removes the cached reports below a call and returns them. */
  take(project_id: string, id: string): NestedReports | null
}

export function createNestedReports(sumsMax = SUMS_MAX): NestedReportsCache {
  const parents = new Map<string, Parent>()
  let held = 0

  function forget(key: string): Parent | null {
    const parent = parents.get(key) ?? null
    parents.delete(key)
    held -= parent === null ? 0 : sizeOf(parent)
    return parent
  }

  return {
    add(child) {
      const mark = markOf(child)
      if (mark === 0n) return
      const key = `${child.project_id}/${child.parent_id}`
      const parent = forget(key) ?? { mark: 0n, sums: new Map(), ids: new Set() }
      for (const report of child.usage) addTo(parent.sums, report)
      parent.mark = BigInt.asUintN(MARK_BITS, parent.mark + mark)
      parent.ids.add(child.id)
      parents.set(key, parent)
      held += sizeOf(parent)
      for (const oldest of parents.keys()) {
        if (held <= sumsMax) return
        forget(oldest)
      }
    },
    take: (project_id, id) => forget(`${project_id}/${id}`),
  }
}

/** Returns the mark of a report; 0 if there is none, or its call has no parent. */
export function markOf({ id, parent_id, usage }: ChildReport): bigint {
  if (usage.length === 0 || parent_id === null || parent_id === id) return 0n
  const digest = createHash('sha256')
    .update(JSON.stringify([id, parent_id]))
    .digest()
  return digest.readBigUInt64BE()
}

function sizeOf({ sums, ids }: Parent): number {
  return sums.size + ids.size
}

function addTo(sums: Map<string, UsageCounters>, report: CallUsage): void {
  const added = addedUsage(report)
  const sum = sums.get(report.model) ?? { ...added }
  if (sums.has(report.model)) {
    for (const counter of USAGE_COUNTERS) {
      sum[counter] = Math.min(sum[counter] + added[counter], Number.MAX_SAFE_INTEGER)
    }
  }
  sums.set(report.model, sum)
}
