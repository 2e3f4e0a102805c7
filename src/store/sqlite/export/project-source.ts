/** Reads a project for an export in one snapshot, on a connection of its own, also beside a running server. */
import { createReadStream, existsSync } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { resolveCallsSelection, resolveCallsShape } from '../../../domain/calls/calls-query.ts'
import type { ProjectSource, SourceFile, SourceRow } from '../../api/projects/project-source.ts'
import * as SQL from '../../base/projects/project-records.sql.ts'
import { createCallsQueryStore } from '../calls/query/calls-query.ts'
import { selectCalls } from '../calls/query/calls-scan.ts'
import {
  closeDatabase,
  DATABASE_FILE,
  openReadOnlyDatabase,
  requireDatabase,
} from '../db/connection.ts'
import { SQLITE } from '../db/dialect.sql.ts'
import { requireMigrated } from '../db/migrate.ts'
import { fromBlock } from '../objects/table-reads.ts'
import type { ReadPool } from '../read/read-pool.ts'
import { FIND_VALUE, LIST_FILES } from './project-source.sql.ts'

/** @throws DataDirectoryError, MigrationError */
export function openProjectSource(dataDir: string, project_id: string): ProjectSource {
  requireDatabase(dataDir)
  const db = openReadOnlyDatabase(join(dataDir, DATABASE_FILE))
  try {
    requireMigrated(db)
    db.exec('BEGIN')
  } catch (error) {
    closeDatabase(db)
    throw error
  }
  // Opens its cursor with the first row: a failure before it leaves no open one, with which nothing could be closed.
  function* list(sql: string): Generator<SourceRow> {
    yield* db.prepare(sql).iterate({ project_id }) as IterableIterator<SourceRow>
  }
  return {
    feedback: () => list(SQL.LIST_FEEDBACK),
    objects: () => list(SQL.listVersions(SQLITE)),
    tables: () => list(SQL.LIST_TABLES),
    *tableRows() {
      const findValue = db.prepare(FIND_VALUE)
      type Block = { table_digest: string; value_keys: Buffer }
      let [table, original_index] = ['', 0]
      for (const block of db.prepare(SQL.LIST_TABLE_BLOCKS).iterate({ project_id })) {
        const { table_digest, value_keys } = block as Block
        if (table_digest !== table) [table, original_index] = [table_digest, 0]
        for (const value_key of fromBlock(value_keys)) {
          yield { table_digest, original_index, ...(findValue.get({ value_key }) as SourceRow) }
          original_index += 1
        }
      }
    },
    *files() {
      type FileRow = Omit<SourceFile, 'content'> & { content: Buffer | null; path: string | null }
      for (const row of db.prepare(LIST_FILES).iterate({ project_id })) {
        const { digest, size_bytes, content, path } = row as FileRow
        yield { digest, size_bytes, content: openContent(content, path && join(dataDir, path)) }
      }
    },
    async *calls() {
      const run = async (_name: string, input: Parameters<typeof selectCalls>[1]) =>
        runToEnd(selectCalls(db, input, () => false))
      // The only job of a list.
      const reads = { run } as unknown as Pick<ReadPool, 'run'>
      const query = createCallsQueryStore(db, reads, { wait: async () => undefined })
      const caller = { keyId: 'export', project_id, signal: new AbortController().signal }
      const selection = resolveCallsSelection({ project_id })
      for await (const page of query.pages(selection, resolveCallsShape({ project_id }), caller)) {
        yield page.map(({ call }) => call)
      }
    },
    close: () => closeDatabase(db),
  }
}

function openContent(content: Buffer | null, path: string | null): Readable | null {
  if (content !== null) return Readable.from([content])
  return path !== null && existsSync(path) ? createReadStream(path) : null
}

/** The result of a job that may pause. */
function runToEnd<Result>(job: Result | Generator<void, Result>): Result {
  if (!isGenerator(job)) return job
  for (;;) {
    const { done, value } = job.next()
    if (done) return value
  }
}

function isGenerator<Result>(
  job: Result | Generator<void, Result>,
): job is Generator<void, Result> {
  return typeof job === 'object' && job !== null && 'next' in job
}
