/** Copies the calls of a project from one store to another, and compares what both have. */
import { createHash } from 'node:crypto'
import type { CallTexts } from '../../domain/calls/call-view.ts'
import { resolveCallsSelection, resolveCallsShape } from '../../domain/calls/calls-query.ts'
import { toCopiedParts } from '../../domain/calls/copied-call.ts'
import type { CallStore } from '../api/calls/calls.ts'
import type { CallsQueryStore } from '../api/calls/calls-query.ts'

interface CopiedStores {
  readonly calls: CallStore
  readonly callsQuery: CallsQueryStore
}

export interface CopyOptions {
  readonly project_id: string
  /** Scheme of the refs that are looked for in inputs and outputs. */
  readonly refScheme: string
  /** Told as it goes on. */
  readonly onProgress: (step: 'copied' | 'compared', calls: number, total: number) => void
}

/** What both stores have in the end. */
interface CopyResult {
  readonly calls: number
  readonly storage_size_bytes: number
  /** The same for the same calls, in any order. */
  readonly checksum: string
}

/** Stores that differ after a copy; the message is one line. */
class CopyError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'CopyError'
  }
}

/** Limit: calls that are written at once. */
const BATCH_CALLS = 1000

/**
 * Copies what is not there: a call that the other store has already is compared and left as it is, so that a copy that
 * was cut off is begun again. Deleted calls and ends without a start are not copied.
 *
 * @throws CopyError when the other store has another call under an id, or both are not the same in the end; ApiError
 */
export async function copyProject(
  from: CopiedStores,
  to: CopiedStores,
  { project_id, refScheme, onProgress }: CopyOptions,
): Promise<CopyResult> {
  const caller = { keyId: 'copy', project_id, signal: new AbortController().signal }
  const selection = resolveCallsSelection({ project_id })
  const { count: total } = await from.callsQuery.count(selection, caller)

  async function sumUp(
    { callsQuery }: CopiedStores,
    step: 'copied' | 'compared',
    take: (calls: readonly CallTexts[]) => Promise<void>,
  ): Promise<CopyResult> {
    let [calls, storage_size_bytes, sum] = [0, 0, 0n]
    let batch: CallTexts[] = []
    const end = async () => {
      await take(batch)
      batch = []
      onProgress(step, calls, total)
    }
    const shape = resolveCallsShape({ project_id })
    for await (const page of callsQuery.pages(selection, shape, caller)) {
      for (const { call } of page) {
        calls += 1
        storage_size_bytes += call.storage_size_bytes
        sum = BigInt.asUintN(64, sum + hashOf(call))
        batch.push(call)
      }
      if (batch.length >= BATCH_CALLS) await end()
    }
    await end()
    return { calls, storage_size_bytes, checksum: sum.toString(16).padStart(16, '0') }
  }

  const sent = await sumUp(from, 'copied', async (calls) => {
    const results = await to.calls.writeParts(calls.map((call) => toCopiedParts(call, refScheme)))
    const refused = results.findIndex(({ error }) => error)
    if (refused < 0) return
    throw new CopyError(`call ${calls[refused]?.id} is there with other content`)
  })
  const found = await sumUp(to, 'compared', async () => undefined)
  for (const name of ['calls', 'storage_size_bytes', 'checksum'] as const) {
    if (sent[name] === found[name]) continue
    throw new CopyError(`${name} differ: ${sent[name]} were read, ${found[name]} are there`)
  }
  return found
}

/** 64 bits of all that is known of a call. */
function hashOf(call: CallTexts): bigint {
  const values = Object.entries(call).sort(([left], [right]) => (left < right ? -1 : 1))
  const digest = createHash('sha256').update(JSON.stringify(values)).digest()
  return digest.readBigUInt64BE()
}
