/** Command line: copies the data directory to another folder, with or without a server running on it. */
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { runCommand, UsageError } from './command-line.ts'
import { readConfig } from './config.ts'
import { bringFile, checkDatabase, type FileOutcome } from './store/sqlite/backup/backup-files.ts'
import { type BackupSource, openBackupSource } from './store/sqlite/backup/backup-source.ts'
import { type BackupTarget, openBackupTarget } from './store/sqlite/backup/backup-target.ts'
import { DATABASE_FILE } from './store/sqlite/db/connection.ts'

const USAGE = `usage:
  weft backup --to DIR

Copies WEFT_DATA_DIR to DIR and verifies the copy. A server may be running on WEFT_DATA_DIR; its user must be
able to write to DIR, which must be missing or empty. WEFT_DATA_DIR=DIR weft start serves the copy.

Exit codes: 0 for a complete copy, 2 for a copy of a data directory that already had missing or damaged
files, 1 for no copy.`
const EXIT_SOURCE_DAMAGED = 2
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

interface Outcome {
  readonly counts: Readonly<Record<FileOutcome, number>>
  readonly bytes: number
}

async function main(args: string[]): Promise<void> {
  const { to } = parseArgs({ args, options: { to: { type: 'string' } } }).values
  if (!to) throw new UsageError('--to is required')
  const { dataDir } = readConfig()
  const source = await openBackupSource(dataDir)
  try {
    const target = openBackupTarget(dataDir, to)
    for (const signal of SIGNALS) process.once(signal, () => giveUp(target, signal))
    const { counts, bytes } = await discardOnFailure(target, () => copyAll(source, target, dataDir))
    const told = `${Math.ceil(bytes / 1e6)} MB with ${counts.whole} files, all checked`
    process.stdout.write(`${dataDir} is backed up to ${to}: ${told}\n`)
    if (counts.missing + counts.damaged === 0) return
    const faults = `${counts.missing} missing and ${counts.damaged} damaged files`
    process.stderr.write(`weft: the data directory ${dataDir} has ${faults}\n`)
    process.exitCode = EXIT_SOURCE_DAMAGED
  } finally {
    source.close()
  }
}

async function copyAll(
  source: BackupSource,
  target: BackupTarget,
  dataDir: string,
): Promise<Outcome> {
  await source.copyDatabase(target.databasePath, (done, total) => {
    target.syncMeanwhile()
    printProgress('pages', done, total)
  })
  const files = checkDatabase(target.databasePath)
  target.settle(DATABASE_FILE)
  const counts = { whole: 0, missing: 0, damaged: 0 }
  let bytes = statSync(target.databasePath).size
  for (const [index, file] of files.entries()) {
    target.makeFolderOf(file.path)
    const outcome = await bringFile(file, dataDir, target.path)
    if (outcome !== 'missing') target.settle(file.path)
    counts[outcome] += 1
    if (outcome !== 'missing') bytes += statSync(join(target.path, file.path)).size
    printProgress('files', index + 1, files.length)
  }
  target.finish()
  return { counts, bytes }
}

async function discardOnFailure<T>(target: BackupTarget, run: () => Promise<T>): Promise<T> {
  try {
    return await run()
  } catch (error) {
    target.discard()
    throw error
  }
}

function giveUp(target: BackupTarget, signal: NodeJS.Signals): void {
  target.discard()
  process.stderr.write(`weft: stopped by ${signal}; no backup was made\n`)
  process.exit(1)
}

/** Overwrites one line of the terminal; silent without one. */
function printProgress(what: string, done: number, total: number): void {
  if (process.stderr.isTTY) process.stderr.write(`\r\x1b[K${done}/${total} ${what}`)
}

await runCommand(USAGE, main)
