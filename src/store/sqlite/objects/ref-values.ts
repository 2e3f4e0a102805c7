/** Reads and keeps the values of refs, for conditions over many rows. */
import { createRefSteps } from '../../base/objects/ref-values.ts'
import type { Connection } from '../db/connection.ts'
import { createStepRunner } from '../db/run-steps.ts'
import { keyIn } from './table-blocks.ts'

/** Limit: refs with cached values; the cache is cleared when it is full. */
const CACHED_REFS_MAX = 100_000

/**
 * @param projects - patterns of the projects that may be read
 * @returns a function that returns the value of a ref, as createRefSteps does, and keeps it
 */
export function createRefValues(
  db: Connection,
  projects: readonly string[],
): (ref: string) => unknown {
  const run = createStepRunner(db)
  const values = new Map<string, unknown>()
  const read = createRefSteps({ projects, keyIn, onClear: () => values.clear() })
  return (ref) => {
    if (values.has(ref)) return values.get(ref)
    const value = run(read(ref))
    if (values.size === CACHED_REFS_MAX) values.clear()
    values.set(ref, value)
    return value
  }
}
