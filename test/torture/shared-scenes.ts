/** What is done to several servers behind a proxy: killed and stopped under load. Each scene throws what is wrong. */
import { setTimeout as sleep } from 'node:timers/promises'
import { applyLoad, ensureWork, openLedger, PROJECT, send } from './load.ts'
import { type Processes, startProcesses } from './processes.ts'
import { openAlerts, openScoring } from './shared-background.ts'
import {
  openAnnotation,
  openBrowser,
  openExports,
  openWorkers,
  type SharedWork,
} from './shared-work.ts'
import { type SpendingSite, spendUnderKills } from './spending.ts'
import { verify } from './verify.ts'

interface SharedTorture {
  /** How many servers. */
  readonly processes: number
  readonly clients: number
  /** How often one of them is killed. */
  readonly kills: number
}

/** Limit: pause between two kills, milliseconds. */
const PAUSE_MS_MAX = 2_000
/** Length of the load during a stop, before and after the signal, milliseconds. */
const AROUND_MS = 500

/** Kills servers under load, of which each client may meet any, and compares what the others have then. */
export async function killProcesses(options: SharedTorture): Promise<string> {
  const site = await startProcesses(options.processes)
  try {
    return await killUnderWork(site, options)
  } finally {
    await site.close()
  }
}

async function killUnderWork(site: Processes, { clients, kills }: SharedTorture): Promise<string> {
  const { url } = site
  const ledger = openLedger()
  await ensureWork(url, ledger)
  const [alerts, scoring] = [await openAlerts(url), await openScoring(url)]
  const works = [
    await openAnnotation(url),
    openExports(url),
    await openBrowser(url),
    alerts,
    scoring,
    openWorkers(url, ledger),
  ]
  let isOver = false
  const running = Promise.all([
    applyLoad(url, ledger, { clients, isOver: () => isOver }),
    ...works.map((work) => runThroughKills(work, () => isOver)),
  ])
  try {
    const killing = (async () => {
      for (let kill = 0; kill < kills; kill++) {
        await sleep(PAUSE_MS_MAX * Math.random())
        await site.replaceOne()
      }
    })()
    await Promise.race([killing, running])
    await killing
    isOver = true
    await running
    const told = [await verify(url, ledger)]
    for (const work of works) told.push(await work.verify())
    return told.join(', ')
  } finally {
    isOver = true
    alerts.close()
    scoring.close()
  }
}

/** Begins again when a connection to the proxy has failed. */
async function runThroughKills(work: SharedWork, isOver: () => boolean): Promise<void> {
  while (!isOver()) {
    try {
      return await work.run(isOver)
    } catch (error) {
      if (!(error instanceof TypeError)) throw error
    }
  }
}

/** Spends budgets through all servers while one after the other is killed. */
export function spendInProcesses({ processes, ...rest }: SharedTorture): Promise<string> {
  const open = async (environment: Readonly<Record<string, string>>): Promise<SpendingSite> => {
    const site = await startProcesses(processes, environment)
    const { replaceOne: kill, restart, close } = site
    return { url: () => site.url, kill, restart, close }
  }
  return spendUnderKills({ ...rest, open })
}

/** Stops one server after the other by SIGTERM: each request is answered, if need be with server_draining. */
export async function stopProcesses({ processes, clients, kills }: SharedTorture): Promise<string> {
  const site = await startProcesses(processes)
  const stored = new Set<string>()
  let [isOver, refused, next] = [false, 0, 0]

  async function store(): Promise<void> {
    while (!isOver) {
      const id = `call-${next++}`
      const started_at = new Date().toISOString()
      const start = {
        project_id: PROJECT,
        id,
        op_name: 'op',
        started_at,
        attributes: {},
        inputs: {},
      }
      const response = await send(site.url, '/call/start', { start })
      const text = await response.text()
      if (response.status === 200) stored.add(id)
      else if (response.status === 503 && text.includes('server_draining')) refused += 1
      else {
        const lost = `${site.proxy.countLost()} requests are lost`
        throw new Error(`a call is answered with ${response.status}: ${text} (${lost})`)
      }
    }
  }

  try {
    const load = Promise.all(Array.from({ length: clients }, store))
    const stopping = (async () => {
      for (let stop = 0; stop < kills; stop++) {
        await sleep(AROUND_MS)
        await site.stopOne()
      }
      await sleep(AROUND_MS)
    })()
    await Promise.race([stopping, load])
    await stopping
    isOver = true
    await load
    const body = { project_id: PROJECT, columns: ['id'] }
    const lines = (await (await send(site.url, '/calls/stream_query', body)).text()).trim()
    const found = lines.split('\n').map((line) => (JSON.parse(line) as { id: string }).id)
    const isSame = found.length === stored.size && found.every((id) => stored.has(id))
    if (!isSame) throw new Error(`${stored.size} calls are acknowledged, ${found.length} stored`)
    if (site.proxy.countLost() > 0) throw new Error(`${site.proxy.countLost()} requests are lost`)
    return `${stored.size} calls, ${refused} refused`
  } finally {
    isOver = true
    await site.close()
  }
}
