/** The process: settings, dependencies, listening, signals, exit codes. Nothing imports it. */
import { lookup } from 'node:dns/promises'
import { pino } from 'pino'
import packageJson from '../package.json' with { type: 'json' }
import { type AlertRunner, startAlertRunner } from './alerts/alert-runner.ts'
import { type Config, ConfigError, readConfig, SHUTDOWN_MS_MAX } from './config.ts'
import type { Deps } from './deps.ts'
import type { App } from './http/app-type.ts'
import { createClock } from './http/clock.ts'
import { newId } from './http/new-id.ts'
import { type Remover, startRemover } from './retention/remover.ts'
import { SCOPES } from './schemas/access/key.ts'
import { collectWhenIdle } from './threads/idle-gc.ts'
import { createTrainer, type Trainer } from './training/worker/trainer.ts'

/** Errors that an operator can fix. */
const EXPECTED_ERRORS: readonly string[] = [
  'DirectoryLockedError',
  'MigrationError',
  'ModelsFileError',
  'GrpcPortError',
]

const REDACTED = ['req.headers', 'headers', '*.authorization', '*.api_key', '*.password']

/** Limits of the log's buffer: bytes until it is written, of one write, and until lines are dropped; milliseconds. */
const LOG_BUFFER = {
  minLength: 16 * 1024,
  maxWrite: 64 * 1024,
  maxLength: 1024 * 1024,
  periodicFlush: 100,
}

async function main(): Promise<void> {
  // Without a listener the signal ends the process, and a start with migrations can take minutes.
  let isReloadWanted = false
  let reload = (): void => {
    isReloadWanted = true
  }
  process.on('SIGHUP', () => reload())
  // Faults of settings and store are reported before loading what only a running server needs.
  const config = readConfig()
  const output = openLogOutput()
  const options = { level: config.logLevel, redact: REDACTED }
  const log = pino(options, output)
  /** Writes a line without buffering: the next step can take long on a slow machine or with many calls to migrate. */
  const logStart = (fields: object, message: string) => {
    log.info(fields, message)
    output.flush()
  }
  logStart({ version: packageJson.version, data_dir: config.dataDir }, 'starting')
  const { openDeps } = await import('./deps.ts')
  const deps = await openDeps(config, {
    onMigrate: (store, count) => logStart({ store, migrations: count }, 'applying migrations'),
    onBuildFailure: (err, project_id) =>
      log.error({ err, project_id }, 'hours of statistics are not built: queries read the rows'),
  })
  const { buildApp } = await import('./app.ts')
  const app = await buildApp(config, deps, { ...options, stream: output })
  await logMissingFiles(app, deps)
  // Signal handlers precede listening: a supervisor may send a signal as soon as the port is open.
  const { promise: started, resolve: noteStarted } =
    Promise.withResolvers<readonly InBackground[]>()
  let isStopping = false
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.on(signal, () => {
      // Ctrl-C comes twice below npm: from the terminal, and from npm, which passes it on.
      if (isStopping) return
      isStopping = true
      void shutDown(app, deps, started, signal)
    })
  }
  reload = () => reloadModels(app, deps)
  if (isReloadWanted) reload()
  try {
    // For `localhost` Fastify opens a second server, which has neither the drain nor the error handler of the first.
    const { address } = await lookup(config.host, { order: 'ipv4first' })
    await app.listen({ host: address, port: config.port })
  } catch (error) {
    await app.close()
    await deps.close()
    throw error
  }
  await announceFirstKey(app, config, deps)
  collectWhenIdle(process.memoryUsage.rss)
  const remover = startRemover({
    stores: deps,
    defaultDays: config.retentionDays,
    auditDays: config.auditRetentionDays,
    log: (level, fields, message) => app.log[level](fields, message),
  })
  const trainer = config.trainer
    ? [awaitJobs(app, deps, () => startTrainer(app, deps, config))]
    : []
  noteStarted([...trainer, ...startAlerts(app, deps, config), remover])
}

type InBackground = Trainer | Remover | AlertRunner

/**
 * Buffers log lines briefly, because a system call per line costs a request as much as its validation. A full disk, or
 * a reader that exits before the server, only loses lines.
 */
function openLogOutput() {
  const output = pino.destination({ ...LOG_BUFFER, sync: true })
  // The stream's own would wait forever for a full disk, or for a reader that has exited.
  output.flushSync = () => output.flush()
  process.on('exit', () => output.flush())
  for (const stream of [output, process.stderr]) stream.on('error', () => undefined)
  return output
}

/** Logs one line if files that the database names are missing. */
async function logMissingFiles(app: App, deps: Deps): Promise<void> {
  const { missing } = await deps.checkStore()
  if (Object.values(missing).every((count) => count === 0)) return
  app.log.warn({ missing }, 'files are missing in the data directory')
}

