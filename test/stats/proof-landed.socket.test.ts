import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { openReadOnlyDatabase } from '../../src/store/sqlite/db/connection.ts'
import { spawnServer, startServer } from '../support/spawn-server.ts'
import { makeTempDir } from '../support/temp-dir.ts'
import { makeLandedDatabase } from './support/landed-database.ts'
import type { RawCall } from './support/naive-stats.ts'
import { BASE_US, sentCall, toRawCall } from './support/raw-calls.ts'
import { expectStats, HOUR_US, PROJECT, QUESTIONS } from './support/reopened.ts'

/** More than the builder takes up at once. */
const HOURS = 280

/** Hours of a database that have a segment and that have none; nothing while it is being made. */
function countHours(dataDir: string): { clean: number; dirty: number } {
  const db = openReadOnlyDatabase(join(dataDir, 'weft.db'))
  try {
    const sql =
      'SELECT count(*) FILTER (WHERE built_revision IS revision) AS clean, count(*) FILTER (WHERE built_revision IS NOT revision) AS dirty FROM stats_hours'
    return db.prepare(sql).get() as { clean: number; dirty: number }
  } finally {
    db.close()
  }
}

async function until(isDone: () => boolean): Promise<void> {
  const deadline = Date.now() + 30_000
  while (!isDone()) {
    expect(Date.now()).toBeLessThan(deadline)
    await new Promise((resolve) => setTimeout(resolve, 2))
  }
}

/** Starts a server and kills it as soon as it has written something. */
async function killOnTheWay(dataDir: string): Promise<void> {
  const wal = join(dataDir, 'weft.db-wal')
  const { promise: started, resolve } = Promise.withResolvers<ChildProcess>()
  const listening = startServer({ WEFT_DATA_DIR: dataDir }, resolve).catch(() => null)
  const child = await started
  await until(() => existsSync(wal) && statSync(wal).size > 0)
  child.kill('SIGKILL')
  await Promise.race([listening, once(child, 'close')])
}

/** Their reports counted neither audio nor reasoning. */
function withoutKinds(call: RawCall): RawCall {
  if (!call.end) return call
  const usage = Object.entries(call.end.usage).map(([model, tokens]) => [
    model,
    { ...tokens, provider: null, input_audio_tokens: 0, reasoning_tokens: 0 },
  ])
  return { ...call, end: { ...call.end, usage: Object.fromEntries(usage) } }
}

describe('a database of an early version', () => {
  it('a database of an early version is migrated by the next start, also after a kill -9 during it', async () => {
    const dataDir = makeTempDir()
    const calls = fc.sample(sentCall, { numRuns: HOURS, seed: 12 }).map((call, index) => {
      const started_us = BASE_US - index * HOUR_US + (call.started_us % HOUR_US)
      const raw = toRawCall(index, call, { svc_user_id: 'u', hasEnded: index % 9 !== 0 })
      return { ...withoutKinds(raw), started_us }
    })
    makeLandedDatabase(dataDir, PROJECT, calls)
    await killOnTheWay(dataDir)
    const server = await spawnServer({ WEFT_DATA_DIR: dataDir })
    await until(() => countHours(dataDir).clean > 0)
    await server.stop('SIGKILL')
    const left = countHours(dataDir)
    expect(left.clean + left.dirty).toBe(HOURS)

    const questions = QUESTIONS.map((question) => ({
      ...question,
      startUs: BASE_US - HOURS * HOUR_US,
    })).filter(({ granularity }) => granularity >= 3600)
    await expectStats(dataDir, calls, questions)
  }, 120_000)
})
