/**
 * Builds the hours of statistics in ClickHouse, from the rows of their calls: hours at rest, by one process at a time. What is
 * built is a cache. Two processes that build the same hour, or one that dies meanwhile, change no result.
 */
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ClickHouse } from '../db/client.ts'
import { HAS_UNSETTLED, JOINED_MAX } from '../stats/stats.sql.ts'
import { buildGroups } from './hour-groups.sql.ts'
import { rangesOf } from './hour-plan.ts'
import { buildUsage } from './hour-usage.sql.ts'
import * as SQL from './hours.sql.ts'

const POLL_MS = 15_000
/** Limit: wait before what has failed is tried again; it doubles from POLL_MS on. */
const RETRY_MS_MAX = 600_000
/** An hour is built when it has not changed for so long. */
const REST_S = 60
/** Limits: hours of one poll, and of one statement. */
const POLLED_MAX = 1000
const HOURS_MAX = 24
/** Pause between two reads of all hours, which are millions after years; between them those are read that changed lately. */
const WHOLE_MS = 3_600_000
/** Limit: how long a running build delays the end of the process. */
const STOP_MS_MAX = 300

interface UnbuiltHour {
  readonly project_id: string
  readonly hour: number
  /** 64 bits. */
  readonly begun: string
}

export interface HourBuilder {
  /**
   * Builds all hours that no write is changing, however short their rest.
   *
   * @returns the number of hours
   * @throws what ClickHouse throws, after the other projects
   */
  buildAll(): Promise<number>
  /** Builds hours at rest, if this is the process that builds. Failures are reported, and delay the next attempt. */
  poll(): Promise<void>
  close(): Promise<void>
}

/** @param project_id - whose hours cannot be built; null: hours cannot be listed */
export type OnBuildFailure = (error: unknown, project_id: string | null) => void

interface BuilderOptions {
  readonly nextVersion: () => number
  /** Whether it polls by itself. */
  readonly isAutomatic: boolean
  /** Called with the first failure of a project, and again only after a build of it has succeeded or it had nothing to build. */
  readonly onFailure?: OnBuildFailure | undefined
  /** Milliseconds, for tests. */
  readonly now?: () => number
}

