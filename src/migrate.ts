/** Command line: applies the migrations, or with `--dump FILE` writes the resulting schema there. */
import { writeFileSync } from 'node:fs'
import { readConfig } from './config.ts'
import { closeDatabase, openDatabase } from './store/sqlite/db/connection.ts'
import { lockDataDirectory } from './store/sqlite/db/directory-lock.ts'
import { dumpSchema, migrate } from './store/sqlite/db/migrate.ts'

function main(args: readonly string[]): void {
  const [flag, file] = args
  const isDump = flag === '--dump' && file !== undefined
  if (args.length > 0 && !isDump) throw new Error('usage: migrate [--dump FILE]')
  const dataDir = isDump ? ':memory:' : readConfig().dataDir
  const lock = lockDataDirectory(dataDir)
  try {
    const db = openDatabase(dataDir)
    try {
      const count = migrate(db)
      if (isDump) writeFileSync(file, dumpSchema(db))
      else process.stdout.write(`${count} migrations applied\n`)
    } finally {
      closeDatabase(db)
    }
  } finally {
    lock.release()
  }
}

try {
  main(process.argv.slice(2))
} catch (error) {
  process.stderr.write(`weft: ${error instanceof Error ? error.message : String(error)}\n`)
  process.exitCode = 1
}
