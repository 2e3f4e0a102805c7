/** Several servers on one ClickHouse and PostgreSQL, behind a proxy. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  createDatabase as createCallsDatabase,
  hasClickHouse,
} from '../store/clickhouse/clickhouse-server.ts'
import { createDatabase, hasPostgres } from '../store/postgres/postgres-server.ts'
import { openRoundRobinProxy, type RoundRobinProxy } from './round-robin-proxy.ts'
import { type ServerProcess, startServer } from './server-process.ts'

export const hasSharedStores = hasClickHouse && hasPostgres

export interface Processes {
  /** Of the proxy. */
  readonly url: string
  readonly proxy: RoundRobinProxy
  /** The servers that run. */
  list(): readonly ServerProcess[]
  /** Kills one of them at random and starts another in its place. Resolves when that one listens. */
  replaceOne(): Promise<void>
  /** The same by SIGTERM. @throws Error for an exit code */
  stopOne(): Promise<void>
  /** Stops all by SIGTERM at once, and starts as many. @throws Error for an exit code */
  restart(): Promise<void>
  close(): Promise<void>
}

/** Starts them at once on empty databases. @param environment - variables that differ */
export async function startProcesses(
  count: number,
  environment: Readonly<Record<string, string>> = {},
): Promise<Processes> {
  const folder = mkdtempSync(join(tmpdir(), 'weft-processes-'))
  const [calls, rest] = [await createCallsDatabase(), await createDatabase({ isEmpty: true })]
  const proxy = await openRoundRobinProxy()
  const shared = {
    WEFT_STORE: 'clickhouse',
    WEFT_CLICKHOUSE_URL: calls.url,
    WEFT_META_URL: rest.url,
    WEFT_SESSION_SECRET: 'a secret of all processes of this server',
    WEFT_LOCAL_ACCOUNTS: 'on',
    WEFT_PUBLIC_URL: proxy.url,
    WEFT_WEBHOOK_HOSTS: '127.0.0.1',
    WEFT_ALERT_INTERVAL_MS: '1000',
    ...environment,
  }
  const start = (at: number) => startServer(join(folder, String(at)), shared)
  const servers = await Promise.all(Array.from({ length: count }, (_, at) => start(at)))
  const aim = () => proxy.setTargets(servers.map(({ url }) => url))
  aim()

  /** @param at - of the server that ends. @param end - returns its exit code; null: it was killed */
  async function replace(
    at: number,
    end: (server: ServerProcess) => Promise<number | null | undefined>,
  ): Promise<void> {
    const code = await end(servers[at] as ServerProcess)
    if (typeof code === 'number' && code !== 0) throw new Error(`a server ended with ${code}`)
    servers[at] = await start(at)
    aim()
  }
  const some = () => Math.floor(Math.random() * count)

  return {
    url: proxy.url,
    proxy,
    list: () => servers,
    replaceOne: () => replace(some(), (server) => server.kill().then(() => null)),
    stopOne: () => replace(some(), (server) => server.stop()),
    restart: async () =>
      void (await Promise.all(servers.map((_, at) => replace(at, (server) => server.stop())))),
    async close() {
      await Promise.all(servers.map((server) => server.kill()))
      await proxy.close()
      await Promise.all([calls.drop(), rest.drop()])
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
