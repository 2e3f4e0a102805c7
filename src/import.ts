/** Command line: reads an exported project, or the data of another tool, into the stores that the settings name. */
import { createReadStream, existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { runCommand, UsageError } from './command-line.ts'
import { type Config, readConfig, readSecret } from './config.ts'
import { openDeps } from './deps.ts'
import { createProjectWriter, type ImportCounts } from './imports/project-writer.ts'
import { openCheckpoint, runImport } from './imports/run-import.ts'
import { SOURCES, type SourceName } from './imports/sources.ts'
import { type Manifest, readManifest } from './project-files/export-folder.ts'
import { importProject } from './project-files/import-project.ts'
import { RECORD_KIND_NAMES } from './project-files/record-kinds.ts'
import { isProjectId } from './schemas/shapes.ts'

const TOOLS = Object.keys(SOURCES) as SourceName[]

const USAGE = `usage:
  weft import DIR
  weft import --from TOOL --project ENTITY/PROJECT [--name NAME] PATH-OR-URL

Reads a project that weft export has written, under its own name; with --from, traces, scores, datasets and prompts of
another tool. No server may be running on WEFT_DATA_DIR. What is there already stays: an import that was interrupted can be
repeated, and goes on where it ended.

  --from      ${TOOLS.join(', ')}
  --project   the project in Weft
  --name      the project of the other tool, as that names it

Keys of the other tool are environment variables: see docs/import.md.`

const OPTIONS = {
  from: { type: 'string' },
  project: { type: 'string' },
  name: { type: 'string' },
} as const

/** From one line of progress to the next. */
const PROGRESS_MS = 2000

async function main(args: string[]): Promise<void> {
  const { positionals, values } = parseArgs({ args, options: OPTIONS, allowPositionals: true })
  const [location, ...others] = positionals
  if (location === undefined || others.length > 0) {
    throw new UsageError('one folder, file or address is needed')
  }
  if (values.from === undefined) {
    if (values.project !== undefined || values.name !== undefined) {
      throw new UsageError('--project and --name need --from')
    }
    return importFolder(location)
  }
  const from = TOOLS.find((name) => name === values.from)
  if (from === undefined) throw new UsageError(`--from must be one of ${TOOLS.join(', ')}`)
  if (values.project === undefined || !isProjectId(values.project)) {
    throw new UsageError('--project must be <entity>/<project>')
  }
  await importFrom({ from, location, project_id: values.project, name: values.name ?? null })
}

async function importFolder(folder: string): Promise<void> {
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

interface ToolImport {
  readonly from: SourceName
  readonly location: string
  readonly project_id: string
  readonly name: string | null
}

async function importFrom({ from, location, project_id, name }: ToolImport): Promise<void> {
  const config = readConfig()
  const target = toTarget(config, project_id)
  const source = SOURCES[from]({ ...target, location, sourceName: name, readSecret })
  const where = /^https?:/.test(location) ? location : resolve(location)
  const deps = await openDeps(config)
  try {
    const { write } = createProjectWriter(deps, target, () => Date.now() * 1000)
    const { counts, left } = await runImport({
      source,
      write,
      checkpoint: openCheckpoint(config.dataDir, [from, where, project_id, name]),
      onPage: createProgress(),
    })
    const lines = [
      `${project_id} has what ${location} has: ${renderCounts(counts)}`,
      ...Object.entries(left).map(([reason, count]) => `left out: ${count} ${reason}`),
      `not read, because nothing here corresponds: ${source.unread.join('; ')}`,
    ]
    process.stdout.write(`${lines.join('\n')}\n`)
  } finally {
    await deps.close()
  }
}

function toTarget(config: Config, project_id: string) {
  return {
    project_id,
    refScheme: config.refScheme,
    feedbackPayloadBytesMax: config.feedbackPayloadBytesMax,
    messageBytesMax: config.otlpBodyBytesMax,
  }
}

function renderCounts(counts: ImportCounts): string {
  return Object.entries(counts)
    .map(([name, count]) => `${count} ${name}`)
    .join(', ')
}

/** Writes what was read so far to the standard error, every two seconds at most. */
function createProgress() {
  let written = performance.now()
  return (stage: string, counts: ImportCounts) => {
    if (performance.now() - written < PROGRESS_MS) return
    written = performance.now()
    process.stderr.write(`${stage}: ${renderCounts(counts)}\n`)
  }
}

await runCommand(USAGE, main)
