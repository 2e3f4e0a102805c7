/** Command line: reads an exported project back into the stores that the settings name. */
import { createReadStream, existsSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { runCommand, UsageError } from './command-line.ts'
import { readConfig } from './config.ts'
import { openDeps } from './deps.ts'
import { type Manifest, readManifest } from './project-files/export-folder.ts'
import { importProject } from './project-files/import-project.ts'
import { RECORD_KIND_NAMES } from './project-files/record-kinds.ts'

const USAGE = `usage:
  weft import DIR

Reads a project that weft export has written, under its own name. No server may be running on WEFT_DATA_DIR. What is there
already stays: an import that was interrupted can be repeated.`

async function main(args: string[]): Promise<void> {
  const { positionals } = parseArgs({ args, options: {}, allowPositionals: true })
  const [folder, ...others] = positionals
  if (folder === undefined || others.length > 0) throw new UsageError('one folder is needed')
  const manifest: Manifest = readManifest(folder)
  const config = readConfig()
  const deps = await openDeps(config)
  try {
    await importProject(deps, {
      folder,
      manifest,
      refScheme: config.refScheme,
      openFile(path) {
        const file = join(folder, path)
        return existsSync(file) ? createReadStream(file) : null
      },
    })
  } finally {
    await deps.close()
  }
  const counts = RECORD_KIND_NAMES.map(
    (name) => `${manifest.records[name]} ${name.replace('_', ' ')}`,
  )
  process.stdout.write(`${manifest.project_id} is imported: ${counts.join(', ')}\n`)
}

await runCommand(USAGE, main)
