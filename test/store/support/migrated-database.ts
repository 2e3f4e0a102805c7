/** Migrated databases, each a copy of the first one: to open that takes 1 ms, all migrations 30 ms. */
import { onTestFinished } from 'vitest'
import { type Connection, openDatabase } from '../../../src/store/sqlite/db/connection.ts'
import { migrate } from '../../../src/store/sqlite/db/migrate.ts'

let image: Buffer | null = null

/** An empty database in memory, closed when the test ends. */
export function openMigrated(): Connection {
  const db = openDatabase(':memory:', image)
  onTestFinished(() => void db.close())
  if (image !== null) return db
  migrate(db)
  image = db.serialize()
  return db
}
