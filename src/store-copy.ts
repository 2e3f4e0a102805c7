/**
 * Command line: copies a data directory to PostgreSQL or ClickHouse. The server that uses it must be stopped. Stores are
 * loaded when the arguments and settings are known to be right.
 */
import { parseArgs } from 'node:util'
import { runCommand, UsageError } from './command-line.ts'
import { type Config, ConfigError, readConfig } from './config.ts'

const USAGE = `usage:
  weft copy --from sqlite --to postgres
  weft copy --from sqlite --to clickhouse [--project ENTITY/PROJECT ...]

Copies WEFT_DATA_DIR, whose server must be stopped: to ClickHouse (WEFT_CLICKHOUSE_URL) all calls, or those of the
projects named; to PostgreSQL (WEFT_META_URL), whose tables must be empty, everything else. WEFT_STORE is clickhouse.`
const BAR_CELLS = 40

async function main(args: string[]): Promise<void> {
  const text = { type: 'string' } as const
  const options = { from: text, to: text, project: { ...text, multiple: true } } as const
  const { from, to, project: projects = [] } = parseArgs({ args, options }).values
  if (from !== 'sqlite') throw new UsageError('--from must be sqlite')
  if (to !== 'postgres' && to !== 'clickhouse')
    throw new UsageError('--to must be postgres or clickhouse')
  if (to === 'postgres' && projects.length > 0)
    throw new UsageError('--project needs --to clickhouse: only calls are copied by project')
  const config = readConfig()
  if (config.store !== 'clickhouse') throw new ConfigError('WEFT_STORE must be clickhouse')
  if (to === 'postgres') await copyToPostgres(config)
  else await copyToClickHouse(config, projects)
}

async function copyToPostgres({ dataDir, metaUrl }: Config): Promise<void> {
  if (metaUrl === null) throw new ConfigError('WEFT_META_URL must be set')
  const { copyOtherTables } = await import('./store/copy/copy-other-tables.ts')
  const { CHUNK_BYTES } = await import('./store/postgres/blobs/blobs.ts')
  const { openPostgresTarget } = await import('./store/postgres/copy/copy-target.ts')
  const { openSqliteSource } = await import('./store/sqlite/copy/copy-source.ts')
  const source = openSqliteSource(dataDir, CHUNK_BYTES)
  try {
    const target = await openPostgresTarget(metaUrl)
    try {
      const copied = await copyOtherTables(source, target, (step, table, rows, total) =>
        printProgress(rows, total, `${step} ${table}`),
      )
      endProgress()
      for (const { table, rows, checksum } of copied) {
        if (rows === 0) continue
        process.stdout.write(`${table}: ${rows} rows, checksum ${checksum}, the same in both\n`)
      }
    } finally {
      await target.close()
    }
    for (const [kind, count] of Object.entries(source.missing)) {
      if (count === 0) continue
      process.stderr.write(`not copied, because they are missing in ${dataDir}: ${count} ${kind}\n`)
    }
  } finally {
    source.close()
  }
}

/** @param given - projects; when empty, all that have calls */
async function copyToClickHouse(config: Config, given: readonly string[]): Promise<void> {
  const { requireDatabase } = await import('./store/sqlite/db/connection.ts')
  requireDatabase(config.dataDir)
  const { openCallsInClickHouse, openNodeStores } = await import('./deps.ts')
  const { copyProject } = await import('./store/copy/copy-project.ts')
  const node = await openNodeStores(config)
  // A failure closes the node, too.
  const stores = await openCallsInClickHouse(node, config)
  try {
    const caller = { keyId: 'copy', project_id: '', signal: new AbortController().signal }
    const stored = await node.projects.listProjects(caller)
    const stranger = given.find((name) => !stored.includes(name))
    if (stranger !== undefined) throw new Error(`${config.dataDir} has no calls of ${stranger}`)
    const projects = given.length > 0 ? given : stored
    for (const project_id of projects) {
      const { calls, storage_size_bytes, checksum } = await copyProject(node, stores, {
        project_id,
        refScheme: config.refScheme,
        onProgress: (step, done, total) => printProgress(done, total, step),
      })
      endProgress()
      const told = `${calls} calls, ${storage_size_bytes} bytes, checksum ${checksum}`
      process.stdout.write(`${project_id}: ${told}, the same in both\n`)
    }
  } finally {
    await stores.close()
  }
}

/**
 * Overwrites one line of a terminal. Without a terminal it prints one line per finished step, since a log would
 * contain every bar.
 */
function printProgress(done: number, total: number, step: string): void {
  const told = `${done}/${total} ${step}`
  if (!process.stderr.isTTY) {
    if (done >= total) process.stderr.write(`${told}\n`)
    return
  }
  const full = total === 0 ? BAR_CELLS : Math.min(BAR_CELLS, Math.floor((done / total) * BAR_CELLS))
  process.stderr.write(`\r\x1b[K${'█'.repeat(full)}${'░'.repeat(BAR_CELLS - full)} ${told}`)
}

function endProgress(): void {
  if (process.stderr.isTTY) process.stderr.write('\n')
}

await runCommand(USAGE, (args) =>
  main(args).catch((error) => {
    endProgress()
    throw error
  }),
)
