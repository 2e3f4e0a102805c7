/** The calls of one hour as columns: one number a call, texts by their place in a list. Pure. */
import type { ModelUsage } from '../../../../domain/usage/usage.ts'

export const HOUR_US = 3_600_000_000
/** Sums of parts of an hour that begin and end at multiples of it are kept ready. */
export const SLOT_US = 300_000_000
export const SLOTS = HOUR_US / SLOT_US

/** Limit: calls, and rows of usage, of an hour in columns; 2^20 numbers below 2^32 add up exactly. */
export const HOUR_ROWS_MAX = 2 ** 20
/** Limit: models of an hour in columns. */
export const HOUR_MODELS_MAX = 1000
const NUMBER_MAX = 2 ** 32 - 1
const CAPACITY_MIN = 256

export const IS_ERROR = 1
export const IS_ROOT = 2
export const IS_ENDED = 4

export type Integers = Uint8Array | Uint16Array | Uint32Array

/** Texts of a column; null is one of them where the calls have none. */
export interface Names {
  readonly names: readonly (string | null)[]
  /** The place in `names` of each call. */
  readonly ids: Integers
}

export type NamesColumn = 'op' | 'user' | 'run'

export const COUNTERS = [
  'input_tokens',
  'output_tokens',
  'total_tokens',
  'cache_read_input_tokens',
  'cache_creation_input_tokens',
  'uncached_input_tokens',
] as const satisfies readonly (keyof ModelUsage)[]

/** One value a row: a model of a call. */
export interface UsageColumns {
  readonly rows: number
  /** Which call of the hour. */
  readonly calls: Integers
  readonly models: readonly string[]
  /** Places in `models`. */
  readonly modelIds: Integers
  /** In the order of COUNTERS. */
  readonly counters: readonly Integers[]
}

/** The columns of an hour; each is read when it is asked for. */
export interface HourColumns {
  readonly count: number
  /** Whether calls stand in order of latency, those that still run last. */
  readonly isSorted: boolean
  /** Calls with a latency. */
  readonly ended: number
  /** Milliseconds; without a meaning where a call still runs. */
  latencies(): Integers
  /** IS_ERROR, IS_ROOT, IS_ENDED. */
  flags(): Uint8Array
  /** Microseconds from the beginning of the hour. */
  offsets(): Integers
  /** The parts of SLOT_US that calls started in. */
  slots(): Integers
  names(column: NamesColumn): Names
  usage(): UsageColumns
}

export interface NewHourCall {
  readonly offsetUs: number
  readonly isRoot: boolean
  readonly op: string
  readonly user: string | null
  readonly run: string | null
}

/** Columns that grow. Whatever does not fit makes `isFit` false, and the columns are of no use then. */
export interface GrowingHour extends HourColumns {
  isFit(): boolean
  /** @returns the call's place */
  addCall(call: NewHourCall): number
  endCall(place: number, latencyMs: number, isError: boolean): void
  addUsage(place: number, usage: ModelUsage): void
}

export function createGrowingHour(): GrowingHour {
  const latencies = createGrowing()
  const offsets = createGrowing()
  const flags = createGrowing()
  const names = { op: createNames(), user: createNames(), run: createNames() }
  const models = createNames()
  const usageCalls = createGrowing()
  const counters = COUNTERS.map(createGrowing)
  let ended = 0
  let isFit = true

  function bounded(value: number): number {
    if (value > NUMBER_MAX) isFit = false
    return value
  }

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
      Math.max(offsets.length(), usageCalls.length()) <= HOUR_ROWS_MAX &&
      models.size() <= HOUR_MODELS_MAX,
    addCall({ offsetUs, isRoot, op, user, run }) {
      const place = offsets.length()
      offsets.push(offsetUs)
      latencies.push(0)
      flags.push(isRoot ? IS_ROOT : 0)
      names.op.push(op)
      names.user.push(user)
      names.run.push(run)
      return place
    },
    endCall(place, latencyMs, isError) {
      latencies.set(place, bounded(latencyMs))
      flags.set(place, (flags.values()[place] ?? 0) | IS_ENDED | (isError ? IS_ERROR : 0))
      ended += 1
    },
    addUsage(place, usage) {
      usageCalls.push(place)
      models.push(usage.model)
      COUNTERS.forEach((counter, index) => {
        counters[index]?.push(bounded(usage[counter]))
      })
    },
    latencies: latencies.values,
    offsets: offsets.values,
    flags: () => Uint8Array.from(flags.values()),
    slots: () => Uint8Array.from(offsets.values(), (offset) => Math.floor(offset / SLOT_US)),
    names: (column) => names[column].values(),
    usage: () => ({
      rows: usageCalls.length(),
      calls: usageCalls.values(),
      models: models.values().names as string[],
      modelIds: models.values().ids,
      counters: counters.map(({ values }) => values()),
    }),
  }
}

function createGrowing() {
  let numbers = new Uint32Array(CAPACITY_MIN)
  let length = 0
  return {
    length: () => length,
    values: () => numbers.subarray(0, length),
    push(value: number): void {
      if (length === numbers.length) {
        const larger = new Uint32Array(length * 2)
        larger.set(numbers)
        numbers = larger
      }
      numbers[length] = value
      length += 1
    },
    set(place: number, value: number): void {
      numbers[place] = value
    },
  }
}

function createNames() {
  const places = new Map<string | null, number>()
  const ids = createGrowing()
  return {
    size: () => places.size,
    values: (): Names => ({ names: [...places.keys()], ids: ids.values() }),
    push(name: string | null): void {
      let place = places.get(name)
      if (place === undefined) {
        place = places.size
        places.set(name, place)
      }
      ids.push(place)
    },
  }
}
