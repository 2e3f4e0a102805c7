/** Other servers for spans, with SQLite and their default settings: `npm run tools -- phoenix mlflow`. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import Database from 'better-sqlite3'
import { findCommand, type PythonToolName } from '../tools/find-tool.ts'

/** How long a server may take to listen. */
const START_MS_MAX = 120_000

export interface Peer {
  readonly url: string
  /** Sent with each request. */
  readonly headers: Readonly<Record<string, string>>
  /** Spans in its database. */
  stored(): number
  stop(): Promise<void>
}

interface PeerKind {
  readonly file: string
  readonly healthPath: string
  readonly headers: Readonly<Record<string, string>>
  readonly env: (directory: string, ports: readonly number[]) => Record<string, string>
  readonly args: (directory: string, ports: readonly number[]) => readonly string[]
}

type PeerName = Exclude<PythonToolName, 'litellm'>

const KINDS: Readonly<Record<PeerName, PeerKind>> = {
  phoenix: {
    file: 'phoenix.db',
    healthPath: '/healthz',
    headers: {},
    env: (directory, [http, grpc]) => ({
      PHOENIX_WORKING_DIR: directory,
      PHOENIX_HOST: '127.0.0.1',
      PHOENIX_PORT: String(http),
      PHOENIX_GRPC_PORT: String(grpc),
      PHOENIX_TELEMETRY_ENABLED: 'false',
      PHOENIX_SQL_DATABASE_URL: `sqlite:///${join(directory, 'phoenix.db')}`,
    }),
    args: () => ['serve'],
  },
  mlflow: {
    file: 'mlflow.db',
    healthPath: '/health',
    headers: { 'x-mlflow-experiment-id': '0' },
    env: () => ({ MLFLOW_DISABLE_TELEMETRY: 'true' }),
    args: (directory, [http]) => [
      ...['server', '--host', '127.0.0.1', '--port', String(http), '--workers', '1'],
      ...['--backend-store-uri', `sqlite:///${join(directory, 'mlflow.db')}`],
      ...['--default-artifact-root', join(directory, 'artifacts')],
    ],
  },
}

/** @returns null, and says so, where it is not installed */
export async function startPeer(name: PeerName, parent: string): Promise<Peer | null> {
  const command = findCommand(name)
  if (command === null) {
    console.error(`${name} is left out: npm run tools -- ${name}`)
    return null
  }
  const { file, healthPath, headers, env, args } = KINDS[name]
  const directory = join(parent, name)
  mkdirSync(directory)
  const ports = [await freePort(), await freePort()]
  const server = spawn(command, args(directory, ports), {
    cwd: directory,
    env: { PATH: process.env.PATH, HOME: directory, ...env(directory, ports) },
    stdio: 'ignore',
    // Its workers are separate processes, which end with it.
    detached: true,
  })
  const stop = async () => {
    if (server.exitCode !== null || server.pid === undefined) return
    process.kill(-server.pid, 'SIGKILL')
    await once(server, 'exit')
  }
  const url = `http://127.0.0.1:${ports[0]}`
  for (const end = performance.now() + START_MS_MAX; ; await delay(200)) {
    const isUp = await fetch(url + healthPath).then(
      ({ ok }) => ok,
      () => false,
    )
    if (isUp) break
    if (performance.now() < end && server.exitCode === null) continue
    await stop()
    throw new Error(`${name} does not start`)
  }
  return { url, headers, stored: () => countSpans(join(directory, file)), stop }
}

function countSpans(file: string): number {
  if (!existsSync(file)) return 0
  const db = new Database(file, { readonly: true })
  try {
    return db.prepare('SELECT count(*) FROM spans').pluck().get() as number
  } finally {
    db.close()
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  return typeof address === 'object' && address !== null ? address.port : 0
}