/** Starts the trainer with the first job: without jobs its thread would only take memory. */
function awaitJobs(app: App, deps: Deps, start: () => Trainer): Trainer {
  let trainer: Trainer | null = null
  let isStopped = false
  const begin = (): void => {
    if (!isStopped) trainer ??= start()
  }
  const stopListening = deps.trainingQueue.onChange(begin)
  hasUnfinishedJobs(deps).then(
    (has) => has && begin(),
    (error) => app.log.error({ err: error }, 'the training queue failed'),
  )
  return {
    async stop() {
      isStopped = true
      stopListening()
      await trainer?.stop()
    },
  }
}

async function hasUnfinishedJobs({ trainingJobs }: Deps): Promise<boolean> {
  const listing = {
    model_id: null,
    after: null,
    order: 'asc',
    count: 1,
    projects: ['*'],
  } as const
  const [queued, running] = await Promise.all([
    trainingJobs.listJobs({ ...listing, status: 'queued' }),
    trainingJobs.listJobs({ ...listing, status: 'running' }),
  ])
  return queued.length + running.length > 0
}

/** Trains jobs of `tiny` like any worker, with a key that is valid until the process ends. */
function startTrainer(app: App, deps: Deps, config: Config): Trainer {
  const token = deps.keys.createProcessKey({
    svc_user_id: 'trainer',
    svc_username: 'trainer',
    scopes: ['worker'],
    projects: ['*'],
  })
  return createTrainer({
    baseUrl: ownUrl(app),
    token,
    workerId: 'built-in',
    workerVersion: packageJson.version,
    baseModel: 'tiny',
    modelPath: config.tinyModel,
    bodyBytesMax: config.trainingBodyBytesMax,
    log: ({ level, message, ...names }) => app.log[level](names, message),
  })
}

/** Starts the checks of alerts, if this process does them. */
function startAlerts(app: App, deps: Deps, { alertIntervalMs }: Config): AlertRunner[] {
  if (alertIntervalMs === null) return []
  const runner = startAlertRunner({
    stores: deps,
    webhooks: deps.webhooks,
    intervalMs: alertIntervalMs,
    nowUs: createClock().nowUs,
    newId,
    log: (level, fields, message) => app.log[level](fields, message),
  })
  return [runner]
}

/** The URL at which the server reaches itself. */
function ownUrl(app: App): string {
  const [bound] = app.addresses()
  if (typeof bound !== 'object') throw new Error('the server does not listen')
  const { address, family, port } = bound
  if (address === '0.0.0.0') return `http://127.0.0.1:${port}`
  if (address === '::') return `http://[::1]:${port}`
  return family === 'IPv6' ? `http://[${address}]:${port}` : `http://${address}:${port}`
}

/** Reloads the models file; an invalid one is logged and changes nothing. */
function reloadModels(app: App, deps: Deps): void {
  try {
    deps.reloadModels()
    app.log.info({ models: deps.models.listEntries().length }, 'models reloaded')
  } catch (error) {
    app.log.error(describeFailure(error))
  }
}

/** Creates the first key of a new database and prints it once, outside the log. */
async function announceFirstKey(app: App, config: Config, deps: Deps): Promise<void> {
  if (config.bootstrapKey !== null || (await deps.keys.listKeys()).length > 0) return
  const { secret } = await deps.keys.createKey({
    svc_user_id: 'admin',
    svc_username: 'admin',
    scopes: SCOPES,
    projects: ['*'],
  })
  const link = `${ownUrl(app)}/#key=${secret}`
  process.stderr.write(
    `\nYour API key, shown this once: ${secret}\nThe page, signed in: ${link}\n\n`,
  )
}

/** @param started - resolves when the start is over: a first key that was made is shown, too */
async function shutDown(
  app: App,
  deps: Deps,
  started: Promise<readonly InBackground[]>,
  signal: string,
): Promise<void> {
  app.log.info({ signal }, 'draining')
  setTimeout(() => process.exit(1), SHUTDOWN_MS_MAX).unref()
  try {
    // The trainer returns its job before requests are refused.
    await Promise.all((await started).map((work) => work.stop()))
    await app.close()
    await deps.close()
    app.log.info('stopped')
    process.exit(0)
  } catch (error) {
    app.log.fatal({ err: error }, 'shutdown failed')
    process.exit(1)
  }
}

/** One line for errors that an operator can fix; the stack for bugs. */
function describeFailure(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const { code, address, hostname, port } = error as NodeJS.ErrnoException & {
    address?: string
    hostname?: string
    port?: number
  }
  if (code === 'EADDRINUSE') return `the address ${address}:${port} is taken (set WEFT_PORT)`
  if (code === 'EACCES' || code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND') {
    const place = `${address ?? hostname ?? 'WEFT_HOST'}${port === undefined ? '' : `:${port}`}`
    return `cannot listen on ${place}: ${code} (set WEFT_HOST or WEFT_PORT)`
  }
  if (error.name === 'DataDirectoryError') return `${error.message} (set WEFT_DATA_DIR)`
  const isExpected = error instanceof ConfigError || EXPECTED_ERRORS.includes(error.name)
  return isExpected ? error.message : (error.stack ?? error.message)
}

main().catch((error: unknown) => {
  process.stderr.write(`weft: ${describeFailure(error)}\n`)
  process.exit(1)
})
