/** The process: settings, dependencies, listening, signals, exit codes. Nothing imports it. */

import { buildApp } from './app.ts'
import { type Config, ConfigError, readConfig } from './config.ts'
import { type Deps, openDeps } from './deps.ts'
import { SCOPES } from './domain/permissions.ts'
import type { App } from './http/app-type.ts'

/** Limit: whatever happens, the process is gone this long after a signal. */
const SHUTDOWN_MS_MAX = 9_500

const REDACTED = ['req.headers', 'headers', '*.authorization', '*.api_key', '*.password']

async function main(): Promise<void> {
  const config = readConfig()
  const deps = await openDeps(config)
  const app = await buildApp(config, deps, {
    level: config.logLevel,
    redact: REDACTED,
  })
  // Before the address is open: who sees it open may send a signal at once.
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.once(signal, () => void shutDown(app, deps, signal))
  }
  process.on('SIGHUP', () => reloadModels(app, deps))
  try {
    await app.listen({ host: config.host, port: config.port })
  } catch (error) {
    await deps.close()
    throw error
  }
  announceFirstKey(config, deps)
}

/** Reads the models file anew; a wrong one is logged and the models stay as they were. */
function reloadModels(app: App, deps: Deps): void {
  try {
    deps.reloadModels()
    app.log.info({ models: deps.models.listEntries().length }, 'models read anew')
  } catch (error) {
    app.log.error(describeFailure(error))
  }
}

/** Makes the first key of a fresh database and shows it once, apart from the log. */
function announceFirstKey(config: Config, deps: Deps): void {
  if (config.bootstrapKey !== null || deps.keys.listKeys().length > 0) return
  const { secret } = deps.keys.createKey({
    svc_user_id: 'admin',
    svc_username: 'admin',
    scopes: SCOPES,
    projects: ['*'],
  })
  process.stderr.write(`\nYour API key, shown this once: ${secret}\n\n`)
}

async function shutDown(app: App, deps: Deps, signal: string): Promise<void> {
  app.log.info({ signal }, 'draining')
  setTimeout(() => process.exit(1), SHUTDOWN_MS_MAX).unref()
  try {
    await app.close()
    await deps.close()
    app.log.info('stopped')
    process.exit(0)
  } catch (error) {
    app.log.fatal({ err: error }, 'shutdown failed')
    process.exit(1)
  }
}

/** One clear line for what a person can mend; the stack for what is a bug. */
function describeFailure(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const { code, address, port } = error as NodeJS.ErrnoException & {
    address?: string
    port?: number
  }
  if (code === 'EADDRINUSE') return `the address ${address}:${port} is taken (set WEFT_PORT)`
  if (code === 'EACCES' || code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND') {
    return `cannot listen on ${address ?? 'WEFT_HOST'}:${port ?? ''} (${code})`
  }
  const isExpected =
    error instanceof ConfigError ||
    ['DataDirectoryError', 'MigrationError', 'ModelsFileError'].includes(error.name)
  return isExpected ? error.message : (error.stack ?? error.message)
}

main().catch((error: unknown) => {
  process.stderr.write(`weft: ${describeFailure(error)}\n`)
  process.exit(1)
})
