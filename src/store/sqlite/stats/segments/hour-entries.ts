/**
 * Entries of an hour in the JSON form that each commit writes: small for a commit of one call, and read back several
 * times as fast as the rows of the calls. Pure.
 */
import { latencyMs } from '../../../../domain/calls/call-view.ts'
import type { CountedUsage, Counts } from '../../../../domain/usage/own-usage.ts'
import { readServedKey, servedKey } from '../../../base/stats/served-models.ts'
import { COUNTERS } from '../../../base/stats/sums.ts'
import {
  entryKey,
  type GrowingHour,
  type HourEntry,
  IS_ENDED,
  IS_ERROR,
  IS_ROOT,
  IS_STARTED,
} from './hour-columns.ts'
import { BrokenSegmentError } from './segment.ts'

/**
 * One change of an hour: an entry as a list, the key of a call whose earlier entries no longer count, or a list of the
 * key of a call that is no root any more.
 */
type Change = EntryTuple | number | readonly [unrooted: number]

/** A call that is no root any more. */
export interface Unrooted {
  /** From entryKey. */
  readonly unrooted: number
}

type EntryTuple = readonly [
  flags: number,
  offsetUs: number,
  latencyMs: number,
  op: string,
  user: string | null,
  run: string | null,
  usage: readonly UsageTuple[],
  key: number,
  /** Missing where there is none. */
  endUser?: string,
]

/** The model as servedKey names it, the counters in the order of COUNTERS, then how they count unless both ways. */
type UsageTuple = readonly [served: string, ...numbers: number[]]

/** The fields of a call that an entry needs. */
export interface EntryCall {
  readonly started_at_us: number
  readonly is_root: boolean
  readonly op_name: string
  readonly svc_user_id: string | null
  readonly svc_run_id: string | null
  readonly end_user_id: string | null
}

/** The fields of a call's end that an entry needs. */
export interface EntryEnd {
  readonly ended_at_us: number
  readonly exception: string | null
  readonly usage: readonly CountedUsage[]
}

/**
 * @param isStart - whether the entry counts the call; otherwise it adds the end of a counted one
 * @param end - null while the call runs
 */
export function toEntry(
  call_key: number | bigint,
  call: EntryCall,
  hourUs: number,
  isStart: boolean,
  end: EntryEnd | null,
): HourEntry {
  const started = isStart ? IS_STARTED : 0
  const root = call.is_root ? IS_ROOT : 0
  const ended = end === null ? 0 : IS_ENDED | (end.exception === null ? 0 : IS_ERROR)
  return {
    key: entryKey(call_key),
    flags: started | root | ended,
    offsetUs: call.started_at_us - hourUs,
    latencyMs: end === null ? 0 : latencyMs(call.started_at_us, end.ended_at_us),
    op: call.op_name,
    user: call.svc_user_id,
    run: call.svc_run_id,
    endUser: call.end_user_id,
    usage: end?.usage ?? [],
  }
}

/** Encodes changes as JSON. @param changes - in order; a number is the key of a removed call */
export function encodeChanges(changes: readonly (HourEntry | number | Unrooted)[]): string {
  const written = changes.map((change): Change => {
    if (typeof change === 'number') return change
    if ('unrooted' in change) return [change.unrooted]
    const { flags, offsetUs, latencyMs, op, user, run, usage, key, endUser } = change
    const used = usage.map(toTuple)
    return endUser === null
      ? [flags, offsetUs, latencyMs, op, user, run, used, key]
      : [flags, offsetUs, latencyMs, op, user, run, used, key, endUser]
  })
  return JSON.stringify(written)
}

function toTuple(used: CountedUsage): UsageTuple {
  const served = servedKey(used)
  const counters = COUNTERS.map((counter) => used[counter])
  return used.counts === 0 ? [served, ...counters] : [served, ...counters, used.counts]
}

/**
 * Adds encoded changes to columns.
 *
 * @returns the number of changes
 * @throws BrokenSegmentError for entries of an older form that name no call
 */
export function addChanges(
  columns: Pick<GrowingHour, 'add' | 'remove' | 'unroot'>,
  entries_json: string,
): number {
  const changes = JSON.parse(entries_json) as Change[]
  for (const change of changes) {
    if (typeof change === 'number') columns.remove(change)
    else if (change.length === 1) columns.unroot(change[0])
    else columns.add(toHourEntry(change))
  }
  return changes.length
}

function toHourEntry(tuple: EntryTuple): HourEntry {
  const [flags, offsetUs, latencyMs, op, user, run, used, key, endUser = null] = tuple
  if (key === undefined) throw new BrokenSegmentError('key')
  return { key, flags, offsetUs, latencyMs, op, user, run, endUser, usage: used.map(toUsage) }
}

function toUsage([served, ...numbers]: UsageTuple): CountedUsage {
  const counters = COUNTERS.map((counter, index) => [counter, numbers[index] ?? 0])
  return {
    ...readServedKey(served),
    ...(Object.fromEntries(counters) as Record<(typeof COUNTERS)[number], number>),
    counts: (numbers[COUNTERS.length] ?? 0) as Counts,
  }
}
