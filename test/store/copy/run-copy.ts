/** A copy as the command makes it, in the process of a test. */
import type { CopyTarget } from '../../../src/store/api/copy.ts'
import { copyRest } from '../../../src/store/copy/copy-rest.ts'
import { CHUNK_BYTES } from '../../../src/store/postgres/blobs/chunks.ts'
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
        copied: await copyRest(source, change(target), () => undefined),
        missing: source.missing,
      }
    } finally {
      await target.close()
    }
  } finally {
    source.close()
  }
}

/** Fails after some writes, as if the process were killed. */
export function cutAfter(writes: number) {
  let left = writes
  return (target: CopyTarget): CopyTarget => ({
    ...target,
    async write(table, rows) {
      left -= 1
      if (left < 0) throw new Error('killed')
      await target.write(table, rows)
    },
  })
}
