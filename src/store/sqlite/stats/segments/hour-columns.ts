/**
 * What happened in one hour, as columns: one number per entry, texts as indexes in a list. An entry is the start of a
 * call, its end, or both, so entries are only ever added. Pure.
 */
import type { CountedUsage } from '../../../../domain/usage/own-usage.ts'
import { servedKey } from '../../../base/stats/served-models.ts'
import { COUNTERS, type Integers } from '../../../base/stats/sums.ts'

export const HOUR_US = 3_600_000_000
/** The length of a slot. Pieces have precomputed sums by slot, for parts of an hour that consist of whole slots. */
export const SLOT_US = 300_000_000
export const SLOTS = HOUR_US / SLOT_US

/** Limit: entries, and rows of usage, in columns; sums of 2^20 numbers below 2^32 are exact. */
export const HOUR_ROWS_MAX = 2 ** 20
/** Limit: distinct models in columns. */
export const HOUR_MODELS_MAX = 1000
/** Limit: calls that are corrected in columns, at some 50 bytes each. */
const HOUR_CORRECTED_MAX = 2 ** 16
const NUMBER_MAX = 2 ** 32 - 1
const CAPACITY_MIN = 256

export const IS_ERROR = 1
export const IS_ROOT = 2
export const IS_ENDED = 4
/** The entry counts the call; without this flag it is the end of a call that another entry counts. */
export const IS_STARTED = 8

/** The texts of a column; null stands for entries without one. */
export interface Names {
  readonly names: readonly (string | null)[]
  /** The index in `names` of each entry. */
  readonly ids: Integers
}

const NAMES_COLUMNS = ['op', 'user', 'run', 'endUser'] as const
export type NamesColumn = (typeof NAMES_COLUMNS)[number]

/** One value per row; a row is one model of an entry. */
export interface UsageColumns {
  readonly rows: number
  /** The index of the entry. */
  readonly calls: Integers
  /** As servedKey names them. */
  readonly models: readonly string[]
  /** Indexes in `models`. */
  readonly modelIds: Integers
  /** In the order of COUNTERS. */
  readonly counters: readonly Integers[]
  /** How each row counts: COUNTS_BOTH, COUNTS_REPORTED, COUNTS_OWN. Empty: all count both ways. */
  readonly counts: Integers
}

/** The columns of an hour or of a segment of it; each is read on demand. */
export interface HourColumns {
  /** The number of entries. */
  readonly count: number
  /** Whether entries are sorted by latency, those without an end last. */
  readonly isSorted: boolean
  /** The number of entries with an end. */
  readonly ended: number
  /** The call of each entry, from entryKey. */
  keys(): Integers
  /** Milliseconds; meaningless for entries without an end. */
  latencies(): Integers
  /** IS_ERROR, IS_ROOT, IS_ENDED, IS_STARTED. */
  flags(): Uint8Array
  /** Microseconds from the beginning of the hour to the start of the call. */
  offsets(): Integers
  /** The slots of SLOT_US in which the calls started. */
  slots(): Integers
  names(column: NamesColumn): Names
  usage(): UsageColumns
}

export interface HourEntry {
  /** From entryKey. */
  readonly key: number
  readonly flags: number
  readonly offsetUs: number
  readonly latencyMs: number
  readonly op: string
  readonly user: string | null
  readonly run: string | null
  readonly endUser: string | null
  readonly usage: readonly CountedUsage[]
}

/** Columns that grow. `isFit` turns false when something does not fit; the columns are unusable then. */
export interface GrowingHour extends HourColumns {
  isFit(): boolean
  add(entry: HourEntry): void
  /** Adds all entries of other columns. */
  addAll(others: HourColumns): void
  /** Marks earlier entries of this call as not counting any more. They stay in the columns. */
  remove(key: number): void
  /** By key of a call: the number of entries when it was removed. */
  removed(): ReadonlyMap<number, number>
  /** Marks earlier entries of this call as entries of a call that is no root. */
  unroot(key: number): void
  /** By key of a call: the number of entries when it ceased to be a root. */
  unrooted(): ReadonlyMap<number, number>
  /** The number of rows of usage. */
  usageRows(): number
  /** The number of models in the usage. */
  modelCount(): number
}

/** Identifies a call within its hour: the low 32 bits of its key, since no hour has four billion calls. */
export function entryKey(call_key: number | bigint): number {
  return Number(call_key) % 2 ** 32
}

