/** The writes that remove calls from the disk. Each is one bounded step, and returns whether work is left. */
import type { CallExpiry, ExpiryStep } from '../../../api/calls/calls.ts'
import type { Connection } from '../../db/connection.ts'
import { HOUR_US } from '../../stats/segments/hour-columns.ts'
import { segmentRange } from '../../stats/segments/stored-hours.ts'
import { createLogExpiry } from '../call-logs.ts'
import * as SQL from './removal.sql.ts'

/** Limits of a step, which is one short write among others: calls, and milliseconds after which it takes no more. */
const STEP_CALLS_MAX = 256
const STEP_MS_MAX = 2
/** Free pages that stay in the file to be reused: this many, or this share of the file, whichever is more. */
const FREE_PAGES_MIN = 1024
const FREE_SHARE = 0.05
/** Pages returned between two checks of the clock. */
const PAGES_AT_ONCE = 4
/** The value of `PRAGMA auto_vacuum` with which pages can be returned one by one. */
const INCREMENTAL = 2

interface FirstHour {
  readonly hour_key: number
  readonly hour: number
  readonly is_newest: number
}

export function createRemovalWrites(db: Connection) {
  const selectUnfreed = db.prepare(SQL.SELECT_UNFREED).pluck()
  const freeCall = db.prepare(SQL.FREE_CALL)
  const deleteParts = [
    SQL.DELETE_BODIES,
    SQL.DELETE_USAGE,
    SQL.DELETE_REQUEST,
    SQL.DELETE_REFS,
    SQL.DELETE_LOGS,
  ].map((sql) => db.prepare(sql))
  const deleteCall = db.prepare(SQL.DELETE_CALL)
  const findFirstStart = db.prepare(SQL.FIND_FIRST_START).pluck()
  const selectStarted = db.prepare(SQL.SELECT_STARTED).pluck()
  const selectUnstarted = db.prepare(SQL.SELECT_UNSTARTED).pluck()
  const findFirstHour = db.prepare(SQL.FIND_FIRST_HOUR)
  const leaveHour = db.prepare(SQL.LEAVE_HOUR)
  const dropHour = createHourDrop(db)
  const expireLogs = createLogExpiry(db)

  function expireCall(call_key: number): void {
    for (const statement of deleteParts) statement.run(call_key)
    deleteCall.run(call_key)
  }

  return {
    /** Frees deleted calls, and deletes records of logs whose time is over. */
    free_deleted(_input: null): ExpiryStep {
      return withZeros(db, () => {
        expireLogs(Date.now() * 1000)
        const keys = selectUnfreed.all({ limit: STEP_CALLS_MAX }) as number[]
        const calls = takeInTime(keys, (call_key) => {
          for (const statement of deleteParts) statement.run(call_key)
          freeCall.run(call_key)
        })
        return { calls, isDone: calls === keys.length && calls < STEP_CALLS_MAX }
      })
    },

    /** Removes expired calls, hour by hour: first the calls of an hour, then its statistics. */
    expire_calls({ project_id, before_us }: CallExpiry): ExpiryStep {
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

    /** Returns free pages to the file system. `calls` is 0. */
    give_back_room(_input: null): ExpiryStep {
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

const DONE: ExpiryStep = { calls: 0, isDone: true }

/** Takes keys until the time of a step is over, but at least one. @returns the number taken */
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

/** Overwrites freed pages with zeros, too, because these texts were deleted on request. */
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

/** Deletes the statistics of an hour without calls, within the time of a step, and finally the hour itself. */
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
