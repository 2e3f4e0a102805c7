/**
 * Records which hours a write changes, before and after it. What was built of an hour is valid only while no write has begun
 * since, so that a process that dies in between leaves nothing wrong.
 */
import { randomBytes } from 'node:crypto'
import type { CallIdentity } from '../../../domain/calls/call-state.ts'
import type { Row } from '../db/client.ts'
import type { Inserts } from '../db/inserts.ts'
import { HOUR_US } from './hours.sql.ts'

/** Ends of writes are inserted together after so long; until then the hours are not built. */
const FLUSH_MS = 1000
/**
 * A write that is retried for longer is recorded again: after ten minutes it would be taken for one that has died. Parents
 * that have come meanwhile are recorded before their hours have been at rest for a minute.
 */
const RENEW_MS = 20_000

/** A call that a write stores or deletes. */
export type ChangedCall = Pick<CallIdentity, 'project_id'> & { readonly started_at_us: number }

/** The changes of one write. */
interface WriteChanges {
  /** Rows of hour_changes, to insert before the write. */
  readonly rows: readonly Row[]
  /** To be awaited before each retry of the write. */
  renew(): Promise<void>
  /** Records that the write has ended. */
  end(): void
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
  let ended: Row[] = []
  let timer: NodeJS.Timeout | null = null

  async function flush(): Promise<void> {
    if (timer) clearTimeout(timer)
    timer = null
    const rows = ended
    ended = []
    await insert('hour_changes', rows)
  }

  function record(hours: Iterable<{ readonly project_id: string; readonly hour: number }>): Row[] {
    return [...hours].map((one) => ({ ...one, begun: randomMark() }))
  }

  return {
    begin(calls, findMore = async () => []) {
      const hours = new Map<string, { readonly project_id: string; readonly hour: number }>()
      const add = ({ project_id, started_at_us }: ChangedCall) => {
        const hour = Math.floor(started_at_us / HOUR_US)
        hours.set(`${hour} ${project_id}`, { project_id, hour })
      }
      for (const call of calls) add(call)
      const rows = record(hours.values())
      const all = [...rows]
      let recordedMs = performance.now()
      return {
        rows,
        async renew() {
          if (performance.now() - recordedMs < RENEW_MS) return
          for (const call of await findMore()) add(call)
          const again = record(hours.values())
          await insert('hour_changes', again)
          all.push(...again)
          recordedMs = performance.now()
        },
        end() {
          for (const { project_id, hour, begun } of all)
            ended.push({ project_id, hour, ended: begun })
          timer ??= setTimeout(() => flush().catch(() => undefined), FLUSH_MS).unref()
        },
      }
    },
    flush,
  }
}
