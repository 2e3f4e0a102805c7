/** The shown time range, as stored in the address. */
import { computed } from '@preact/signals'
import { query, setQuery } from '../../shell/location.ts'

const MIN_MS = 60_000
const HOUR_MS = 60 * MIN_MS
const DAY_MS = 24 * HOUR_MS

/** Ranges that end now, by their names in the address. */
export const PRESETS: Readonly<Record<string, { readonly label: string; readonly ms: number }>> = {
  '15m': { label: '15 minutes', ms: 15 * MIN_MS },
  '1h': { label: '1 hour', ms: HOUR_MS },
  '6h': { label: '6 hours', ms: 6 * HOUR_MS },
  '24h': { label: '24 hours', ms: DAY_MS },
  '7d': { label: '7 days', ms: 7 * DAY_MS },
  '30d': { label: '30 days', ms: 30 * DAY_MS },
  '90d': { label: '90 days', ms: 90 * DAY_MS },
}
const PRESET_DEFAULT = '24h'

/** Lengths of buckets in seconds. The first that gives few enough buckets is used. */
const GRANULARITIES_S = [10, 60, 300, 900, 3600, 6 * 3600, 86_400, 7 * 86_400]
const BUCKETS_MAX = 120

interface Range {
  readonly fromMs: number
  readonly toMs: number
  /** The preset; null for a dragged range. */
  readonly preset: string | null
}

/** Returns the range in the address; a preset ends at the time of this call. */
export function readRange(nowMs: number): Range {
  const [from, to] = ['from', 'to'].map((name) => Date.parse(query.value.get(name) ?? ''))
  if (from !== undefined && to !== undefined && from < to)
    return { fromMs: from, toMs: to, preset: null }
  const preset = presetName.value
  return { fromMs: nowMs - (PRESETS[preset]?.ms ?? DAY_MS), toMs: nowMs, preset }
}

/** The range in the address; null when it names none. */
export function chosenRange(nowMs: number): Range | null {
  const isNamed = ['from', 'to', 'range'].some((name) => query.value.has(name))
  return isNamed ? readRange(nowMs) : null
}

const presetName = computed(() => {
  const name = query.value.get('range') ?? PRESET_DEFAULT
  return Object.hasOwn(PRESETS, name) ? name : PRESET_DEFAULT
})

/** Returns a key for the range that changes only with the address, not with the clock. */
export const rangeName = computed(
  () => `${query.value.get('from')} ${query.value.get('to')} ${presetName.value}`,
)

export function choosePreset(name: string): void {
  setQuery({ range: name, from: null, to: null }, { isStep: true })
}

/** Removes the range from the address. */
export function chooseAllTime(): void {
  setQuery({ range: null, from: null, to: null }, { isStep: true })
}

export function selectRange(fromMs: number, toMs: number): void {
  const text = (ms: number) => new Date(ms).toISOString()
  setQuery({ from: text(fromMs), to: text(toMs), range: null }, { isStep: true })
}

export function granularityOf({ fromMs, toMs }: Range): number {
  const seconds = (toMs - fromMs) / 1000
  return GRANULARITIES_S.find((size) => seconds / size <= BUCKETS_MAX) ?? 30 * 86_400
}
