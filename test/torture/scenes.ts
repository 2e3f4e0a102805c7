/** What is done to a server: killed, started twice, its disk filled, its clock set. Each scene throws what is wrong. */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { applyLoad, FEEDBACK, type Ledger, openLedger, send, sendFile } from './load.ts'
import { type ServerProcess, startInVain, startServer } from './server-process.ts'
import { verify } from './verify.ts'

export interface Torture {
  readonly dataDir: string
  readonly ledger: Ledger
  readonly clients: number
  /** Longest time of load before the kill, milliseconds. */
  readonly loadMs: number
}

function demand(holds: boolean, text: string): void {
  if (!holds) throw new Error(text)
}

/** Loads a server, kills it at a random moment and looks at what the next one has. */
export async function killUnderLoad(torture: Torture): Promise<string> {
  const { dataDir, ledger, clients, loadMs } = torture
  const server = await startServer(dataDir)
  let isOver = false
  const load = applyLoad(server.url, ledger, { clients, isOver: () => isOver })
  await sleep(loadMs * (0.2 + 0.8 * Math.random()))
  await server.kill()
  isOver = true
  await load
  const next = await startServer(dataDir)
  try {
    return await verify(next.url, ledger)
  } finally {
    await next.kill()
  }
}

/** Starts a second server on the directory of one that works. */
export async function startTwice(torture: Torture): Promise<string> {
  const { dataDir, ledger, clients } = torture
  const server = await startServer(dataDir)
  try {
    let isOver = false
    const load = applyLoad(server.url, ledger, { clients, isOver: () => isOver })
    const { code, line } = await startInVain(dataDir)
    isOver = true
    await load
    demand(code === 1, `the second start ended with ${code}`)
    demand(line.includes(`in use by the process ${server.child.pid}`), `it said: ${line}`)
    return await verify(server.url, ledger)
  } finally {
    await server.stop()
  }
}

/** Sets the wall clock a day ahead and back under load. */
export async function setClock(torture: Torture): Promise<string> {
  const { dataDir, ledger, clients } = torture
  const server = await startServer(dataDir)
  try {
    let isOver = false
    const load = applyLoad(server.url, ledger, { clients, isOver: () => isOver })
    for (let n = 0; n < 2; n++) {
      server.child.kill('SIGUSR2')
      await sleep(300)
    }
    const apartMs = Math.abs((await readOwnTime(server)) - Date.now())
    isOver = true
    await load
    demand(apartMs < 60_000, `the clock of the server is ${apartMs} ms apart`)
    return await verify(server.url, ledger)
  } finally {
    await server.stop()
  }
}

/** A time that the server gives by itself. */
async function readOwnTime({ url }: ServerProcess): Promise<number> {
  const response = await send(url, '/feedback/create', FEEDBACK)
  return Date.parse(((await response.json()) as { created_at: string }).created_at)
}

/** Fills the disk of a server and frees it again. Needs the right to mount; tells when it has none. */
export async function fillDisk({ clients }: Pick<Torture, 'clients'>): Promise<string> {
  const dataDir = mkdtempSync(join(tmpdir(), 'weft-full-'))
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=24m', 'tmpfs', dataDir], { stdio: 'ignore' })
  } catch {
    rmdirSync(dataDir)
    return 'SKIPPED: a small disk cannot be mounted here'
  }
  try {
    return await fillMounted(dataDir, clients)
  } finally {
    execFileSync('umount', ['-l', dataDir])
    rmdirSync(dataDir)
  }
}

async function fillMounted(dataDir: string, clients: number): Promise<string> {
  const ledger = openLedger()
  const server = await startServer(dataDir)
  try {
    await loadFor(server, ledger, clients, 500)
    const ballast = join(dataDir, 'ballast')
    fill(ballast)
    await loadFor(server, ledger, clients, 500)
    const [status] = await sendFile(server.url, Buffer.alloc(200_000, 'full'))
    demand(status === 503, `a file on a full disk is answered with ${status}`)
    const ready = await fetch(`${server.url}/ready`)
    const text = await ready.text()
    demand(ready.status === 503 && text.includes('the disk is full'), `/ready says ${text}`)
    demand((await fetch(`${server.url}/health`)).status === 200, '/health does not answer')
    rmSync(ballast)
    // What /ready has found it tells for a second.
    await sleep(1_500)
    demand((await fetch(`${server.url}/ready`)).status === 200, '/ready does not recover')
    await loadFor(server, ledger, clients, 300)
    return await verify(server.url, ledger)
  } finally {
    await server.kill()
  }
}

async function loadFor(server: ServerProcess, ledger: Ledger, clients: number, ms: number) {
  const untilMs = performance.now() + ms
  await applyLoad(server.url, ledger, { clients, isOver: () => performance.now() > untilMs })
}

/** Writes until nothing more fits. */
function fill(path: string): void {
  try {
    for (;;) writeFileSync(path, Buffer.alloc(65_536), { flag: 'a' })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
  }
}