export function createGrowingHour(): GrowingHour {
  const keys = createGrowing()
  const removed = new Map<number, number>()
  const unrooted = new Map<number, number>()
  /** Those of them whose entries still have the flag. */
  const unapplied = new Map<number, number>()
  const latencies = createGrowing()
  const offsets = createGrowing()
  const flags = createGrowing()
  const names = {
    op: createNames(),
    user: createNames(),
    run: createNames(),
    endUser: createNames(),
  }
  const usage = createGrowingUsage()
  let ended = 0
  let isFit = true

  return {
    get count() {
      return offsets.length()
    },
    get ended() {
      return ended
    },
    isSorted: false,
    isFit: () =>
      isFit &&
      usage.isFit() &&
      offsets.length() <= HOUR_ROWS_MAX &&
      removed.size + unrooted.size <= HOUR_CORRECTED_MAX,
    add(entry) {
      const place = offsets.length()
      keys.push(entry.key)
      offsets.push(entry.offsetUs)
      latencies.push(entry.latencyMs)
      if (entry.latencyMs > NUMBER_MAX) isFit = false
      flags.push(entry.flags)
      for (const column of NAMES_COLUMNS) names[column].push(entry[column])
      if ((entry.flags & IS_ENDED) !== 0) ended += 1
      for (const used of entry.usage) usage.add(place, used)
    },
    addAll(others) {
      const first = offsets.length()
      keys.pushAll(others.keys())
      offsets.pushAll(others.offsets())
      latencies.pushAll(others.latencies())
      flags.pushAll(others.flags())
      for (const column of NAMES_COLUMNS) names[column].pushAll(others.names(column))
      ended += others.ended
      usage.addAll(first, others.usage())
    },
    remove(key) {
      removed.set(key, offsets.length())
    },
    removed: () => removed,
    unroot(key) {
      unrooted.set(key, offsets.length())
      unapplied.set(key, offsets.length())
    },
    unrooted: () => unrooted,
    usageRows: usage.rows,
    modelCount: usage.models,
    keys: keys.values,
    latencies: latencies.values,
    offsets: offsets.values,
    flags() {
      clearRoots(keys.values(), flags.values(), unapplied)
      unapplied.clear()
      return Uint8Array.from(flags.values())
    },
    slots: () => Uint8Array.from(offsets.values(), (offset) => Math.floor(offset / SLOT_US)),
    names: (column) => names[column].values(),
    usage: usage.values,
  }
}

/** Clears the flag in entries before the index that each key has. */
function clearRoots(keys: Uint32Array, flags: Uint32Array, unrooted: ReadonlyMap<number, number>) {
  if (unrooted.size === 0) return
  for (let place = 0; place < keys.length; place++) {
    const before = unrooted.get(keys[place] as number)
    if (before !== undefined && place < before) flags[place] = (flags[place] as number) & ~IS_ROOT
  }
}

function createGrowingUsage() {
  const calls = createGrowing()
  const models = createNames()
  const counters = COUNTERS.map(createGrowing)
  const counts = createGrowing()
  let isFit = true

  return {
    rows: calls.length,
    models: models.size,
    isFit: () => isFit && calls.length() <= HOUR_ROWS_MAX && models.size() <= HOUR_MODELS_MAX,
    /** @param place - the index of the entry */
    add(place: number, usage: CountedUsage): void {
      calls.push(place)
      counts.push(usage.counts)
      models.push(servedKey(usage))
      for (let index = 0; index < COUNTERS.length; index++) {
        const value = usage[COUNTERS[index] as (typeof COUNTERS)[number]]
        if (value > NUMBER_MAX) isFit = false
        counters[index]?.push(value)
      }
    },
    /** @param first - the index of the first of their entries */
    addAll(first: number, used: UsageColumns): void {
      calls.pushAll(Uint32Array.from(used.calls, (place) => first + place))
      models.pushAll({ names: used.models, ids: used.modelIds })
      counts.pushAll(used.counts.length > 0 ? used.counts : new Uint8Array(used.rows))
      used.counters.forEach((counter, index) => {
        counters[index]?.pushAll(counter)
      })
    },
    values: (): UsageColumns => ({
      rows: calls.length(),
      calls: calls.values(),
      models: models.values().names as string[],
      modelIds: models.values().ids,
      counters: counters.map(({ values }) => values()),
      counts: counts.values(),
    }),
  }
}

function createGrowing() {
  let numbers = new Uint32Array(CAPACITY_MIN)
  let length = 0

  function makeRoom(needed: number): void {
    if (needed <= numbers.length) return
    const larger = new Uint32Array(Math.max(needed, numbers.length * 2))
    larger.set(numbers)
    numbers = larger
  }

  return {
    length: () => length,
    values: () => numbers.subarray(0, length),
    push(value: number): void {
      if (length === numbers.length) makeRoom(length + 1)
      numbers[length] = value
      length += 1
    },
    pushAll(values: ArrayLike<number>): void {
      makeRoom(length + values.length)
      numbers.set(values, length)
      length += values.length
    },
  }
}

function createNames() {
  const places = new Map<string | null, number>()
  const ids = createGrowing()

  function slotOf(name: string | null): number {
    const known = places.get(name)
    if (known !== undefined) return known
    places.set(name, places.size)
    return places.size - 1
  }

  return {
    size: () => places.size,
    values: (): Names => ({ names: [...places.keys()], ids: ids.values() }),
    push(name: string | null): void {
      ids.push(slotOf(name))
    },
    pushAll(others: Names): void {
      const placeOfId = others.names.map(slotOf)
      ids.pushAll(Uint32Array.from(others.ids, (id) => placeOfId[id] as number))
    },
  }
}
