/** Child process of bench/ingest.ts: the real app over one of three stores. Sends its port to the parent and waits. */
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { v7 as uuidv7 } from 'uuid'
import { buildApp } from '../../src/app.ts'
import { readConfig } from '../../src/config.ts'
import { type Deps, openDeps } from '../../src/deps.ts'
import type { CallStore } from '../../src/store/api/calls/calls.ts'
import { createArrivals } from '../../src/store/base/recordings/recordings.ts'
import { createCallStore } from '../../src/store/sqlite/calls/calls.ts'
import { createNameKeys } from '../../src/store/sqlite/calls/columns/id-columns.ts'
import { openDatabase } from '../../src/store/sqlite/db/connection.ts'
import { migrate } from '../../src/store/sqlite/db/migrate.ts'
import { createHourMarks } from '../../src/store/sqlite/stats/hour-marks.ts'
import type { CommitPart } from '../../src/store/sqlite/write/group-commit.ts'
import { createWriteJobs } from '../../src/store/sqlite/write/write-jobs.ts'
import type { Writes } from '../../src/store/sqlite/write/writes.ts'

export type Variant = 'group commit' | 'validation only' | 'one commit per request'

const [variant, key, directory] = process.argv.slice(2) as [Variant, string, string]

/** Answers at once and stores nothing, to measure HTTP alone. */
const NO_STORE: Partial<CallStore> = {
  startCall: async ({ id, trace_id }) => ({ id, trace_id }),
}

function openSingleCommitStore(dataDir: string): CallStore {
  const db = openDatabase(dataDir)
  migrate(db)
  const parts: CommitPart[] = []
  const runAlone = db.transaction((apply: () => unknown) => {
    for (const part of parts) part.begin?.()
    const value = apply()
    for (const part of parts) part.beforeCommit?.()
    return value
  })
  const commit = { join: (part: CommitPart) => void parts.push(part) }
  const hours = createHourMarks(db, commit)
  const keys = createNameKeys(db, commit)
  const jobs = createWriteJobs({ db, hours, keys, newId: uuidv7 })
  const writes: Writes = {
    run: async (name, input) => runAlone.immediate(() => jobs[name](input as never)) as never,
  }
  return createCallStore(db, writes, createArrivals())
}

function replaceCalls(deps: Deps): Deps {
  if (variant === 'group commit') return deps
  const calls =
    variant === 'validation only'
      ? { ...deps.calls, ...NO_STORE }
      : openSingleCommitStore(mkdtempSync(join(directory ?? tmpdir(), 'single-')))
  return { ...deps, calls }
}

const dataDir = mkdtempSync(join(directory ?? tmpdir(), 'server-'))
const config = { ...readConfig({}), dataDir, bootstrapKey: key ?? '' }
const deps = await openDeps(config)
const app = await buildApp(config, replaceCalls(deps), { level: 'warn' })
await app.listen({ host: '127.0.0.1', port: 0 })
process.send?.(app.server.address())
