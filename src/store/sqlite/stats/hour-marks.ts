/**
 * Records the changes that writes make to the hours of statistics, by hour, in the transaction just before its commit.
 * So segments and entries always agree with the rows.
 */

import type { Connection } from '../db/connection.ts'
import { FIND_CALL_USAGE } from '../usage/nested-usage.sql.ts'
import { readCounted } from '../usage/usage-rows.ts'
import type { GroupCommit } from '../write/group-commit.ts'
import { entryKey, HOUR_US, type HourEntry, IS_ROOT, IS_STARTED } from './segments/hour-columns.ts'
import {
  type EntryCall,
  type EntryEnd,
  encodeChanges,
  toEntry,
  type Unrooted,
} from './segments/hour-entries.ts'
import { createEntryReader } from './segments/hour-rows.ts'
import { INSERT_CHANGES, MARK_HOUR } from './segments/segments.sql.ts'

type Key = number | bigint

/** Limit: calls of an hour that one commit corrects one by one; with more, the hour is rebuilt. */
const CORRECTIONS_MAX = 2 ** 14

export interface HourMarks {
  /** Records the start of a call, with its end when that is known. */
  start(project_id: string, call_key: Key, call: EntryCall, end: EntryEnd | null): void
  /** Records the end of a call whose start was recorded before. */
  end(project_id: string, call_key: Key, call: EntryCall, end: EntryEnd): void
  /** Records that a call that started at this time does not count any more. */
  remove(project_id: string, call_key: Key, startedAtUs: number): void
  /** Records that the own usage of a call that started at this time has changed. */
  recount(project_id: string, call_key: Key, startedAtUs: number): void
  /**
   * Records that a call that started at this time is a root after all, in the write that recorded its start, or is none
   * any more.
   */
  reroot(project_id: string, call_key: Key, startedAtUs: number, isRoot: boolean): void
}

/** A call whose own usage has changed, or whether it is a root. */
interface Recount {
  readonly project_id: string
  readonly hour: number
  readonly call_key: Key
}

interface Reroot extends Recount {
  readonly isRoot: boolean
}

interface Mark extends Recount {
  /** null: earlier entries of the call do not count any more. */
  readonly entry: HourEntry | Unrooted | null
}

export function createHourMarks(db: Connection, commit: Pick<GroupCommit, 'join'>): HourMarks {
  const markHour = db.prepare(MARK_HOUR)
  const insertChanges = db.prepare(INSERT_CHANGES)
  const { applyReroots, applyRecounts } = createCorrections(db)
  let marks: Mark[] = []
  let recounts: Recount[] = []
  let reroots: Reroot[] = []
  /** Where the marks, recounts and reroots of the current write begin. */
  let first = { mark: 0, recount: 0, reroot: 0 }

  function writeHour(hourMarks: readonly Mark[]): void {
    const [{ project_id, hour }] = hourMarks as [Mark]
    const corrections = hourMarks.filter(({ entry }) => !isEntry(entry)).length
    const rewrites = corrections > CORRECTIONS_MAX ? 1 : 0
    const changes = hourMarks.map(({ call_key, entry }) => entry ?? entryKey(call_key))
    const marked = { project_id, hour, rewrites, entries: changes.length }
    const { hour_key, revision } = markHour.get(marked) as { hour_key: number; revision: number }
    if (rewrites === 0) {
      insertChanges.run({ hour_key, revision, entries_json: encodeChanges(changes) })
    }
  }

  commit.join({
    begin() {
      marks = []
      recounts = []
      reroots = []
    },
    beginWrite() {
      first = { mark: marks.length, recount: recounts.length, reroot: reroots.length }
    },
    undoWrite() {
      marks.length = first.mark
      recounts.length = first.recount
      reroots.length = first.reroot
    },
    beforeCommit() {
      applyReroots(marks, reroots)
      applyRecounts(marks, recounts)
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
    const entry = toEntry(call_key, call, hour * HOUR_US, isStart, end)
    marks.push({ project_id, hour, call_key, entry })
  }

  return {
    start(project_id, call_key, call, end) {
      mark({ project_id, call_key }, call, true, end)
    },
    end(project_id, call_key, call, end) {
      mark({ project_id, call_key }, call, false, end)
    },
    remove(project_id, call_key, startedAtUs) {
      const hour = Math.floor(startedAtUs / HOUR_US)
      marks.push({ project_id, hour, call_key, entry: null })
    },
    reroot(project_id, call_key, startedAtUs, isRoot) {
      const hour = Math.floor(startedAtUs / HOUR_US)
      reroots.push({ project_id, hour, call_key, isRoot })
    },
    recount(project_id, call_key, startedAtUs) {
      recounts.push({ project_id, hour: Math.floor(startedAtUs / HOUR_US), call_key })
    },
  }
}

function isEntry(entry: Mark['entry']): entry is HourEntry {
  return entry !== null && 'flags' in entry
}

/** Creates the corrections of the entries that calls have, before a commit. */
function createCorrections(db: Connection) {
  const findUsage = db.prepare(FIND_CALL_USAGE).raw()
  const readEntry = createEntryReader(db)

  /** Corrects entries of this commit in place; replaces entries that earlier commits have written. */
  function applyRecounts(marks: Mark[], recounts: readonly Recount[]): void {
    if (recounts.length === 0) return
    const slotOf = new Map<number, number>()
    marks.forEach(({ call_key, entry }, place) => {
      if (isEntry(entry) && entry.usage.length > 0) slotOf.set(Number(call_key), place)
    })
    // Recounts a parent of many children only once.
    const byCall = new Map(recounts.map((recount) => [Number(recount.call_key), recount]))
    for (const recount of byCall.values()) {
      const { call_key } = recount
      const place = slotOf.get(Number(call_key))
      const mark = place === undefined ? null : marks[place]
      if (mark && isEntry(mark.entry)) {
        const rows = findUsage.all({ call_key }) as unknown[][]
        const usage = rows.flatMap((row) => readCounted(row))
        marks[place as number] = { ...mark, entry: { ...mark.entry, usage } }
        continue
      }
      replaceEntry(marks, recount)
    }
  }

  /** Corrects the entries of this commit in place, and by a further change those of earlier ones. */
  function applyReroots(marks: Mark[], reroots: readonly Reroot[]): void {
    if (reroots.length === 0) return
    const last = new Map(reroots.map((reroot) => [Number(reroot.call_key), reroot]))
    const begun = new Set<number>()
    marks.forEach(({ call_key, entry }, place) => {
      const reroot = last.get(Number(call_key))
      if (!reroot || !isEntry(entry)) return
      if ((entry.flags & IS_STARTED) !== 0) begun.add(Number(call_key))
      const flags = reroot.isRoot ? entry.flags | IS_ROOT : entry.flags & ~IS_ROOT
      marks[place] = { ...(marks[place] as Mark), entry: { ...entry, flags } }
    })
    for (const [key, { project_id, hour, call_key }] of last) {
      if (begun.has(key)) continue
      marks.push({ project_id, hour, call_key, entry: { unrooted: entryKey(call_key) } })
    }
  }

  /** A later write of the same commit may have removed the call. */
  function replaceEntry(marks: Mark[], { project_id, hour, call_key }: Recount): void {
    const entry = readEntry(call_key, hour)
    const mark = { project_id, hour, call_key }
    if (entry) marks.push({ ...mark, entry: null }, { ...mark, entry })
  }

  return { applyReroots, applyRecounts }
}
