/** The only access to ClickHouse: its HTTP interface, with all settings pinned that results depend on. */
import { type ClickHouseSettings, createClient, type Logger } from '@clickhouse/client'
import { type ReadCaller, requireWaiting } from '../../../domain/access/read-caller.ts'
import type { FaultMetrics } from '../../api/metrics.ts'
import { MigrationError } from '../../base/db/migration-files.ts'
import { isPassing, toStoreError } from './store-error.ts'

interface ClickHouseOptions {
  /** Address with user, password and database: `http://user:password@host:8123/weft`. Secret. */
  readonly url: string
  /** Limit: time of a read. */
  readonly readTimeoutMs: number
  /** Limit: time of one attempt to write; default 10 s. */
  readonly writeTimeoutMs?: number | undefined
}

/** Values of the placeholders `{name:Type}` of a statement. */
export type Parameters = Readonly<Record<string, unknown>>

/** A row to insert, by columns; absent ones have their defaults. */
export type Row = Readonly<Record<string, unknown>>

export interface ClickHouse {
  /** All rows of a statement. @throws ApiError store_unavailable, read_timeout, client_closed_request */
  read<Found>(sql: string, parameters: Parameters, signal?: AbortSignal): Promise<Found[]>
  /** The same as a stream of parts. */
  stream<Found>(
    sql: string,
    parameters: Parameters,
    caller: Pick<ReadCaller, 'signal'>,
  ): AsyncIterable<readonly Found[]>
  /**
   * Resolves when the rows are on disk. After a failure they may or may not be stored.
   *
   * @param token - rows with a known token are not stored again
   * @throws what the client throws: isPassing says whether a retry may succeed
   */
  insert(table: string, rows: readonly Row[], token: string): Promise<void>
  /** Runs a statement without a result. @throws what the client throws */
  command(sql: string): Promise<void>
  /** Removes rows, or frees their space. Resolves when the server is done. @throws what the client throws */
  remove(sql: string, parameters: Parameters): Promise<void>
  close(): Promise<void>
  figures(): FaultMetrics
}

const WRITE_TIMEOUT_MS = 10_000
/** Limit: concurrent connections; further statements wait. Two for each of 128 reads, as one may hold two, and others. */
const CONNECTIONS_MAX = 288
/** Limit: bytes of a statement; boundaries of buckets are written out. */
const STATEMENT_BYTES_MAX = 16 * 1024 * 1024
/** Limit of changes of tables, which wait for the replicas of a cluster, and of rows that are removed. */
const DDL_TIMEOUT_MS = 190_000

/** Settings that results depend on, independent of the server's defaults. */
const PINNED: ClickHouseSettings = {
  async_insert: 0,
  insert_deduplicate: 1,
  throw_on_max_partitions_per_insert_block: 0,
  output_format_json_quote_64bit_integers: 0,
  join_use_nulls: 0,
  max_query_size: String(STATEMENT_BYTES_MAX),
  cancel_http_readonly_queries_on_client_close: 1,
}

/** Removals return when the server is done; other replicas follow. */
const DONE_HERE: ClickHouseSettings = { lightweight_deletes_sync: '1', mutations_sync: '1' }

/** Writes nothing: the client's own log would bypass Weft's, and some of its warnings ignore the level. */
class Silence implements Logger {
  trace(): void {}
  debug(): void {}
  info(): void {}
  warn(): void {}
  error(): void {}
}

/** @throws MigrationError when the address cannot be understood; the message is one line without its password */
function openClient(url: string, request_timeout: number) {
  try {
    return createClient({
      url,
      request_timeout,
      application: 'weft',
      max_open_connections: CONNECTIONS_MAX,
      use_multipart_params_auto: true,
      // A copy, because the client writes the parameters of the address into it.
      clickhouse_settings: { ...PINNED },
      log: { level: 127, LoggerClass: Silence },
    })
  } catch (error) {
    // A parameter with an @ may be the rest of a password that contains a question mark.
    const isSecret = /\?.*@/s.test(url)
    const reason = isSecret ? 'the address cannot be understood' : (error as Error).message
    throw new MigrationError(`WEFT_CLICKHOUSE_URL: ${reason.replaceAll(/\s+/g, ' ')}`)
  }
}

/** @throws MigrationError when the address cannot be understood */
export function connectClickHouse(options: ClickHouseOptions): ClickHouse {
  const { readTimeoutMs, writeTimeoutMs = WRITE_TIMEOUT_MS } = options
  const reader = openClient(options.url, readTimeoutMs + 1000)
  const writer = openClient(options.url, writeTimeoutMs)
  const schema = openClient(options.url, DDL_TIMEOUT_MS)
  const limits = { max_execution_time: Math.max(1, Math.ceil(readTimeoutMs / 1000)) }

  let faults = 0

  function note(error: unknown): void {
    if (isPassing(error)) faults += 1
  }

  async function ask(sql: string, parameters: Parameters, signal?: AbortSignal) {
    if (signal) requireWaiting(signal)
    return reader.query({
      query: sql,
      query_params: { ...parameters },
      format: 'JSONEachRow',
      clickhouse_settings: limits,
      ...(signal ? { abort_signal: signal } : {}),
    })
  }

  return {
    async read<Found>(sql: string, parameters: Parameters, signal?: AbortSignal) {
      try {
        return await (await ask(sql, parameters, signal)).json<Found>()
      } catch (error) {
        if (signal) requireWaiting(signal)
        note(error)
        throw toStoreError(error)
      }
    },
    async *stream<Found>(sql: string, parameters: Parameters, { signal }: { signal: AbortSignal }) {
      try {
        const answer = await ask(sql, parameters, signal)
        for await (const rows of answer.stream<Found>()) yield rows.map((row) => row.json())
      } catch (error) {
        requireWaiting(signal)
        note(error)
        throw toStoreError(error)
      }
    },
    async insert(table, rows, token) {
      const values = rows.map(wellFormed)
      const clickhouse_settings = { insert_deduplication_token: token }
      try {
        await writer.insert({ table, values, format: 'JSONEachRow', clickhouse_settings })
      } catch (error) {
        note(error)
        throw error
      }
    },
    async command(sql) {
      await schema.command({ query: sql })
    },
    async remove(sql, parameters) {
      await schema.command({
        query: sql,
        query_params: { ...parameters },
        clickhouse_settings: DONE_HERE,
      })
    },
    async close() {
      await Promise.all([reader.close(), writer.close(), schema.close()])
    },
    figures: () => ({ store: 'clickhouse', faults }),
  }
}

/** Replaces lone surrogates, which JSON may contain and UTF-8 not, by U+FFFD. */
function wellFormed(row: Row): Row {
  const isBroken = (value: unknown) => typeof value === 'string' && !value.isWellFormed()
  if (!Object.values(row).some((value) => isBroken(value) || Array.isArray(value))) return row
  const mend = (value: unknown): unknown =>
    isBroken(value) ? (value as string).toWellFormed() : value
  return Object.fromEntries(
    Object.entries(row).map(([name, value]) => [
      name,
      Array.isArray(value) ? value.map(mend) : mend(value),
    ]),
  )
}
