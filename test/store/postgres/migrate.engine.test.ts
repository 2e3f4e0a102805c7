import { cpSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { migrate } from '../../../src/store/postgres/db/migrate.ts'
import { makeTempDir } from '../../support/temp-dir.ts'
import { hasPostgres, makeDatabase } from './postgres-server.ts'

const MIGRATIONS = fileURLToPath(new URL('../../../migrations/postgres/', import.meta.url))

/** The migrations in a folder that a test may change. */
function copyMigrations(): string {
  const folder = makeTempDir()
  for (const name of readdirSync(MIGRATIONS)) cpSync(join(MIGRATIONS, name), join(folder, name))
  return folder
}

describe.skipIf(!hasPostgres)('migrations of PostgreSQL', () => {
  it('PostgreSQL migrations run once when several servers start at once', async () => {
    const url = await makeDatabase({ isEmpty: true })
    const counts = await Promise.all([migrate(url), migrate(url), migrate(url)])
    expect(counts.sort()).toEqual([0, 0, readdirSync(MIGRATIONS).length])
  })

  it('a failing PostgreSQL migration is rolled back', async () => {
    const url = await makeDatabase()
    const folder = copyMigrations()
    const next = String(readdirSync(folder).length + 1).padStart(4, '0')
    const file = join(folder, `${next}-more.sql`)
    writeFileSync(file, 'CREATE TABLE mine (a text);\nCREATE TABLE keys (a text);\n')
    await expect(migrate(url, { directory: folder })).rejects.toThrow('PostgreSQL: error 42P07')
    writeFileSync(file, 'CREATE TABLE mine (a text);\n')
    expect(await migrate(url, { directory: folder })).toBe(1)
  })

  it('PostgreSQL migrations refuse a changed file and tables of a newer version', async () => {
    const url = await makeDatabase({ isEmpty: true })
    const folder = copyMigrations()
    const [first = ''] = readdirSync(folder)
    const next = String(readdirSync(folder).length + 1).padStart(4, '0')
    writeFileSync(join(folder, `${next}-more.sql`), 'SELECT 1;\n')
    await migrate(url, { directory: folder })
    await expect(migrate(url)).rejects.toThrow(
      `newer version of Weft (it has migration ${next}-more`,
    )
    writeFileSync(join(folder, first), 'SELECT 2;\n')
    await expect(migrate(url, { directory: folder })).rejects.toThrow(/was changed/)
  })

  it('migrations fail with one line, without the password, when PostgreSQL is unreachable', async () => {
    const away = migrate('postgres://me:secret@127.0.0.1:1/weft')
    await expect(away).rejects.toThrow(/^WEFT_META_URL: (?!.*secret).*ECONNREFUSED/)
    const wrong = migrate('postgres://me:se%cret@:x/weft')
    await expect(wrong).rejects.toThrow(/^WEFT_META_URL: (?!.*se%cret)/)
    const url = await makeDatabase()
    await expect(migrate(url.replace(/\/weft_\w+/, '/none'))).rejects.toThrow(
      'WEFT_META_URL: database "none" does not exist',
    )
  })
})
