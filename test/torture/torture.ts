/**
 * `npm run torture -- --cycles 20`: load through HTTP, kill -9 at a random moment, start, verify; then a second start, a
 * clock that is set and a full disk. Ends with 1 at the first thing that is wrong, and leaves the directory then.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readArguments, readCount } from '../../examples/script-arguments.ts'
import { openLedger } from './load.ts'
import { fillDisk, killUnderLoad, setClock, startTwice, type Torture } from './scenes.ts'
import { spendUnderKills } from './spending.ts'

const { values } = readArguments({
  options: {
    cycles: { type: 'string', default: '5' },
    clients: { type: 'string', default: '16' },
    'load-ms': { type: 'string', default: '3000' },
  },
})

const cycles = readCount(values.cycles)
const [clients, loadMs] = [readCount(values.clients), readCount(values['load-ms'])]
const torture: Torture = {
  dataDir: mkdtempSync(join(tmpdir(), 'weft-torture-')),
  ledger: openLedger(),
  clients,
  loadMs,
}

async function act(name: string, scene: () => Promise<string>): Promise<void> {
  const startedMs = performance.now()
  const told = await scene()
  const seconds = ((performance.now() - startedMs) / 1000).toFixed(1)
  process.stdout.write(`${name}: ${told} (${seconds} s)\n`)
}

try {
  for (let cycle = 1; cycle <= cycles; cycle++) {
    await act(`kill -9, cycle ${cycle}`, () => killUnderLoad(torture))
  }
  await act('budgets under kill -9', () =>
    spendUnderKills({ dataDir: join(torture.dataDir, 'spending'), clients, kills: cycles }),
  )
  await act('second start', () => startTwice(torture))
  await act('clock set', () => setClock(torture))
  await act('full disk', () => fillDisk(torture))
  rmSync(torture.dataDir, { recursive: true, force: true })
  process.stdout.write('nothing that was acknowledged is lost\n')
} catch (error) {
  process.stderr.write(
    `${error instanceof Error ? error.stack : error}\n${torture.dataDir} stays\n`,
  )
  process.exitCode = 1
}
