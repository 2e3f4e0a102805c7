/**
 * Writes down what writes did in the hours of statistics, by hour just before the commit and inside of it: pieces
 * and entries never tell anything else than the rows.
 */

import type { Connection } from '../db/connection.ts'
import type { GroupCommit } from '../write/group-commit.ts'
import { HOUR_US, type HourEntry } from './segments/hour-columns.ts'
import { type EntryCall, type EntryEnd, encodeEntries, toEntry } from './segments/hour-entries.ts'
import { INSERT_CHANGES, MARK_HOUR } from './segments/segments.sql.ts'

export interface HourMarks {
  /** A call was started; with its end when that is known. */
  start(project_id: string, call: EntryCall, end: EntryEnd | null): void
  /** A call has ended that was started before. */
  end(project_id: string, call: EntryCall, end: EntryEnd): void
  /** A call that started at this time is not to be counted any more. */
  remove(project_id: string, startedAtUs: number): void
}

interface Mark {
  readonly project_id: string
  readonly hour: number
  /** null: a call went. */
  readonly entry: HourEntry | null
}

export function createHourMarks(db: Connection, commit: Pick<GroupCommit, 'join'>): HourMarks {
  const markHour = db.prepare(MARK_HOUR)
  const insertChanges = db.prepare(INSERT_CHANGES)
  let marks: Mark[] = []
  /** Where those of the current write begin. */
  let first = 0

  function writeHour(hourMarks: readonly Mark[]): void {
    const [{ project_id, hour }] = hourMarks as [Mark]
    const entries = hourMarks.flatMap(({ entry }) => entry ?? [])
    const rewrites = entries.length < hourMarks.length ? 1 : 0
    const marked = { project_id, hour, rewrites, entries: entries.length }
    const { hour_key, revision } = markHour.get(marked) as { hour_key: number; revision: number }
    if (entries.length === 0) return
    insertChanges.run({ hour_key, revision, entries_json: encodeEntries(entries) })
  }

  commit.join({
    begin() {
      marks = []
    },
    beginWrite() {
      first = marks.length
    },
    undoWrite() {
      marks.length = first
    },
    beforeCommit() {
      const byHour = Map.groupBy(marks, ({ project_id, hour }) => `${hour} ${project_id}`)
      for (const hourMarks of byHour.values()) writeHour(hourMarks)
    },
  })

  function mark(project_id: string, call: EntryCall, isStart: boolean, end: EntryEnd | null): void {
    const hour = Math.floor(call.started_at_us / HOUR_US)
    marks.push({ project_id, hour, entry: toEntry(call, hour * HOUR_US, isStart, end) })
  }

  return {
    start: (project_id, call, end) => mark(project_id, call, true, end),
    end: (project_id, call, end) => mark(project_id, call, false, end),
    remove(project_id, startedAtUs) {
      marks.push({ project_id, hour: Math.floor(startedAtUs / HOUR_US), entry: null })
    },
  }
}
