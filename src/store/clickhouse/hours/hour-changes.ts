/**
 * Records which hours a write changes, before and after it. What was built of an hour is valid only while no write has begun
 * since, so that a process that dies in between leaves nothing wrong.
 */
import { randomBytes } from 'node:crypto'
import type { CallIdentity } from '../../../domain/calls/call-state.ts'
import type { Inserts } from '../db/inserts.ts'
import { HOUR_US } from './hours.sql.ts'

/** Ends of writes are inserted together after so long; until then the hours are not built. */
const FLUSH_MS = 5000
/** A mark whose end is not inserted stands for further writes to its hour for so long. */
const SHARED_MS = 10_000
/**
 * A write that is retried for longer is recorded again: after ten minutes it would be taken for one that has died. Parents
 * that have come meanwhile are recorded before their hours have been at rest for a minute.
 */
const RENEW_MS = 20_000

/** A call that a write stores or deletes. */
export type ChangedCall = Pick<CallIdentity, 'project_id'> & { readonly started_at_us: number }

/** The changes of one write. */
interface WriteChanges {
  /** To be awaited before the write. @throws what the insert throws */
  record(): Promise<void>
  /** To be awaited before each retry of the write. */
  renew(): Promise<void>
  /** Records that the write has ended. */
  end(): void
}

/** A mark in hour_changes. */
interface Mark {
  readonly project_id: string
  readonly hour: number
  readonly begun: string
  readonly recordedMs: number
  /** Writes that have not ended. */
  writes: number
}

export interface HourChanges {
  /** @param findMore - called when the write is recorded again: calls that it changes as well by then */
  begin(calls: Iterable<ChangedCall>, findMore?: () => Promise<ChangedCall[]>): WriteChanges
  /** Inserts the ends that wait. */
  flush(): Promise<void>
}

/** A random number of 64 bits, never 0. */
export function randomMark(): string {
  return String(randomBytes(8).readBigUInt64BE() | 1n)
}

export function createHourChanges(insert: Inserts['insert']): HourChanges {
  /** The last stored mark of each hour, unless its end is inserted. */
  const stored = new Map<string, Mark>()
  const idle = new Set<Mark>()
  let timer: NodeJS.Timeout | null = null

  async function flush(): Promise<void> {
    if (timer) clearTimeout(timer)
    timer = null
    const marks = [...idle]
    idle.clear()
    for (const mark of marks) if (stored.get(keyOf(mark)) === mark) stored.delete(keyOf(mark))
    const rows = marks.map(({ project_id, hour, begun }) => ({ project_id, hour, ended: begun }))
    await insert('hour_changes', rows)
  }

  async function store(marks: readonly Mark[]): Promise<void> {
    const rows = marks.map(({ project_id, hour, begun }) => ({ project_id, hour, begun }))
    await insert('hour_changes', rows)
    for (const mark of marks) stored.set(keyOf(mark), mark)
  }

  return {
    begin(calls, findMore = async () => []) {
      const hours = new Map<string, ChangedHour>()
      const add = ({ project_id, started_at_us }: ChangedCall) => {
        const one = { project_id, hour: Math.floor(started_at_us / HOUR_US) }
        hours.set(keyOf(one), one)
      }
      for (const call of calls) add(call)
      let recordedMs = performance.now()
      const create = (hour: ChangedHour): Mark => ({
        ...hour,
        begun: randomMark(),
        recordedMs,
        writes: 1,
      })
      const [shared, own]: [Mark[], Mark[]] = [[], []]
      for (const [key, hour] of hours) {
        const mark = stored.get(key)
        if (mark && recordedMs - mark.recordedMs < SHARED_MS) shared.push(mark)
        else own.push(create(hour))
      }
      for (const mark of shared) {
        mark.writes += 1
        idle.delete(mark)
      }
      const all = [...shared, ...own]
      return {
        record: () => store(own),
        async renew() {
          if (performance.now() - recordedMs < RENEW_MS) return
          for (const call of await findMore()) add(call)
          recordedMs = performance.now()
          const again = [...hours.values()].map(create)
          await store(again)
          all.push(...again)
        },
        end() {
          for (const mark of all) {
            mark.writes -= 1
            if (mark.writes === 0) idle.add(mark)
          }
          timer ??= setTimeout(() => flush().catch(() => undefined), FLUSH_MS).unref()
        },
      }
    },
    flush,
  }
}

type ChangedHour = Pick<Mark, 'project_id' | 'hour'>

function keyOf({ project_id, hour }: ChangedHour): string {
  return `${hour} ${project_id}`
}
