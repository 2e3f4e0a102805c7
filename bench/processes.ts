/**
 * Ingest through one, two and three processes on one ClickHouse and PostgreSQL: calls a second, and the processor's time
 * that a call takes in the processes and in the engine, which says what bounds them.
 *
 * npm run bench -- processes [processes, default 3] [seconds, default 5]
 *
 * The engine is chdb in a process of its own (npm run tools -- chdb), PostgreSQL is Debian's.
 */
import { randomUUID } from 'node:crypto'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { cpus, loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { readCounts } from '../examples/script-arguments.ts'
import { createDatabase as createCallsDatabase } from '../test/store/clickhouse/clickhouse-server.ts'
import { createDatabase } from '../test/store/postgres/postgres-server.ts'
import { AUTHORIZATION, type BenchServer, startServer } from './servers/bench-server.ts'
import { runLoad } from './servers/load.ts'
import { cpuMs } from './servers/store-cases.ts'
import { PROJECT } from './stats/data.ts'
import { startRequest } from './stats/ingest.ts'

/** Of all processes together. */
const CONNECTIONS = 48
const BATCH_CALLS = 100
const WARM_UP_MS = 2000

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

async function measure(
  servers: readonly BenchServer[],
  load: { readonly name: string; readonly calls: number; readonly request: () => Buffer },
): Promise<void> {
  const connections = Math.ceil(CONNECTIONS / servers.length / (load.calls > 1 ? 4 : 1))
  const run = (durationMs: number) =>
    Promise.all(
      servers.map(({ port }) => runLoad({ port, connections, durationMs, request: load.request })),
    )
  await run(WARM_UP_MS)
  const engine = findEngine()
  const sumMs = () => servers.reduce((sum, server) => sum + cpuMs(server.process.pid), 0)
  const [ofServers, ofEngine, begun] = [sumMs(), cpuMs(engine), performance.now()]
  const results = await run(seconds * 1000)
  const takenMs = performance.now() - begun
  const answered = results.reduce((sum, result) => sum + result.answered, 0)
  const failed = results.reduce((sum, result) => sum + result.failed, 0)
  const calls = answered * load.calls
  const [serverMs, engineMs] = [sumMs() - ofServers, cpuMs(engine) - ofEngine]
  const perCall = (ms: number) => ((ms * 1000) / calls).toFixed(0)
  const share = (ms: number) => (ms / takenMs).toFixed(2)
  const rate = ((calls * 1000) / takenMs).toFixed(0)
  const cells = [load.name, servers.length, rate, perCall(serverMs), perCall(engineMs)]
  const rest = [share(serverMs), share(engineMs), failed, loadavg()[0]?.toFixed(0)]
  console.log(`| ${[...cells, ...rest].join(' | ')} |`)
}

const [processes = 3, seconds = 5] = readCounts()
console.log(`${cpus().length} x ${cpus()[0]?.model}, node ${process.version}`)
console.log(
  '| load | processes | calls/s | CPU us a call: processes | engine | cores: processes | engine | failed | load average |',
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
    const single = { name: '`call/start`', calls: 1, request: startRequest(randomUUID) }
    await measure(servers, single)
    await measure(servers, { name: 'batches of 100', calls: BATCH_CALLS, request: batchRequest })
  }
} finally {
  for (const server of servers) await server.stop()
  await Promise.all([calls.drop(), rest.drop()])
  rmSync(folder, { recursive: true })
}
process.exit()