export function createHourBuilder(db: ClickHouse, options: BuilderOptions): HourBuilder {
  const { nextVersion, isAutomatic, now = () => performance.now() } = options
  const builder = randomUUID()
  const closing = new AbortController()
  const { signal } = closing
  const failures = createFailures(now, options.onFailure)
  let nextWholeMs = 0

  async function build(project_id: string, unbuilt: readonly UnbuiltHour[]): Promise<void> {
    const version = nextVersion()
    const hours = unbuilt.map(({ hour }) => hour)
    const ranges = rangesOf(hours)
    const [[start_us], [, end_us]] = [ranges[0] as SQL.TimeRange, ranges.at(-1) as SQL.TimeRange]
    const parameters = { project_id, version, hours, start_us, end_us, joined_max: JOINED_MAX }
    for (const table of SQL.BUILT_TABLES) {
      if ((await db.read(SQL.hasOldVersions(table), parameters)).length === 0) continue
      await db.remove(SQL.deleteOldVersions(table), parameters)
    }
    // A write that changes this marks the hours that it changes.
    const isSettled = (await db.read(HAS_UNSETTLED, { project_id })).length === 0
    for (const sql of buildStatements(isSettled, ranges)) await db.remove(sql, parameters)
    // Last: without this row nothing of the version is read.
    const counted = await db.read<{ hour: number; calls: number }>(SQL.COUNT_CALLS, parameters)
    const callsOf = new Map(counted.map(({ hour, calls }) => [hour, calls]))
    const rows = unbuilt.map(({ hour, begun }) => {
      const calls = callsOf.get(hour) ?? 0
      return { project_id, hour, version, begun, calls }
    })
    await db.insert('built_hours', rows, randomUUID())
  }

  /** A project that cannot be built does not keep the others from it. */
  async function buildUnbuilt(rest_s: number, isRecent: boolean, skipped: readonly string[]) {
    const sql = SQL.listUnbuilt(isRecent)
    const found = await db.read<UnbuiltHour>(sql, { rest_s, skipped, limit: POLLED_MAX })
    const failed = new Map<string, unknown>()
    const projects = Map.groupBy(found, (hour) => hour.project_id)
    for (const [project_id, ofProject] of projects) {
      try {
        for (let at = 0; at < ofProject.length && !signal.aborted; at += HOURS_MAX) {
          await build(project_id, ofProject.slice(at, at + HOURS_MAX))
        }
      } catch (error) {
        failed.set(project_id, error)
      }
    }
    return { found: found.length, projects: projects.keys(), failed }
  }

  async function pollOnce(): Promise<void> {
    await db.insert('hour_builders', [{ builder }], randomUUID())
    const [first] = await db.read<{ builder: string }>(SQL.FIND_BUILDER, {})
    if (first?.builder !== builder) return
    // The hours of a failed build may have changed long ago.
    const isRecent = now() < nextWholeMs && !failures.isAnyDue()
    const { found, projects, failed } = await buildUnbuilt(REST_S, isRecent, failures.waiting())
    if (signal.aborted) return
    for (const project_id of projects) failures.note(project_id, failed.get(project_id) ?? null)
    if (isRecent || found === POLLED_MAX) return
    failures.forgetDue()
    nextWholeMs = now() + WHOLE_MS
  }

  async function poll(): Promise<void> {
    if (failures.waiting().includes(LISTING)) return
    try {
      await pollOnce()
      failures.note(LISTING, null)
    } catch (error) {
      if (!signal.aborted) failures.note(LISTING, error)
    }
  }

  async function run(): Promise<void> {
    while (!signal.aborted) {
      await sleep(POLL_MS, undefined, { signal, ref: false }).catch(() => undefined)
      if (!signal.aborted) await poll()
    }
  }

  const running = isAutomatic ? run() : Promise.resolve()
  return {
    async buildAll() {
      let built = 0
      for (let more = 1; more > 0 && !signal.aborted; built += more) {
        const { found, failed } = await buildUnbuilt(0, false, [])
        for (const error of failed.values()) throw error
        more = found
      }
      return built
    },
    poll,
    async close() {
      closing.abort()
      // A build that is cut off changes nothing.
      await Promise.race([running, sleep(STOP_MS_MAX, undefined, { ref: false })])
    },
  }
}

function buildStatements(isSettled: boolean, ranges: readonly SQL.TimeRange[]): string[] {
  const ofUsage = [false, true].flatMap((isOwn) => [
    buildUsage({ isOwn, isSettled }, ranges),
    buildGroups({ isOwn, isSettled }, ranges),
  ])
  return [SQL.buildHours(false, ranges), SQL.buildHours(true, ranges), ...ofUsage]
}

/** Stands for the list of unbuilt hours among the projects. */
const LISTING = ''

/** What has failed, by project, and when it is tried again. */
function createFailures(now: () => number, onFailure: OnBuildFailure = () => undefined) {
  const failing = new Map<string, { readonly waitMs: number; readonly untilMs: number }>()
  return {
    /** @param error - null: it has succeeded */
    note(project_id: string, error: unknown): void {
      const last = failing.get(project_id)
      failing.delete(project_id)
      if (error === null) return
      if (!last) onFailure(error, project_id === LISTING ? null : project_id)
      const waitMs = Math.min(2 * (last?.waitMs ?? POLL_MS), RETRY_MS_MAX)
      failing.set(project_id, { waitMs, untilMs: now() + waitMs })
    },
    /** Projects that are not tried now. */
    waiting: () => [...failing].filter(([, { untilMs }]) => untilMs > now()).map(([name]) => name),
    isAnyDue: () => [...failing.values()].some(({ untilMs }) => untilMs <= now()),
    /** Forgets those that were due and had nothing to build: another process has built it, or their calls are changing. */
    forgetDue(): void {
      for (const [name, { untilMs }] of failing) if (untilMs <= now()) failing.delete(name)
    },
  }
}
