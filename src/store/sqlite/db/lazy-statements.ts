/**
 * Statements that are prepared when they first run. A store has some two hundred, and a process does not need
 * most of them soon. Preparing all of them would take longer than the rest of opening a database.
 */
import type Database from 'better-sqlite3'

type Statement = Database.Statement<unknown[], unknown>

/** The methods of a statement that the stores use. */
type UsedStatement = Pick<Statement, 'run' | 'get' | 'all' | 'iterate' | 'pluck' | 'raw'>

/** Makes `db.prepare` lazy. An invalid statement fails when it first runs. */
export function prepareWhenUsed(db: Database.Database): void {
  const prepare = db.prepare.bind(db)
  db.prepare = ((sql: string) => createLazyStatement(() => prepare(sql))) as typeof db.prepare
}

function createLazyStatement(prepare: () => Statement): UsedStatement {
  let prepared: Statement | null = null
  const open = (): Statement => {
    prepared ??= prepare()
    return prepared
  }
  return {
    run: (...bound) => open().run(...bound),
    get: (...bound) => open().get(...bound),
    all: (...bound) => open().all(...bound),
    iterate: (...bound) => open().iterate(...bound),
    pluck: () => createLazyStatement(() => prepare().pluck()) as Statement,
    raw: () => createLazyStatement(() => prepare().raw()) as Statement,
  }
}
