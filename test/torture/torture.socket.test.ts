import { describe, expect, it } from 'vitest'
import { makeTempDir } from '../support/temp-dir.ts'
import { openLedger } from './load.ts'
import { fillDisk, killUnderLoad, setClock } from './scenes.ts'
import { spendUnderKills } from './spending.ts'

const COUNTED = /^\d+ calls, \d+ spans, \d+ feedback, \d+ files, \d+ jobs$/

describe('a server under torture', () => {
  it('loses nothing that it acknowledged to kill -9 and to a clock that is set', async () => {
    const torture = { dataDir: makeTempDir(), ledger: openLedger(), clients: 8, loadMs: 1500 }
    expect(await killUnderLoad(torture)).toMatch(COUNTED)
    expect(await setClock(torture)).toMatch(COUNTED)
    expect(torture.ledger.calls.size).toBeGreaterThan(0)
  })

  it('spends no more than one request over its budgets, and counts nothing twice, through kill -9 during streams', async () => {
    const told = await spendUnderKills({ dataDir: makeTempDir(), clients: 6, kills: 3 })
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
