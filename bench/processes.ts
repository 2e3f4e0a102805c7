/**
 * Ingest through one, two and three processes on one ClickHouse and PostgreSQL: calls a second, and the processor's time
 * that a call takes in the processes and in the engine beyond what they take when idle, which says what bounds them.
 *
 * npm run bench -- processes [processes, default 3] [seconds, default 5]
 *
 * The engine is chdb in a process of its own (npm run tools -- chdb), PostgreSQL is Debian's.
 */
import { randomUUID } from 'node:crypto'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { cpus, loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { readCounts } from '../examples/script-arguments.ts'
import { createDatabase as createCallsDatabase } from '../test/store/clickhouse/clickhouse-server.ts'
import { createDatabase } from '../test/store/postgres/postgres-server.ts'
import { AUTHORIZATION, type BenchServer, cpuMs, startServer } from './servers/bench-server.ts'
import { runLoad } from './servers/load.ts'
import { PROJECT } from './stats/data.ts'
import { startRequest } from './stats/ingest.ts'

/** Of each process: as many calls come together in one process, however many there are, so that its groups of writes are as large. */
const CONNECTIONS = 16
const BATCH_CONNECTIONS = 4
const BATCH_CALLS = 100
const WARM_UP_MS = 2000
/** A server that listens still loads its threads. */
const STARTED_MS = 8000

/** The process of the engine, which is a child of this one. */
function findEngine(): number {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name))
  const found = pids.find((pid) => {
    try {
      const isChild = readFileSync(`/proc/${pid}/stat`, 'utf8').includes(`) S ${process.pid} `)
      return isChild && readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('chdb-front')
    } catch {
      return false
    }
  })
  if (found === undefined) throw new Error('the engine does not run beside')
  return Number(found)
}

/** One `call/upsert_batch` of whole calls of 1 KB. */
function batchRequest(): Buffer {
  const text = 'x'.repeat(700)
  const now = new Date().toISOString()
  const batch = Array.from({ length: BATCH_CALLS }, () => {
    const named = { project_id: PROJECT, id: randomUUID() }
    const start = { ...named, trace_id: named.id, op_name: 'op-1', started_at: now, attributes: {} }
    return [
      { mode: 'start', req: { start: { ...start, inputs: { text } } } },
      { mode: 'end', req: { end: { ...named, ended_at: now, output: null, summary: {} } } },
    ]
  })
  const body = JSON.stringify({ batch: batch.flat() })
  const head = `POST /call/upsert_batch HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: ${AUTHORIZATION}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n`
  return Buffer.from(head + body)
}

/** What processes and engine take of the processor, in cores, while nothing is sent to them. */
interface Idle {
  readonly servers: number
  readonly engine: number
}

/** Milliseconds of the processor: of all processes, and of the engine. */
function readCpuMs(servers: readonly BenchServer[], engine: number): [number, number] {
  return [servers.reduce((sum, server) => sum + cpuMs(server.process.pid), 0), cpuMs(engine)]
}

async function measureIdle(servers: readonly BenchServer[]): Promise<Idle> {
  await sleep(STARTED_MS)
  const engine = findEngine()
  const [before, begun] = [readCpuMs(servers, engine), performance.now()]
  await sleep(seconds * 1000)
  const [after, takenMs] = [readCpuMs(servers, engine), performance.now() - begun]
  const [ofServers, ofEngine] = [0, 1].map((at) => ((after[at] ?? 0) - (before[at] ?? 0)) / takenMs)
  return { servers: ofServers ?? 0, engine: ofEngine ?? 0 }
}

/** @param idle - what is taken without a load, which is no part of a call */
async function measure(
  servers: readonly BenchServer[],
  idle: Idle,
  load: { readonly name: string; readonly calls: number; readonly request: () => Buffer },
): Promise<void> {
  const connections = load.calls > 1 ? BATCH_CONNECTIONS : CONNECTIONS
  const run = (durationMs: number) =>
    Promise.all(
      servers.map(({ port }) => runLoad({ port, connections, durationMs, request: load.request })),
    )
  await run(WARM_UP_MS)
  const engine = findEngine()
  const [[ofServers, ofEngine], begun] = [readCpuMs(servers, engine), performance.now()]
  const results = await run(seconds * 1000)
  const takenMs = performance.now() - begun
  const answered = results.reduce((sum, result) => sum + result.answered, 0)
  const failed = results.reduce((sum, result) => sum + result.failed, 0)
  const calls = answered * load.calls
  const after = readCpuMs(servers, engine)
  const [serverMs, engineMs] = [after[0] - ofServers, after[1] - ofEngine]
  const perCall = (ms: number, idleCores: number) =>
    (((ms - idleCores * takenMs) * 1000) / calls).toFixed(0)
  const share = (ms: number, idleCores: number) =>
    `${(ms / takenMs).toFixed(2)} (${idleCores.toFixed(2)})`
  const rate = ((calls * 1000) / takenMs).toFixed(0)
  const ofCall = [perCall(serverMs, idle.servers), perCall(engineMs, idle.engine)]
  const cells = [load.name, servers.length, rate, ...ofCall]
  const shares = [share(serverMs, idle.servers), share(engineMs, idle.engine)]
  const rest = [...shares, failed, loadavg()[0]?.toFixed(0)]
  console.log(`| ${[...cells, ...rest].join(' | ')} |`)
}

const [processes = 3, seconds = 5] = readCounts()
console.log(`${cpus().length} x ${cpus()[0]?.model}, node ${process.version}`)
console.log(
  '| load | processes | calls/s | CPU us a call: processes | engine | cores (idle): processes | engine | failed | load average |',
)
console.log('|---|---|---|---|---|---|---|---|---|')
const folder = mkdtempSync(join(tmpdir(), 'weft-bench-processes-'))
const [calls, rest] = [await createCallsDatabase(), await createDatabase()]
const environment = {
  WEFT_STORE: 'clickhouse',
  WEFT_CLICKHOUSE_URL: calls.url,
  WEFT_META_URL: rest.url,
}
const servers: BenchServer[] = []
try {
  while (servers.length < processes) {
    servers.push(await startServer(join(folder, String(servers.length)), { environment }))
    const idle = await measureIdle(servers)
    const single = { name: '`call/start`', calls: 1, request: startRequest(randomUUID) }
    await measure(servers, idle, single)
    await measure(servers, idle, {
      name: 'batches of 100',
      calls: BATCH_CALLS,
      request: batchRequest,
    })
  }
} finally {
  for (const server of servers) await server.stop()
  await Promise.all([calls.drop(), rest.drop()])
  rmSync(folder, { recursive: true })
}
process.exit()
