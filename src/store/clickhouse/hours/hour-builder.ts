/**
 * Builds the hours of statistics in ClickHouse, from the rows of their calls: hours at rest, by one process at a time. What is
 * built is a cache. Two processes that build the same hour, or one that dies meanwhile, change no result.
 */
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ClickHouse } from '../db/client.ts'
import * as SQL from './hours.sql.ts'

const POLL_MS = 15_000
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
  /** Builds all hours that no write is changing, however short their rest. @returns the number of hours */
  buildAll(): Promise<number>
  /** Builds hours at rest, if this is the process that builds. @throws what ClickHouse throws, after the other projects */
  poll(): Promise<void>
  close(): Promise<void>
}

/** @param isAutomatic - whether it polls by itself */
export function createHourBuilder(
  db: ClickHouse,
  nextVersion: () => number,
  isAutomatic: boolean,
): HourBuilder {
  const builder = randomUUID()
  const closing = new AbortController()
  const { signal } = closing
  let nextWholeMs = 0

  async function build(project_id: string, unbuilt: readonly UnbuiltHour[]): Promise<void> {
    const version = nextVersion()
    const hours = unbuilt.map(({ hour }) => hour)
    const parameters = { project_id, version, hours }
    if ((await db.read(SQL.HAS_OLD_VERSIONS, parameters)).length > 0) {
      await db.remove(SQL.DELETE_OLD_VERSIONS, parameters)
    }
    for (const isOp of [false, true]) await db.remove(SQL.buildHours(isOp, hours), parameters)
    // Last: without this row nothing of the version is read.
    const counted = await db.read<{ hour: number; calls: number }>(SQL.COUNT_CALLS, parameters)
    const callsOf = new Map(counted.map(({ hour, calls }) => [hour, calls]))
    const rows = unbuilt.map(({ hour, begun }) => {
      const calls = callsOf.get(hour) ?? 0
      return { project_id, hour, version, begun, calls }
    })
    await db.insert('built_hours', rows, randomUUID())
  }

  /** A project that cannot be built does not keep the others from it. @returns the number of hours found */
  async function buildUnbuilt(rest_s: number, isRecent: boolean): Promise<number> {
    const sql = SQL.listUnbuilt(isRecent)
    const found = await db.read<UnbuiltHour>(sql, { rest_s, limit: POLLED_MAX })
    const failures: unknown[] = []
    for (const [project_id, ofProject] of Map.groupBy(found, (hour) => hour.project_id)) {
      try {
        for (let at = 0; at < ofProject.length && !signal.aborted; at += HOURS_MAX) {
          await build(project_id, ofProject.slice(at, at + HOURS_MAX))
        }
      } catch (error) {
        failures.push(error)
      }
    }
    if (failures.length > 0) throw failures[0]
    return found.length
  }

  async function poll(): Promise<void> {
    await db.insert('hour_builders', [{ builder }], randomUUID())
    const [first] = await db.read<{ builder: string }>(SQL.FIND_BUILDER, {})
    if (first?.builder !== builder) return
    const isRecent = performance.now() < nextWholeMs
    const found = await buildUnbuilt(REST_S, isRecent)
    if (!isRecent && found < POLLED_MAX) nextWholeMs = performance.now() + WHOLE_MS
  }

  async function run(): Promise<void> {
    while (!signal.aborted) {
      await sleep(POLL_MS, undefined, { signal, ref: false }).catch(() => undefined)
      // The next poll tries again.
      if (!signal.aborted) await poll().catch(() => undefined)
    }
  }

  const running = isAutomatic ? run() : Promise.resolve()
  return {
    async buildAll() {
      let built = 0
      for (let more = 1; more > 0 && !signal.aborted; built += more) {
        more = await buildUnbuilt(0, false)
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
