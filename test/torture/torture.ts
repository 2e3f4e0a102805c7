/**
 * `npm run torture -- --cycles 20`: load through HTTP, kill -9 at a random moment, start, verify; then a second start, a
 * clock that is set and a full disk. Ends with 1 at the first thing that is wrong, and leaves the directory then.
 *
 * With `--processes 3` the same for several servers on one ClickHouse and PostgreSQL behind a proxy, as far as it concerns
 * them: `--cycles` kills of any of them under load, then during streams, then stops by SIGTERM.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readArguments, readCount } from '../../examples/script-arguments.ts'
import { openLedger } from './load.ts'
import { hasSharedStores } from './processes.ts'
import { fillDisk, killUnderLoad, setClock, startTwice, type Torture } from './scenes.ts'
import { killProcesses, spendInProcesses, stopProcesses } from './shared-scenes.ts'
import { openSpendingServer, spendUnderKills } from './spending.ts'

const { values } = readArguments({
  options: {
    cycles: { type: 'string', default: '5' },
    clients: { type: 'string', default: '16' },
    'load-ms': { type: 'string', default: '3000' },
    processes: { type: 'string', default: '1' },
  },
})

const cycles = readCount(values.cycles)
const processes = readCount(values.processes)
const [clients, loadMs] = [readCount(values.clients), readCount(values['load-ms'])]
/** Kills of one data directory: what is verified grows with each. */
const CYCLES_PER_DIRECTORY = 25
/** Limit: kills during streams, each of which may reserve a part of the budgets. */
const SPENDING_KILLS_MAX = 20

let torture = openTorture()

function openTorture(): Torture {
  const dataDir = mkdtempSync(join(tmpdir(), 'weft-torture-'))
  return { dataDir, ledger: openLedger(), clients, loadMs }
}

function removeDirectory(): void {
  rmSync(torture.dataDir, { recursive: true, force: true })
}

async function act(name: string, scene: () => Promise<string>): Promise<void> {
  const startedMs = performance.now()
  const told = await scene()
  const seconds = ((performance.now() - startedMs) / 1000).toFixed(1)
  process.stdout.write(`${name}: ${told} (${seconds} s)\n`)
}

async function tortureOne(): Promise<void> {
  for (let cycle = 1; cycle <= cycles; cycle++) {
    if (cycle > 1 && cycle % CYCLES_PER_DIRECTORY === 1) {
      removeDirectory()
      torture = openTorture()
    }
    await act(`kill -9, cycle ${cycle}`, () => killUnderLoad(torture))
  }
  const kills = Math.min(cycles, SPENDING_KILLS_MAX)
  await act('budgets under kill -9', () =>
    spendUnderKills({
      clients,
      kills,
      open: (models) => openSpendingServer(join(torture.dataDir, 'spending'), models),
    }),
  )
  await act('second start', () => startTwice(torture))
  await act('clock set', () => setClock(torture))
  await act('full disk', () => fillDisk(torture))
}

async function tortureProcesses(): Promise<void> {
  if (!hasSharedStores) throw new Error('it needs ClickHouse and PostgreSQL, as their tests do')
  const kills = Math.min(cycles, SPENDING_KILLS_MAX)
  await act(`${cycles} kills`, () => killProcesses({ processes, clients, kills: cycles }))
  await act('budgets under kill -9', () => spendInProcesses({ processes, clients, kills }))
  await act('SIGTERM', () => stopProcesses({ processes, clients, kills }))
}

try {
  await (processes === 1 ? tortureOne() : tortureProcesses())
  removeDirectory()
  process.stdout.write('nothing that was acknowledged is lost\n')
} catch (error) {
  process.stderr.write(
    `${error instanceof Error ? error.stack : error}\n${torture.dataDir} stays\n`,
  )
  process.exitCode = 1
}
// The engines of several processes would keep this one running.
process.exit()
