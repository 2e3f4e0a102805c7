/** What happened in a project in the last 30 days: calls, errors, cost, and the newest call. */
import { type Signal, signal } from '@preact/signals'
import { html } from 'htm/preact'
import { useEffect } from 'preact/hooks'
import { requestJson } from '../api/client.ts'
import { serverNow } from '../api/clock.ts'
import { may } from '../api/session.ts'
import type { StatsQueryBody, StatsResponse } from '../api/wire.ts'
import { readNewestStart } from '../home/totals.ts'
import { formatCost, formatShort } from '../parts/format.ts'
import { RelativeTime } from '../parts/time/relative-time.ts'

const DAY_S = 86_400
const DAYS = 30
/** Limit: projects read at once. */
const READS_MAX = 4
const FRESH_MS = 60_000

interface Facts {
  readonly readMs: number
  readonly calls: number
  readonly errors: number
  /** Null where nothing has a price. */
  readonly cost: number | null
  readonly newest: string | null
}

/** By project, while the page is open; null until they are read. */
const known = new Map<string, Signal<Facts | null>>()
/** Shown projects whose facts are read next, one entry for each component. */
const waiting = new Set<{ readonly project: string }>()
const reading = new Set<string>()

/** The facts of a project, read when it is shown, unless they were read in the last minute. */
export function useProjectFacts(project: string): Facts | null {
  const facts = known.get(project) ?? signal<Facts | null>(null)
  known.set(project, facts)
  useEffect(() => {
    if (!may('traces:read')) return
    const entry = { project }
    waiting.add(entry)
    readNext()
    return () => {
      waiting.delete(entry)
    }
  }, [project])
  return facts.value
}

function readNext(): void {
  for (const entry of waiting) {
    if (reading.size >= READS_MAX) return
    waiting.delete(entry)
    if (!reading.has(entry.project) && !isFresh(entry.project)) void read(entry.project)
  }
}

function isFresh(project: string): boolean {
  const facts = known.get(project)?.peek() ?? null
  return facts !== null && serverNow() - facts.readMs < FRESH_MS
}

async function read(project: string): Promise<void> {
  reading.add(project)
  try {
    const facts = await readFacts(project)
    const shown = known.get(project)
    if (shown !== undefined) shown.value = facts
  } catch {
    // A project that cannot be read has no facts, and its view says why.
  }
  reading.delete(project)
  readNext()
}

async function readFacts(project_id: string): Promise<Facts> {
  const readMs = serverNow()
  const question: StatsQueryBody = {
    project_id,
    start: new Date(readMs - DAYS * DAY_S * 1000).toISOString(),
    end: new Date(readMs).toISOString(),
    granularity: DAY_S,
    call_metrics: [{ metric: 'call_count' }, { metric: 'error_count' }],
    usage_metrics: [{ metric: 'total_cost' }],
  }
  const [stats, newest] = await Promise.all([
    requestJson<StatsResponse>('/calls/stats', question),
    readNewestStart(project_id),
  ])
  const sum = (buckets: readonly object[], metric: string) =>
    buckets.reduce((total: number, bucket) => total + Number(Reflect.get(bucket, metric) ?? 0), 0)
  // A model without calls costs nothing, whether it has a price or not.
  const priced = stats.usage_buckets.filter(
    ({ count, sum_total_cost }) => count !== 0 && typeof sum_total_cost === 'number',
  )
  return {
    readMs,
    calls: sum(stats.call_buckets, 'sum_call_count'),
    errors: sum(stats.call_buckets, 'sum_error_count'),
    cost: priced.length > 0 ? sum(priced, 'sum_total_cost') : null,
    newest,
  }
}

export function ProjectFacts({ project }: { readonly project: string }) {
  const facts = useProjectFacts(project)
  if (facts === null) return null
  return html`<span class="faint project-facts">${formatShort(facts.calls)} calls${facts.cost !== null && ` · ${formatCost(facts.cost)}`}${facts.newest !== null && html` · <${RelativeTime} at=${facts.newest} />`}</span>`
}
