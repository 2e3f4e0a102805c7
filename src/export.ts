/** Command line: writes a project of the stores that the settings name to files, with or without a server on them. */
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { runCommand, UsageError } from './command-line.ts'
import { readConfig } from './config.ts'
import { openProjectSource } from './deps.ts'
import { exportProject } from './project-files/export-project.ts'
import { EXPORT_FORMATS, RECORD_KIND_NAMES } from './project-files/record-kinds.ts'

const USAGE = `usage:
  weft export ENTITY/PROJECT --to DIR [--format jsonl|parquet]

Writes the calls, feedback, objects, tables and files of a project to DIR, which must be missing or empty. Servers may be
running. Deleted calls, and ends without a start, are left out. weft import DIR reads it back.

The stores are those of weft start: WEFT_DATA_DIR; or with WEFT_STORE=clickhouse the calls of WEFT_CLICKHOUSE_URL, and
everything else of WEFT_META_URL, or of WEFT_DATA_DIR without it.

Exit codes: 0 for a complete export, 2 when bytes of files were missing in the data directory, 1 for none.`
const EXIT_SOURCE_DAMAGED = 2
async function main(args: string[]): Promise<void> {
  const { values, positionals } = parseArgs({
    args,
    options: { to: { type: 'string' }, format: { type: 'string', default: 'jsonl' } },
    allowPositionals: true,
  })
  const [project_id, ...others] = positionals
  if (project_id === undefined || others.length > 0) throw new UsageError('one project is needed')
  if (!values.to) throw new UsageError('--to is required')
  const format = EXPORT_FORMATS.find((name) => name === values.format)
  if (!format) throw new UsageError(`--format must be ${EXPORT_FORMATS.join(' or ')}`)
  const config = readConfig()
  const source = await openProjectSource(config, project_id)
  try {
    const target = { folder: resolve(values.to), format, project_id }
    const { records, missing } = await exportProject(source, target)
    const counts = RECORD_KIND_NAMES.map((name) => `${records[name]} ${name.replace('_', ' ')}`)
    process.stdout.write(`${project_id} is exported to ${values.to}: ${counts.join(', ')}\n`)
    if (missing === 0) return
    process.stderr.write(`weft: the bytes of ${missing} files are missing in ${config.dataDir}\n`)
    process.exitCode = EXIT_SOURCE_DAMAGED
  } finally {
    await source.close()
  }
}

await runCommand(USAGE, main)
