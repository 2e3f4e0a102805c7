/**
 * `call/upsert_batch` with batches of 100 calls beside bare better-sqlite3 with the same rows, in turns in
 * one run; then `calls/stream_query` over many calls, with the peak memory of the server.
 *
 * npm run bench -- batch [rounds calls streamed]
 */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { cpus, tmpdir } from 'node:os'
import { join } from 'node:path'
import { readCounts } from '../examples/script-arguments.ts'
import { openBare } from './peers/batch-bare.ts'
import { BATCH_CALLS, type BenchCall, buildBody, buildCall } from './peers/batch-rows.ts'
import { median, memoryMb, resetPeak } from './servers/bench-server.ts'

const KEY = 'wk_bench_key_with_enough_letters'
const PROJECT = 'bench/batch'
/** Batches in flight at once, like those of a few SDK processes. */
const CONNECTIONS = 4

const [rounds = 5, calls = 20_000, streamed = 100_000] = readCounts()

const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS })
let number = 0

interface Server {
  readonly child: ChildProcess
  readonly port: number
}

async function startServer(directory: string): Promise<Server> {
  const args = ['group commit', KEY, directory]
  const child = fork(new URL('./servers/ingest-server.ts', import.meta.url), args)
  const [address] = (await once(child, 'message')) as [{ port: number }]
  return { child, port: address.port }
}

/** Posts and counts the lines and bytes of the answer, without keeping it. */
function post(port: number, path: string, body: Buffer): Promise<{ lines: number; bytes: number }> {
  return new Promise((resolve, reject) => {
    const headers = {
      authorization: `Basic ${Buffer.from(`api:${KEY}`).toString('base64')}`,
      'content-type': 'application/json',
      'content-length': body.length,
    }
    const sent = request({ host: '127.0.0.1', port, path, method: 'POST', headers, agent })
    sent.on('error', reject)
    sent.on('response', (response) => {
      let lines = 0
      let bytes = 0
      let head = ''
      response.on('data', (chunk: Buffer) => {
        bytes += chunk.length
        if (head.length < 300) head += chunk.toString('latin1', 0, 300)
        for (let at = chunk.indexOf(10); at !== -1; at = chunk.indexOf(10, at + 1)) lines += 1
      })
      response.on('error', reject)
      response.on('end', () => {
        const isFine = response.statusCode === 200 && !head.includes('"error"')
        if (isFine) resolve({ lines, bytes })
        else reject(new Error(`${path}: ${response.statusCode} ${head}`))
      })
    })
    sent.end(body)
  })
}

function buildBatches(count: number): BenchCall[][] {
  return Array.from({ length: Math.ceil(count / BATCH_CALLS) }, () =>
    Array.from({ length: BATCH_CALLS }, () => buildCall(PROJECT, number++)),
  )
}

/** Sends batches over all connections; calls per second. */
async function sendAll(port: number, batches: readonly BenchCall[][]): Promise<number> {
  const bodies = batches.map(buildBody)
  const begin = performance.now()
  let next = 0
  const sender = async () => {
    for (let body = bodies[next++]; body; body = bodies[next++]) {
      await post(port, '/call/upsert_batch', body)
    }
  }
  await Promise.all(Array.from({ length: CONNECTIONS }, sender))
  return (batches.length * BATCH_CALLS * 1000) / (performance.now() - begin)
}

function insertAll(bare: ReturnType<typeof openBare>, batches: readonly BenchCall[][]): number {
  const begin = performance.now()
  for (const batch of batches) bare.insertBatch(batch)
  return (batches.length * BATCH_CALLS * 1000) / (performance.now() - begin)
}

const directory = mkdtempSync(join(tmpdir(), 'weft-bench-'))
const server = await startServer(directory)
const bare = openBare(join(directory, 'bare'))
const sent: number[] = []
const inserted: number[] = []
try {
  await sendAll(server.port, buildBatches(1000))
  insertAll(bare, buildBatches(1000))
  for (let round = 0; round < rounds; round++) {
    sent.push(await sendAll(server.port, buildBatches(calls)))
    inserted.push(insertAll(bare, buildBatches(calls)))
  }
  const stored = 1000 + rounds * Math.ceil(calls / BATCH_CALLS) * BATCH_CALLS
  for (let left = streamed - stored; left > 0; left -= 10_000) {
    await sendAll(server.port, buildBatches(Math.min(left, 10_000)))
  }

  const { pid } = server.child
  resetPeak(pid)
  const rssMb = memoryMb(pid, 'VmRSS')
  const begin = performance.now()
  const query = Buffer.from(JSON.stringify({ project_id: PROJECT, limit: streamed }))
  const { lines, bytes } = await post(server.port, '/calls/stream_query', query)
  const seconds = (performance.now() - begin) / 1000
  const peakMb = memoryMb(pid, 'VmHWM')

  console.log(`${cpus().length} x ${cpus()[0]?.model}, node ${process.version}`)
  console.log(`batches of ${BATCH_CALLS} calls, ${CONNECTIONS} at once, 1 KB of bodies a call`)
  console.log(`${rounds} rounds of ${calls} calls, medians\n`)
  console.log('| | calls/s | to bare |')
  console.log('|---|---|---|')
  const ratio = median(sent) / median(inserted)
  console.log(`| call/upsert_batch | ${Math.round(median(sent))} | ${ratio.toFixed(2)} |`)
  console.log(`| bare better-sqlite3 | ${Math.round(median(inserted))} | 1.00 |`)
  console.log('')
  console.log('| calls/stream_query | rows/s | MB/s | memory before, MB | peak, MB |')
  console.log('|---|---|---|---|---|')
  const rate = `${Math.round(lines / seconds)} | ${(bytes / seconds / 1e6).toFixed(1)}`
  console.log(`| ${lines} rows | ${rate} | ${rssMb.toFixed(0)} | ${peakMb.toFixed(0)} |`)
} finally {
  bare.close()
  server.child.kill('SIGKILL')
  agent.destroy()
  rmSync(directory, { recursive: true, force: true })
}
