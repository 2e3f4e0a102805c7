/** The only access to PostgreSQL: a small pool of connections, with bounded waits and statements. */
import { Client, type ClientBase, DatabaseError, Pool, type PoolClient, types } from 'pg'
import { ApiError } from '../../../errors.ts'
import type { FaultMetrics } from '../../api/metrics.ts'
import { MigrationError } from '../../base/db/migration-files.ts'
import { bindNames, type Parameters } from './named-parameters.ts'
import { isRepeatable, isTimeout, toStoreError } from './store-error.ts'

interface PostgresOptions {
  /** Address with user, password and database. Secret. */
  readonly url: string
  /** Limit: time of a read. */
  readonly readTimeoutMs: number
  /** Limit: time of a statement that writes, and of the wait for a connection; default 10 s. */
  readonly writeTimeoutMs?: number | undefined
  /** Maximum number of connections; default 10. */
  readonly connectionsMax?: number
  /** Statements and transactions that may wait for a connection; default 1,000. */
  readonly queueMax?: number
}

export interface Statements {
  /** Returns all rows of a statement. @throws ApiError, or PostgreSQL's error about the statement */
  all<Found>(sql: string, parameters?: Parameters): Promise<Found[]>
  /** Returns its first row, or undefined. */
  first<Found>(sql: string, parameters?: Parameters): Promise<Found | undefined>
  /** Runs a statement. @returns the number of changed rows */
  run(sql: string, parameters?: Parameters): Promise<number>
}

export interface Postgres extends Statements {
  /**
   * Runs statements as one transaction, which is durable when the promise resolves. After a conflict it is retried.
   *
   * @throws ApiError server_overloaded, store_unavailable: it may or may not be committed; what `run` throws:
   * it is rolled back
   */
  transaction<T>(run: (statements: Statements) => Promise<T>): Promise<T>
  /** Runs read-only statements on one snapshot, with the time limit of a read. */
  snapshot<T>(run: (statements: Statements) => Promise<T>): Promise<T>
  close(): Promise<void>
  figures(): FaultMetrics
}

const WRITE_TIMEOUT_MS = 10_000
const CONNECTIONS_MAX = 10
const QUEUE_MAX = 1_000
/** Limit: wait for a connection to be opened or to become free. */
const CONNECT_MS_MAX = 5_000
/** How much longer the client waits than the server, whose timeout has the better message. */
const CLIENT_PATIENCE_MS = 1_000
/** Limit: attempts of a transaction that conflicts with others. */
const TRIES_MAX = 5

const OID_INT8 = 20
/** 64-bit integers as numbers: what Weft stores in them is below 2^53. */
const TYPES = {
  getTypeParser(oid: number, format?: 'text' | 'binary') {
    return oid === OID_INT8 ? Number : types.getTypeParser(oid, format)
  },
} as typeof types

/**
 * Opens a connection outside the pool and without its time limits. The caller closes it.
 *
 * @throws MigrationError when the address has an unknown parameter, and what the driver throws at others
 */
export function createOwnConnection(url: string): Client {
  requireKnownParameters(url)
  const client = new Client({
    connectionString: url,
    application_name: 'weft',
    types: TYPES,
    keepAlive: true,
    connectionTimeoutMillis: CONNECT_MS_MAX,
  })
  // A connection that breaks while idle: its next user gets the error.
  client.on('error', () => undefined)
  return client
}

