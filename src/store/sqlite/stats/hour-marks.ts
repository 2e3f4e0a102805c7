/**
 * Writes down what writes did in the hours of statistics, by hour just before the commit and inside of it: pieces
 * and entries never tell anything else than the rows.
 */

import type { Connection } from '../db/connection.ts'
import { FIND_CALL_USAGE } from '../usage/nested-usage.sql.ts'
import { readCounted } from '../usage/usage-rows.ts'
import type { GroupCommit } from '../write/group-commit.ts'
import { HOUR_US, type HourEntry } from './segments/hour-columns.ts'
import { type EntryCall, type EntryEnd, encodeEntries, toEntry } from './segments/hour-entries.ts'
import { INSERT_CHANGES, MARK_HOUR } from './segments/segments.sql.ts'

type Key = number | bigint

export interface HourMarks {
  /** A call was started; with its end when that is known. */
  start(project_id: string, call_key: Key, call: EntryCall, end: EntryEnd | null): void
  /** A call has ended that was started before. */
  end(project_id: string, call_key: Key, call: EntryCall, end: EntryEnd): void
  /** A call that started at this time is not to be counted any more. */
  remove(project_id: string, startedAtUs: number): void
  /** What a call that started at this time used itself is another number than before. */
  recount(project_id: string, call_key: Key, startedAtUs: number): void
}

interface Mark {
  readonly project_id: string
  readonly hour: number
  /** The call of an entry with usage; else null. */
  readonly call_key: Key | null
  /** null: a call went, or counts otherwise than before. */
  readonly entry: HourEntry | null
}

/** A call that counts otherwise than before. */
interface Recount {
  readonly project_id: string
  readonly hour: number
  readonly call_key: Key
}

export function createHourMarks(db: Connection, commit: Pick<GroupCommit, 'join'>): HourMarks {
  const markHour = db.prepare(MARK_HOUR)
  const insertChanges = db.prepare(INSERT_CHANGES)
  const findUsage = db.prepare(FIND_CALL_USAGE).raw()
  let marks: Mark[] = []
  let recounts: Recount[] = []
  /** Where those of the current write begin. */
  let first = { mark: 0, recount: 0 }

  /** An entry of this commit tells what its call counts for at the end of it; any other was written down before. */
  function applyRecounts(): void {
    if (recounts.length === 0) return
    const placeOf = new Map<number, number>()
    marks.forEach(({ call_key }, place) => {
      if (call_key !== null) placeOf.set(Number(call_key), place)
    })
    // A parent of many children is counted again once.
    const byCall = new Map(recounts.map((recount) => [Number(recount.call_key), recount]))
    for (const { project_id, hour, call_key } of byCall.values()) {
      const place = placeOf.get(Number(call_key))
      const mark = place === undefined ? null : marks[place]
      if (!mark?.entry) marks.push({ project_id, hour, call_key: null, entry: null })
      else {
        const rows = findUsage.all({ call_key }) as unknown[][]
        const usage = rows.flatMap((row) => readCounted(row))
        marks[place as number] = { ...mark, entry: { ...mark.entry, usage } }
      }
    }
  }

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
      recounts = []
    },
    beginWrite() {
      first = { mark: marks.length, recount: recounts.length }
    },
    undoWrite() {
      marks.length = first.mark
      recounts.length = first.recount
    },
    beforeCommit() {
      applyRecounts()
      const byHour = Map.groupBy(marks, ({ project_id, hour }) => `${hour} ${project_id}`)
      for (const hourMarks of byHour.values()) writeHour(hourMarks)
    },
  })

  function mark(
    { project_id, call_key }: Pick<Recount, 'project_id' | 'call_key'>,
    call: EntryCall,
    isStart: boolean,
    end: EntryEnd | null,
  ): void {
    const hour = Math.floor(call.started_at_us / HOUR_US)
    const entry = toEntry(call, hour * HOUR_US, isStart, end)
    marks.push({ project_id, hour, call_key: entry.usage.length > 0 ? call_key : null, entry })
  }

  return {
    start(project_id, call_key, call, end) {
      mark({ project_id, call_key }, call, true, end)
    },
    end(project_id, call_key, call, end) {
      mark({ project_id, call_key }, call, false, end)
    },
    remove(project_id, startedAtUs) {
      const hour = Math.floor(startedAtUs / HOUR_US)
      marks.push({ project_id, hour, call_key: null, entry: null })
    },
    recount(project_id, call_key, startedAtUs) {
      recounts.push({ project_id, hour: Math.floor(startedAtUs / HOUR_US), call_key })
    },
  }
}
