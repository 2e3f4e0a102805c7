/** The tables of bench/relay.ts, in Markdown. Medians of the rounds. */
import type { LoadResult } from '../servers/load.ts'
import { EVENTS, type Variant } from './requests.ts'

export interface Measure extends LoadResult {
  /** CPU time of the server for one answer. */
  readonly cpuMs: number
  /** The part of the main thread. */
  readonly mainMs: number
}

interface CaseResults {
  readonly name: string
  readonly connections: number
  readonly isStream?: boolean
  readonly results: ReadonlyMap<Variant, readonly Measure[]>
}

const LABELS: Readonly<Record<Variant, string>> = {
  direct: 'direct',
  bare: 'bare Fastify + undici',
  weft: 'Weft',
  portkey: 'Portkey gateway',
  unrecorded: 'Weft, nothing recorded',
  silent: 'Weft without log',
  keyed: 'Weft, a stored key',
  budgeted: 'Weft, a stored key with a budget',
  messages: 'Weft, messages passed on',
  translated: 'Weft, messages translated',
  cached: 'Weft, cached',
  litellm: 'LiteLLM, chats',
  'litellm-messages': 'LiteLLM, messages',
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((left, right) => left - right)
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN
}

/** One table per case. The columns "added" are the difference from direct answers. */
export function renderTables(cases: readonly CaseResults[]): string {
  return cases.map(renderTable).join('\n\n')
}

function renderTable({ name, connections, isStream, results }: CaseResults): string {
  const of = (variant: Variant, pick: (run: Measure) => number) =>
    median((results.get(variant) ?? []).map(pick))
  const unit = isStream ? 'pieces/s' : 'requests/s'
  const scale = isStream ? EVENTS : 1
  const rows = [...results.keys()].map((variant) => {
    const speed = of(variant, (run) => run.perSecond)
    const added = (pick: (run: Measure) => number) =>
      variant === 'direct' ? '' : (of(variant, pick) - of('direct', pick)).toFixed(2)
    const microseconds = (pick: (run: Measure) => number) =>
      ((of(variant, pick) * 1000) / scale).toFixed(isStream ? 1 : 0)
    const failed = (results.get(variant) ?? []).reduce((sum, run) => sum + run.failed, 0)
    return [
      LABELS[variant],
      Math.round(speed * scale),
      ratio(
        speed,
        of('bare', (run) => run.perSecond),
      ),
      ratio(
        speed,
        of('portkey', (run) => run.perSecond),
      ),
      added((run) => run.p50Ms),
      added((run) => run.p99Ms),
      microseconds((run) => run.cpuMs),
      microseconds((run) => run.mainMs),
      failed,
    ]
  })
  const header = [
    `${name}, ${plural(connections, 'connection')}`,
    unit,
    'to bare',
    'to Portkey',
    'added p50 ms',
    'added p99 ms',
    isStream ? 'CPU us a piece' : 'CPU us a request',
    'of it main thread',
    'failed',
  ]
  return renderMarkdown([header, header.map(() => '---'), ...rows])
}

/** Memory with streams open. */
export function renderOpenTable(
  count: number,
  memory: ReadonlyMap<Variant, { readonly beforeMb: number; readonly openMb: number }>,
): string {
  const rows = [...memory].map(([variant, { beforeMb, openMb }]) => [
    LABELS[variant],
    beforeMb.toFixed(0),
    openMb.toFixed(0),
  ])
  const header = [`${count} open streams`, 'RSS before, MB', 'RSS open, MB']
  return `${renderMarkdown([header, header.map(() => '---'), ...rows])}\n`
}

function renderMarkdown(rows: readonly (readonly (string | number)[])[]): string {
  return rows.map((row) => `| ${row.join(' | ')} |`).join('\n')
}

function ratio(value: number, base: number): string {
  return Number.isNaN(base) ? '' : (value / base).toFixed(2)
}

function plural(count: number, word: string): string {
  return `${count} ${word}${count === 1 ? '' : 's'}`
}
