/** Child process of bench/backup.ts: copies a database as another program could, beside the server. */
import Database from 'better-sqlite3'

const [way, from = '', to = ''] = process.argv.slice(2)

const db = new Database(from, { readonly: true, fileMustExist: true })
if (way === 'vacuum') db.prepare('VACUUM INTO ?').run(to)
// In one step: with several, each commit in between would restart the copy.
else await db.backup(to, { progress: () => 2 ** 31 - 1 })
db.close()
