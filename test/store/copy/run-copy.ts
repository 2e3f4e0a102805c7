/** A copy as the command makes it, in the process of a test. */
import type { CopiedRow, CopiedTable, CopyTarget } from '../../../src/store/api/copy.ts'
import { copyOtherTables } from '../../../src/store/copy/copy-other-tables.ts'
import { CHUNK_BYTES } from '../../../src/store/postgres/blobs/blobs.ts'
import { openPostgresTarget } from '../../../src/store/postgres/copy/copy-target.ts'
import { openSqliteSource } from '../../../src/store/sqlite/copy/copy-source.ts'

/** What one run of the command does. */
export async function copy(
  dataDir: string,
  url: string,
  change: (target: CopyTarget) => CopyTarget = (target) => target,
) {
  const source = openSqliteSource(dataDir, CHUNK_BYTES)
  try {
    const target = await openPostgresTarget(url)
    try {
      return {
        copied: await copyOtherTables(source, change(target), () => undefined),
        missing: source.missing,
      }
    } finally {
      await target.close()
    }
  } finally {
    source.close()
  }
}

/** Changes what a copy writes. */
export function writing(
  change: (
    table: CopiedTable,
    rows: readonly CopiedRow[],
  ) => readonly CopiedRow[] | Promise<readonly CopiedRow[]>,
) {
  return (target: CopyTarget): CopyTarget => ({
    ...target,
    fill: (run) =>
      target.fill((tables) =>
        run({
          ...tables,
          write: async (table, rows) => tables.write(table, await change(table, rows)),
        }),
      ),
  })
}
