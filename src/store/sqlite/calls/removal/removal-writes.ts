/** The writes that take calls off the disk. Each is one bounded step, and tells whether another one has work. */
import type { CallExpiry } from '../../../api/calls/call-removal.ts'
import type { Connection } from '../../db/connection.ts'
import { HOUR_US } from '../../stats/segments/hour-columns.ts'
import { segmentRange } from '../../stats/segments/stored-hours.ts'
import * as SQL from './removal.sql.ts'

/** Limits of a step, so that it is one short write among others: calls, and milliseconds after which it takes no other. */
const STEP_CALLS_MAX = 256
const STEP_MS_MAX = 2
/** Free pages that stay in the file to be written over: so many, or that share of the file. */
const FREE_PAGES_MIN = 1024
const FREE_SHARE = 0.05
/** Pages that are given back between two looks at the clock. */
const PAGES_AT_ONCE = 4
/** Of `PRAGMA auto_vacuum`: pages can be given back one by one. */
const INCREMENTAL = 2

/** What a step has done. */
export interface StepResult {
  /** Calls that were freed, or have left. */
  readonly calls: number
  /** Nothing is left to do. */
  readonly isDone: boolean
}

interface FirstHour {
  readonly hour_key: number
  readonly hour: number
  readonly is_newest: number
}

export function createRemovalWrites(db: Connection) {
  const selectUnfreed = db.prepare(SQL.SELECT_UNFREED).pluck()
  const freeCall = db.prepare(SQL.FREE_CALL)
  const deleteParts = [SQL.DELETE_BODIES, SQL.DELETE_USAGE, SQL.DELETE_REFS].map((sql) =>
    db.prepare(sql),
  )
  const deleteCall = db.prepare(SQL.DELETE_CALL)
  const findFirstStart = db.prepare(SQL.FIND_FIRST_START).pluck()
  const selectStarted = db.prepare(SQL.SELECT_STARTED).pluck()
  const selectUnstarted = db.prepare(SQL.SELECT_UNSTARTED).pluck()
  const findFirstHour = db.prepare(SQL.FIND_FIRST_HOUR)
  const leaveHour = db.prepare(SQL.LEAVE_HOUR)
  const dropHour = createHourDrop(db)

  function expireCall(call_key: number): void {
    for (const statement of deleteParts) statement.run(call_key)
    deleteCall.run(call_key)
  }

  return {
    /** Frees deleted calls. */
    free_deleted(_input: null): StepResult {
      return withZeros(db, () => {
        const keys = selectUnfreed.all({ limit: STEP_CALLS_MAX }) as number[]
        const calls = takeInTime(keys, (call_key) => {
          for (const statement of deleteParts) statement.run(call_key)
          freeCall.run(call_key)
        })
        return { calls, isDone: calls === keys.length && calls < STEP_CALLS_MAX }
      })
    },

    /** Lets go of calls that are too old, hour by hour: each hour's calls, then what statistics hold of it. */
    expire_calls({ project_id, before_us }: CallExpiry): StepResult {
      const startedUs = findFirstStart.get({ project_id, before_us }) as number | undefined
      const before_hour = Math.floor((startedUs ?? before_us) / HOUR_US)
      const empty = findFirstHour.get({ project_id, before_hour }) as FirstHour | undefined
      if (empty) {
        dropHour(empty)
        return { calls: 0, isDone: false }
      }
      if (startedUs === undefined) {
        const ends = selectUnstarted.all({ project_id, before_us, limit: STEP_CALLS_MAX })
        return { calls: takeInTime(ends as number[], expireCall), isDone: ends.length === 0 }
      }
      leaveHour.run({ project_id, hour: before_hour })
      const to_us = (before_hour + 1) * HOUR_US
      const keys = selectStarted.all({ project_id, to_us, limit: STEP_CALLS_MAX }) as number[]
      return { calls: takeInTime(keys, expireCall), isDone: false }
    },

    /** Gives free pages back to the file system. `calls` is 0. */
    give_back_room(_input: null): StepResult {
      if (db.pragma('auto_vacuum', { simple: true }) !== INCREMENTAL) return DONE
      const untilMs = performance.now() + STEP_MS_MAX
      do {
        if (!hasMuchRoom(db)) return DONE
        db.pragma(`incremental_vacuum(${PAGES_AT_ONCE})`)
      } while (performance.now() < untilMs)
      return { calls: 0, isDone: false }
    },
  }
}

const DONE: StepResult = { calls: 0, isDone: true }

/** @returns how many had their turn before the time of a step was over; the first has it always */
function takeInTime(keys: readonly number[], take: (key: number) => void): number {
  const untilMs = performance.now() + STEP_MS_MAX
  let taken = 0
  for (const key of keys) {
    take(key)
    taken += 1
    if (performance.now() >= untilMs) break
  }
  return taken
}

/** Somebody wants these texts gone: pages that become free are overwritten, too. */
function withZeros<T>(db: Connection, run: () => T): T {
  db.pragma('secure_delete = ON')
  try {
    return run()
  } finally {
    db.pragma('secure_delete = FAST')
  }
}

function hasMuchRoom(db: Connection): boolean {
  const free = db.pragma('freelist_count', { simple: true }) as number
  if (free <= FREE_PAGES_MIN) return false
  return free > (db.pragma('page_count', { simple: true }) as number) * FREE_SHARE
}

/** Deletes what statistics hold of an hour without calls, as far as the time of a step goes; the hour itself at the end. */
function createHourDrop(db: Connection): (hour: FirstHour) => void {
  const deleteOne = [SQL.DELETE_HOUR_COLUMN, SQL.DELETE_HOUR_HEAD, SQL.DELETE_HOUR_CHANGE].map(
    (sql) => db.prepare(sql),
  )
  const emptyHour = db.prepare(SQL.EMPTY_HOUR)
  const deleteHour = db.prepare(SQL.DELETE_HOUR)

  return ({ hour_key, is_newest }) => {
    const bound = { hour_key, ...segmentRange(hour_key) }
    const untilMs = performance.now() + STEP_MS_MAX
    for (const statement of deleteOne) {
      while (statement.run(bound).changes > 0) if (performance.now() >= untilMs) return
    }
    const end = is_newest ? emptyHour : deleteHour
    end.run({ hour_key })
  }
}
