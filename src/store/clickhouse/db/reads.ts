/** Reads of requests: a few at a time, the rest in a bounded queue that is fair to keys and projects. */
import type { ReadCaller } from '../../../domain/access/read-caller.ts'
import { createTurns, type TurnLimits } from '../../../threads/turns.ts'
import type { ReadMetrics } from '../../api/metrics.ts'
import type { ClickHouse, Parameters } from './client.ts'

export interface Reads {
  /** All rows. @throws ApiError as ClickHouse.read; server_overloaded when the queue is full; read_timeout in it */
  read<Found>(sql: string, parameters: Parameters, caller: ReadCaller): Promise<Found[]>
  /** The same as a stream of parts; the slot is held until the last. */
  stream<Found>(
    sql: string,
    parameters: Parameters,
    caller: ReadCaller,
  ): AsyncIterable<readonly Found[]>
  /** The same within a stream that holds a slot, so that no two reads wait for each other's slots. */
  streamWithin<Found>(
    sql: string,
    parameters: Parameters,
    caller: ReadCaller,
  ): AsyncIterable<readonly Found[]>
  figures(): ReadMetrics
}

/** Runs a read on behalf of a caller or of the server. */
export type Read = <Found>(sql: string, parameters: Parameters) => Promise<Found[]>

/** Limit: ids of one statement. */
const IDS_MAX = 1000

/** Splits ids into parts for one statement each. */
export function partsOf(ids: readonly string[]): string[][] {
  const parts: string[][] = []
  for (let at = 0; at < ids.length; at += IDS_MAX) parts.push(ids.slice(at, at + IDS_MAX))
  return parts
}

/** @param limits - of the turns */
export function createReads(db: ClickHouse, limits: TurnLimits): Reads {
  const { enter, figures } = createTurns(limits)

  return {
    async read<Found>(sql: string, parameters: Parameters, caller: ReadCaller) {
      const leave = await enter(caller)
      try {
        return await db.read<Found>(sql, parameters, caller.signal)
      } finally {
        leave()
      }
    },
    async *stream<Found>(sql: string, parameters: Parameters, caller: ReadCaller) {
      const leave = await enter(caller)
      try {
        yield* db.stream<Found>(sql, parameters, caller)
      } finally {
        leave()
      }
    },
    streamWithin: (sql, parameters, caller) => db.stream(sql, parameters, caller),
    figures: () => ({ kind: 'clickhouse', ...figures() }),
  }
}
