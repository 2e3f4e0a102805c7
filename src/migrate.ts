/** Command line: applies the migrations, or with `--dump FILE` writes the resulting schema there. */
import { writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { runCommand } from './command-line.ts'
import { readConfig } from './config.ts'
import { closeDatabase, openDatabase } from './store/sqlite/db/connection.ts'
import { lockDataDirectory } from './store/sqlite/db/directory-lock.ts'
import { dumpSchema, migrate } from './store/sqlite/db/migrate.ts'

const USAGE = `usage:
  weft migrate
  weft migrate --dump FILE

Applies the migrations of the SQLite database in WEFT_DATA_DIR, as a start does; no server may be running on it. With
--dump it writes the schema of a new database to FILE, and leaves WEFT_DATA_DIR alone.`

async function main(args: string[]): Promise<void> {
  const { dump: file } = parseArgs({ args, options: { dump: { type: 'string' } } }).values
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

await runCommand(USAGE, main)