/** @throws MigrationError when the address has an unknown parameter */
export function connectPostgres(options: PostgresOptions): Postgres {
  const { url, readTimeoutMs, writeTimeoutMs = WRITE_TIMEOUT_MS, queueMax = QUEUE_MAX } = options
  requireKnownParameters(url)
  const statementMs = Math.max(readTimeoutMs, writeTimeoutMs)
  const pool = new Pool({
    connectionString: url,
    application_name: 'weft',
    types: TYPES,
    keepAlive: true,
    max: options.connectionsMax ?? CONNECTIONS_MAX,
    connectionTimeoutMillis: Math.min(CONNECT_MS_MAX, writeTimeoutMs),
    statement_timeout: writeTimeoutMs,
    idle_in_transaction_session_timeout: statementMs + CLIENT_PATIENCE_MS,
    query_timeout: statementMs + CLIENT_PATIENCE_MS,
  })
  // A connection that breaks while idle or between statements: its next user gets the error or another connection.
  pool.on('error', () => undefined)
  pool.on('connect', (client) => client.on('error', () => undefined))

  let faults = 0

  async function connect(): Promise<PoolClient> {
    if (pool.waitingCount >= queueMax) throw new ApiError('server_overloaded', { retryAfterS: 1 })
    return pool.connect()
  }

  /** Lends a connection. One with a statement of unknown outcome is not reused. */
  async function lend<T>(use: (client: PoolClient) => Promise<T>): Promise<T> {
    let client: PoolClient | null = null
    let isBroken = false
    try {
      client = await connect()
      return await use(client)
    } catch (error) {
      isBroken = !isKnown(error)
      const told = toStoreError(error)
      if (told instanceof ApiError && told.code === 'store_unavailable') faults += 1
      throw told
    } finally {
      client?.release(isBroken)
    }
  }

  async function transact<T>(begin: string, run: (statements: Statements) => Promise<T>) {
    return lend(async (client) => {
      await client.query(begin)
      try {
        const result = await run(statementsOf(client))
        await client.query('COMMIT')
        return result
      } catch (error) {
        // Otherwise the connection is closed, which also rolls back: it may still be busy.
        if (isKnown(error)) await client.query('ROLLBACK')
        throw error
      }
    })
  }

  return {
    all: (sql, parameters) => lend((client) => statementsOf(client).all(sql, parameters)),
    first: (sql, parameters) => lend((client) => statementsOf(client).first(sql, parameters)),
    run: (sql, parameters) => lend((client) => statementsOf(client).run(sql, parameters)),
    async transaction(run) {
      for (let tries = 1; ; tries++) {
        try {
          return await transact('BEGIN', run)
        } catch (error) {
          if (tries === TRIES_MAX || !isRepeatable(error)) throw error
        }
      }
    },
    async snapshot(run) {
      try {
        return await transact('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY', async (tx) => {
          await tx.run(`SET LOCAL statement_timeout = ${Math.trunc(readTimeoutMs)}`)
          return run(tx)
        })
      } catch (error) {
        throw isTimeout(error) ? new ApiError('read_timeout', { cause: error }) : error
      }
    },
    close: () => pool.end(),
    figures: () => ({ store: 'postgres', faults }),
  }
}

/** Whether a statement has certainly ended: by an answer of PostgreSQL, or by an error of ours between statements. */
function isKnown(error: unknown): boolean {
  return error instanceof ApiError || error instanceof DatabaseError
}

/** Runs statements on a connection. They throw what it throws. */
export function statementsOf(client: ClientBase): Statements {
  async function all<Found>(sql: string, parameters: Parameters = {}): Promise<Found[]> {
    return (await client.query(bindNames(sql, parameters))).rows as Found[]
  }
  return {
    all,
    async first<Found>(sql: string, parameters?: Parameters) {
      return (await all<Found>(sql, parameters))[0]
    },
    async run(sql, parameters = {}) {
      return (await client.query(bindNames(sql, parameters))).rowCount ?? 0
    },
  }
}

/** The parameters that `pg` and its parser of addresses read. */
const KNOWN: readonly string[] = [
  ...['user', 'password', 'host', 'port', 'options', 'client_encoding'],
  ...['ssl', 'sslmode', 'sslcert', 'sslkey', 'sslrootcert', 'sslnegotiation', 'uselibpqcompat'],
  ...['application_name', 'fallback_application_name', 'query_timeout', 'statement_timeout'],
  ...['lock_timeout', 'idle_in_transaction_session_timeout'],
]

/**
 * Refuses parameters that the driver ignores: a connection whose TLS was misspelled would not be encrypted.
 *
 * @throws MigrationError in one line, with the name of the parameter and no part of a password
 */
function requireKnownParameters(url: string): void {
  const [, query = ''] = /^[^?#]*\?([^#]*)/s.exec(url) ?? []
  for (const [name, value] of new URLSearchParams(query)) {
    if (KNOWN.includes(name) && value !== '') continue
    // With an @, it may be the rest of a password that contains a question mark.
    if (query.includes('@')) throw new MigrationError('WEFT_META_URL: its parameters are not valid')
    const known = KNOWN.includes(name) ? 'has no value' : `is not one of ${KNOWN.join(', ')}`
    throw new MigrationError(`WEFT_META_URL: the parameter ${JSON.stringify(name)} ${known}`)
  }
}
