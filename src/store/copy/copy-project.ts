/** Copies the calls of a project from one store to another, and compares the two. */
import { createHash } from 'node:crypto'
import type { CallTexts } from '../../domain/calls/call-view.ts'
import { resolveCallsSelection, resolveCallsShape } from '../../domain/calls/calls-query.ts'
import { toCopiedParts } from '../../domain/calls/copied-call.ts'
import type { CallStore, CallsQueryStore } from '../api/calls/calls.ts'
import { CopyError } from '../api/copy.ts'

interface CopiedStores {
  readonly calls: CallStore
  readonly callsQuery: CallsQueryStore
}

export interface CopyOptions {
  readonly project_id: string
  /** URI scheme of the refs to find in inputs and outputs. */
  readonly refScheme: string
  /** Reports progress. */
  readonly onProgress: (step: 'copied' | 'compared', calls: number, total: number) => void
}

/** The calls that both stores hold in the end. */
interface CopyResult {
  readonly calls: number
  readonly storage_size_bytes: number
  /** Equal for equal calls, in any order. */
  readonly checksum: string
}

/** Limit: calls in one write. */
const BATCH_CALLS = 1000

/**
 * Copies the calls that the other store does not have yet, and compares the others without changing them, so an
 * interrupted copy can be restarted. Deleted calls and ends without a start are not copied.
 *
 * @throws CopyError when the other store has a different call under an id, or the two differ in the end; ApiError
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
    let [calls, storage_size_bytes] = [0, 0]
    const checksum = createChecksum()
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
        // Each store finds again which call counts the usage.
        const { usage_counted_in: _, ...stored } = call
        checksum.add(stored)
        batch.push(call)
      }
      if (batch.length >= BATCH_CALLS) await end()
    }
    await end()
    return { calls, storage_size_bytes, checksum: checksum.end() }
  }

  const sent = await sumUp(from, 'copied', async (calls) => {
    const results = await to.calls.writeParts(calls.map((call) => toCopiedParts(call, refScheme)))
    const refused = results.findIndex(({ error }) => error)
    if (refused < 0) return
    throw new CopyError(`call ${calls[refused]?.id} exists with different content`)
  })
  const found = await sumUp(to, 'compared', async () => undefined)
  for (const name of ['calls', 'storage_size_bytes', 'checksum'] as const) {
    if (sent[name] === found[name]) continue
    throw new CopyError(`${name} differ: ${sent[name]} were read, ${found[name]} exist`)
  }
  return found
}

interface Checksum {
  add(row: object): void
  /** 16 hexadecimal digits. */
  end(): string
}

export function createChecksum(): Checksum {
  let sum = 0n
  return {
    add(row) {
      sum = BigInt.asUintN(64, sum + hashOf(row))
    },
    end: () => sum.toString(16).padStart(16, '0'),
  }
}

/** Returns a 64-bit hash of all fields of a row. */
function hashOf(row: object): bigint {
  const values = Object.entries(row)
    .sort(([left], [right]) => (left < right ? -1 : 1))
    .map(([name, value]) => [name, Buffer.isBuffer(value) ? { sha256: digestOf(value) } : value])
  return createHash('sha256').update(JSON.stringify(values)).digest().readBigUInt64BE()
}

function digestOf(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex')
}
