/** Callers of reads for tests. */
import type { ReadCaller } from '../../src/domain/access/read-caller.ts'

/** A caller that waits for as long as it takes, or until its signal aborts. */
export function readCaller(fields: Partial<ReadCaller> = {}): ReadCaller {
  const { signal } = new AbortController()
  return { keyId: 'k', project_id: 'acme/demo', signal, ...fields }
}
