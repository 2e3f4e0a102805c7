/** Command line: applies the migrations, or with `--dump FILE` writes the resulting schema there. */
import { writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { readConfig } from './config.ts'
import { closeDatabase, openDatabase } from './store/sqlite/db/connection.ts'
import { lockDataDirectory } from './store/sqlite/db/directory-lock.ts'
import { dumpSchema, migrate } from './store/sqlite/db/migrate.ts'

const USAGE = `usage:
  npm run migrate
  npm run migrate -- --dump FILE`

function main(args: readonly string[]): void {
  if (args.includes('--help')) {
    process.stdout.write(`${USAGE}\n`)
    return
  }
  const { dump: file } = readOptions(args)
  const dataDir = file === undefined ? readConfig().dataDir : ':memory:'
  const lock = lockDataDirectory(dataDir)
  try {
    const db = openDatabase(dataDir)
    try {
      const count = migrate(db)
      if (file === undefined) process.stdout.write(`${count} migrations applied\n`)
      else writeFileSync(file, dumpSchema(db))
    } finally {
      closeDatabase(db)
    }
  } finally {
    lock.release()
  }
}

function readOptions(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options: { dump: { type: 'string' } } }).values
  } catch (error) {
    throw new Error(`${(error as Error).message}\n${USAGE}`)
  }
}

try {
  main(process.argv.slice(2))
} catch (error) {
  process.stderr.write(`weft: ${error instanceof Error ? error.message : String(error)}\n`)
  process.exitCode = 1
}
