/** Command line: checks what a start of the server needs, changes nothing, and reports what is wrong and what to do. */
import {
  accessSync,
  constants,
  existsSync,
  mkdtempSync,
  rmdirSync,
  statfsSync,
  statSync,
} from 'node:fs'
import { connect, createServer } from 'node:net'
import { dirname, join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { runCommand } from './command-line.ts'
import { type Config, readConfig, readSecret } from './config.ts'
import { readModelsFile } from './inference/models/models-file.ts'
import { readUpstreams } from './inference/models/upstream-settings.ts'
import {
  closeDatabase,
  DATABASE_FILE,
  hasDatabase,
  openReadOnlyDatabase,
} from './store/sqlite/db/connection.ts'
import { readOwner } from './store/sqlite/db/directory-lock.ts'
import { countPending } from './store/sqlite/db/migrate.ts'

const USAGE = `usage:
  weft doctor

Checks the settings, the data directory and its disk, the clock, the database, the port, the databases of other stores,
the models file and the servers that it names. It changes nothing, also beside a running server.

Exit codes: 0 when no check fails, 1 when one does.`

/** Free bytes: below the first writes soon fail, below the second a migration of a large database may. */
const FREE_BYTES_MIN = 64 * 1024 ** 2
const FREE_BYTES_ENOUGH = 1024 ** 3
/** Before it, the clock of the machine was never set. */
const CLOCK_MS_MIN = Date.UTC(2026, 0, 1)
const CLOCK_SKEW_MS_MAX = 60_000
/** Limit: time to reach another server. */
const REACH_MS_MAX = 5_000

type Level = 'ok' | 'warn' | 'fail'

interface Finding {
  readonly level: Level
  /** What was found, and what to do about it unless it is ok. */
  readonly text: string
}

const ok = (text: string): Finding => ({ level: 'ok', text })
const warn = (text: string): Finding => ({ level: 'warn', text })
const fail = (text: string): Finding => ({ level: 'fail', text })

/** Checks by subject; an error that one throws is a failure with its message. */
const CHECKS: Readonly<Record<string, (config: Config) => Finding[] | Promise<Finding[]>>> = {
  'data directory': checkDirectory,
  disk: checkDisk,
  clock: checkClock,
  database: checkDatabase,
  port: checkPorts,
  stores: checkStores,
  models: checkModels,
}

async function main(args: string[]): Promise<void> {
  parseArgs({ args, options: {} })
  print('node', ok(`${process.versions.node} on ${process.platform} ${process.arch}`))
  const config = readConfig()
  print('settings', ok('are valid'))
  let failed = 0
  for (const [subject, check] of Object.entries(CHECKS)) {
    const findings = await run(check, config)
    for (const finding of findings) print(subject, finding)
    failed += findings.filter(({ level }) => level === 'fail').length
  }
  if (failed > 0) throw new Error(`${failed} of the checks failed`)
}

async function run(check: (typeof CHECKS)[string], config: Config): Promise<Finding[]> {
  try {
    return await check(config)
  } catch (error) {
    return [fail((error as Error).message)]
  }
}

function print(subject: string, { level, text }: Finding): void {
  process.stdout.write(`${level.padEnd(4)}  ${subject}: ${text}\n`)
}

/** The directory itself, or the one that a start would create it in. */
function nearestDirectory(path: string): string {
  return existsSync(path) ? path : nearestDirectory(dirname(path))
}

function checkDirectory({ dataDir }: Config): Finding[] {
  const path = resolve(dataDir)
  const nearest = nearestDirectory(path)
  if (!statSync(nearest).isDirectory())
    return [fail(`${nearest} is not a directory (set WEFT_DATA_DIR)`)]
  try {
    accessSync(nearest, constants.R_OK | constants.W_OK | constants.X_OK)
    // The rights say nothing of a file system that is read-only or full.
    rmdirSync(mkdtempSync(join(nearest, '.weft-doctor-')))
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    const remedy = code === 'ENOSPC' ? 'free some space' : 'change its owner or set WEFT_DATA_DIR'
    return [fail(`cannot write to ${nearest}: ${code} (${remedy})`)]
  }
  return [ok(nearest === path ? `${path} is writable` : `${path} can be created`)]
}

function checkDisk({ dataDir }: Config): Finding[] {
  const { bavail, bsize } = statfsSync(nearestDirectory(resolve(dataDir)))
  const free = bavail * bsize
  const text = `${Math.floor(free / 1e6)} MB are free`
  if (free < FREE_BYTES_MIN) return [fail(`${text}: free some space, or writes are refused`)]
  if (free < FREE_BYTES_ENOUGH) return [warn(`${text}: a migration may need more`)]
  return [ok(text)]
}

function checkClock({ dataDir }: Config): Finding[] {
  const now = Date.now()
  const text = `is ${new Date(now).toISOString()}`
  if (now < CLOCK_MS_MIN) return [fail(`${text}, in the past: set it`)]
  const database = statSync(join(dataDir, DATABASE_FILE), { throwIfNoEntry: false })
  if (database !== undefined && database.mtimeMs > now + CLOCK_SKEW_MS_MAX) {
    const written = new Date(database.mtimeMs).toISOString()
    return [fail(`${text}, and the database was written at ${written}: set the clock`)]
  }
  return [ok(text)]
}

function checkDatabase({ dataDir }: Config): Finding[] {
  if (!hasDatabase(dataDir)) return [ok('there is none yet; a start creates it')]
  const owner = readOwner(dataDir)
  const db = openReadOnlyDatabase(join(dataDir, DATABASE_FILE))
  try {
    const pending = countPending(db)
    const state = pending === 0 ? 'is up to date' : `needs ${pending} migrations, run by a start`
    const isBusy = owner === null ? '' : `; the process ${owner} uses it, a second start is refused`
    const found = [ok(`${state}${isBusy}`)]
    if (pending > 0) found.push(warn('make a backup first: migrations cannot be undone'))
    return found
  } finally {
    closeDatabase(db)
  }
}

async function checkPorts({ host, port, otlpGrpcPort, dataDir }: Config): Promise<Finding[]> {
  const isRunning = hasDatabase(dataDir) && readOwner(dataDir) !== null
  const check = async (wanted: number, variable: string) => {
    const code = await tryListen(host, wanted)
    if (code === null) return ok(`${host}:${wanted} can be listened on`)
    if (code === 'EADDRINUSE' && isRunning)
      return ok(`${host}:${wanted} is taken, as a server is running`)
    if (code === 'EADDRINUSE')
      return fail(`${host}:${wanted} is taken by another program (set ${variable})`)
    return fail(`cannot listen on ${host}:${wanted}: ${code} (set WEFT_HOST or ${variable})`)
  }
  const grpc = otlpGrpcPort === null ? [] : [await check(otlpGrpcPort, 'WEFT_OTLP_GRPC_PORT')]
  return [await check(port, 'WEFT_PORT'), ...grpc]
}

/** Returns the code of the error, or null without one. */
function tryListen(host: string, port: number): Promise<string | null> {
  return new Promise((done) => {
    const server = createServer()
    server.once('error', ({ code }: NodeJS.ErrnoException) => done(code ?? 'unknown'))
    server.listen({ host, port }, () => server.close(() => done(null)))
  })
}

async function checkStores({ clickhouse, metaUrl }: Config): Promise<Finding[]> {
  const targets = [
    { variable: 'WEFT_CLICKHOUSE_URL', url: clickhouse?.url ?? null },
    { variable: 'WEFT_META_URL', url: metaUrl },
  ]
  const used = targets.flatMap(({ variable, url }) => (url === null ? [] : [{ variable, url }]))
  return Promise.all(used.map(({ variable, url }) => reach(variable, url)))
}

/** Whether the models file can be used, and each server that it names be reached. */
async function checkModels({
  modelsFile,
  modelsFileRequired,
  proxies,
}: Config): Promise<Finding[]> {
  const file = readModelsFile(modelsFile, modelsFileRequired)
  if (file === null) return [ok(`there is no ${modelsFile}: tiny is the only model`)]
  const options = { path: modelsFile, readSecret, proxies }
  const upstreams = file.entries.flatMap((entry, index) =>
    readUpstreams(entry, `models[${index}]`, options).map(({ baseUrl }) => baseUrl),
  )
  const found = ok(`${modelsFile} has ${file.entries.length} models`)
  if (proxies !== null) return [found, ok('their servers are reached by a proxy: not checked')]
  const reached = [...new Set(upstreams)].map((url) => reach('base_url', url))
  return [found, ...(await Promise.all(reached))]
}

const DEFAULT_PORTS: Readonly<Record<string, number>> = {
  'http:': 80,
  'https:': 443,
  'postgres:': 5432,
  'postgresql:': 5432,
}

/** Opens a connection to the address of a URL, which may hold a password: only its host is printed. */
async function reach(setting: string, url: string): Promise<Finding> {
  const { hostname, port, protocol } = new URL(url)
  const target = {
    host: hostname.replace(/^\[|\]$/g, ''),
    port: Number(port) || (DEFAULT_PORTS[protocol] ?? 0),
  }
  const text = `${hostname}:${target.port}`
  const code = await new Promise<string | null>((done) => {
    const socket = connect({ ...target, timeout: REACH_MS_MAX })
    const end = (result: string | null) => {
      socket.destroy()
      done(result)
    }
    socket.once('connect', () => end(null))
    socket.once('timeout', () => end('ETIMEDOUT'))
    socket.once('error', ({ code = 'unknown' }: NodeJS.ErrnoException) => end(code))
  })
  if (code === null) return ok(`${text} is reached (${setting})`)
  return fail(`${text} is not reached: ${code} (start it, or change ${setting})`)
}

await runCommand(USAGE, main)
