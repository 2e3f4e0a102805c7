/**
 * Tells which hours of statistics a transaction has changed. Each hour is marked once, just before the
 * commit and inside of it, so that a segment never outlives what it was built from.
 */

import type { Connection } from '../db/connection.ts'
import type { GroupCommit } from '../write/group-commit.ts'
import { HOUR_US } from './segments/hour-columns.ts'
import { MARK_HOUR } from './segments/segments.sql.ts'

interface Mark {
  readonly project_id: string
  readonly hour: number
  /** 1 when a call went, or came by a row that was there before. */
  rewrites: 0 | 1
}

export interface HourMarks {
  /**
   * A call that started at this time was written.
   *
   * @param isRewrite - anything else than a new row or the end of a running call
   */
  mark(project_id: string, startedAtUs: number, isRewrite?: boolean): void
}

/** Marks that are written by the group commit. */
export function createHourMarks(
  db: Connection,
  commit: Pick<GroupCommit, 'beforeCommit'>,
): HourMarks {
  const markHour = db.prepare(MARK_HOUR)
  const marks = new Map<string, Mark>()
  commit.beforeCommit(() => {
    try {
      for (const mark of marks.values()) markHour.run(mark)
    } finally {
      marks.clear()
    }
  })
  return {
    mark(project_id, startedAtUs, isRewrite = false) {
      const hour = Math.floor(startedAtUs / HOUR_US)
      const key = `${hour} ${project_id}`
      const known = marks.get(key)
      if (!known) marks.set(key, { project_id, hour, rewrites: isRewrite ? 1 : 0 })
      else if (isRewrite) known.rewrites = 1
    },
  }
}
