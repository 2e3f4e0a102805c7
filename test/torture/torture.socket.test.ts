import { describe, expect, it } from 'vitest'
import { makeTempDir } from '../support/temp-dir.ts'
import { openLedger } from './load.ts'
import { hasSharedStores } from './processes.ts'
import { fillDisk, killUnderLoad, setClock } from './scenes.ts'
import { killProcesses, stopProcesses } from './shared-scenes.ts'
import { openSpendingServer, spendUnderKills } from './spending.ts'

const COUNTED = /^\d+ calls, \d+ spans, \d+ feedback, \d+ files, \d+ jobs$/

describe('a server under torture', () => {
  it('loses nothing that it acknowledged to kill -9 and to a clock that is set', async () => {
    const torture = { dataDir: makeTempDir(), ledger: openLedger(), clients: 8, loadMs: 1500 }
    expect(await killUnderLoad(torture)).toMatch(COUNTED)
    expect(await setClock(torture)).toMatch(COUNTED)
    expect(torture.ledger.calls.size).toBeGreaterThan(0)
  })

  it('spends no more than one request over its budgets, and counts nothing twice, through kill -9 during streams', async () => {
    const told = await spendUnderKills({
      clients: 6,
      kills: 3,
      open: (models) => openSpendingServer(makeTempDir(), models),
    })
    expect(told).toMatch(/^\d+ requests, \$\d\.\d+ billed/)
  }, 180_000)

  it('says so in /ready and loses nothing when its disk is full, and goes on when it is not', async ({
    skip,
  }) => {
    const told = await fillDisk({ clients: 4 })
    if (told.startsWith('SKIPPED')) skip(told)
    expect(told).toMatch(COUNTED)
  })
})

describe.skipIf(!hasSharedStores)('three servers behind a proxy', () => {
  it('lose nothing, give each item, export and message once, and keep sessions through kill -9', async () => {
    const told = await killProcesses({ processes: 3, clients: 4, kills: 2 })
    expect(told).toMatch(
      / calls, .* items, .* exports, .* of a session, .* messages, .* added by rules, .* checkpoints/,
    )
  }, 600_000)

  it('answer each request when one of them is stopped', async () => {
    const told = await stopProcesses({ processes: 3, clients: 4, kills: 1 })
    expect(told).toMatch(/^\d+ calls, \d+ refused$/)
  }, 180_000)
})
