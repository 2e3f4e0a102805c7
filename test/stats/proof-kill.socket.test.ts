import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { idText } from '../../src/store/sqlite/calls/columns/id-columns.sql.ts'
import { openDatabase } from '../../src/store/sqlite/db/connection.ts'
import { type SpawnedServer, spawnServer } from '../support/spawn-server.ts'
import { makeTempDir } from '../support/temp-dir.ts'
import { idOf, type SentCall, sentCall, toParts, toRawCall } from './support/raw-calls.ts'
import { expectStats, PROJECT } from './support/reopened.ts'

const SENDERS = 8

/** Which parts of calls were acknowledged, by id. */
interface Acknowledged {
  readonly starts: Set<string>
  readonly ends: Set<string>
}

/** Sends starts and ends over some connections until the server is gone. */
async function ingest(
  server: SpawnedServer,
  calls: readonly SentCall[],
  { acknowledged, onPart }: { readonly acknowledged: Acknowledged; readonly onPart: () => void },
): Promise<void> {
  let next = 0
  const send = async () => {
    for (let index = next++; index < calls.length; index = next++) {
      const { start, end } = toParts(PROJECT, index, calls[index] as SentCall)
      const started = await server.post('/call/start', { start })
      if (started.status === 200) acknowledged.starts.add(start.id)
      onPart()
      const ended = await server.post('/call/end', { end })
      if (ended.status === 200) acknowledged.ends.add(start.id)
      onPart()
    }
  }
  // A broken connection ends its sender, because the server was killed.
  await Promise.allSettled(Array.from({ length: SENDERS }, send))
}

/** What a database holds, by reading its rows. */
function readParts(
  dataDir: string,
): ReadonlyMap<string, { hasStarted: boolean; hasEnded: boolean }> {
  const db = openDatabase(dataDir)
  const rows = db
    .prepare(
      `SELECT ${idText('id')} AS id, started_at_us IS NOT NULL AS s, ended_at_us IS NOT NULL AS e FROM calls`,
    )
    .all() as { id: string; s: number; e: number }[]
  db.close()
  return new Map(rows.map(({ id, s, e }) => [id, { hasStarted: s === 1, hasEnded: e === 1 }]))
}

describe('statistics after kill -9', () => {
  it('statistics after kill -9 during ingest count what was acknowledged', async () => {
    const dataDir = makeTempDir()
    const calls = fc.sample(sentCall, { numRuns: 250, seed: 11 })
    const acknowledged: Acknowledged = { starts: new Set(), ends: new Set() }
    // Each time from the start: repeating stored parts changes nothing.
    for (const killAfter of [100, 300]) {
      const server = await spawnServer({ WEFT_DATA_DIR: dataDir })
      let parts = 0
      await ingest(server, calls, {
        acknowledged,
        onPart() {
          parts += 1
          if (parts === killAfter) server.process.kill('SIGKILL')
        },
      })
      await server.stop('SIGKILL')
    }
    expect(acknowledged.ends.size).toBeGreaterThan(100)
    const stored = readParts(dataDir)
    for (const id of acknowledged.starts) expect(stored.get(id)?.hasStarted).toBe(true)
    for (const id of acknowledged.ends) expect(stored.get(id)?.hasEnded).toBe(true)
    // Only requests in flight may or may not be stored.
    expect(stored.size).toBeLessThanOrEqual(acknowledged.starts.size + SENDERS * 2)
    const expected = calls.flatMap((call, index) => {
      const { hasStarted = false, hasEnded = false } = stored.get(idOf(index)) ?? {}
      return hasStarted ? [toRawCall(index, call, { svc_user_id: 'bootstrap', hasEnded })] : []
    })
    await expectStats(dataDir, expected)
  }, 120_000)
})
