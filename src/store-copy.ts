/** Command line: copies the calls of a project into ClickHouse. The server that uses the data directory must be stopped. */
import { parseArgs } from 'node:util'
import { ConfigError, readConfig } from './config.ts'
import { openCallsElsewhere, openNodeStores } from './deps.ts'
import { copyProject } from './store/copy/copy-project.ts'

const USAGE =
  'usage: npm run store:copy -- --from sqlite --to clickhouse --project ENTITY/PROJECT [--project ...]'
const BAR_CELLS = 40

async function main(args: readonly string[]): Promise<void> {
  const text = { type: 'string' } as const
  const { values } = parseArgs({
    args: [...args],
    options: { from: text, to: text, project: { ...text, multiple: true } },
  })
  const { from, to, project: projects = [] } = values
  if (from !== 'sqlite' || to !== 'clickhouse' || projects.length === 0) throw new Error(USAGE)
  const config = readConfig()
  if (config.store !== 'clickhouse') throw new ConfigError('WEFT_STORE must be clickhouse')
  const node = await openNodeStores(config)
  // A failure closes the node, too.
  const stores = await openCallsElsewhere(node, config)
  try {
    for (const project_id of projects) {
      const onProgress = (step: string, calls: number, total: number) =>
        void process.stderr.write(`\r${renderBar(calls, total)} ${calls}/${total} ${step}  `)
      const options = { project_id, refScheme: config.refScheme, onProgress }
      const { calls, storage_size_bytes, checksum } = await copyProject(node, stores, options)
      process.stderr.write('\n')
      const told = `${calls} calls, ${storage_size_bytes} bytes, checksum ${checksum}`
      process.stdout.write(`${project_id}: ${told}, the same in both\n`)
    }
  } finally {
    await stores.close()
  }
}

function renderBar(calls: number, total: number): string {
  const full =
    total === 0 ? BAR_CELLS : Math.min(BAR_CELLS, Math.floor((calls / total) * BAR_CELLS))
  return '█'.repeat(full) + '░'.repeat(BAR_CELLS - full)
}

main(process.argv.slice(2)).catch((error: unknown) => {
  process.stderr.write(`\nweft: ${error instanceof Error ? error.message : String(error)}\n`)
  process.exitCode = 1
})
