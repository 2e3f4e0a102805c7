/**
 * What evaluators cost those who send calls: `call/upsert_batch` with one ended call of 1 KB, at a fixed rate, to servers
 * without evaluators and with a rule on each call or on a tenth of them, in turns in one run.
 *
 * npm run bench -- evaluators [rounds seconds calls-per-second]
 */
import { type ChildProcess, fork } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { cpus, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Pool } from 'undici'
import { readCounts } from '../examples/script-arguments.ts'

const KEY = 'wk_bench_key_with_enough_letters'
const project_id = 'bench/evaluators'
const VARIANTS = { none: null, 'a tenth': 0.1, 'each call': 1 } as const
type Variant = keyof typeof VARIANTS
const CONNECTIONS = 32
const WARM_UP_S = 2

const [rounds = 5, seconds = 4, rate = 500] = readCounts()

interface Server {
  readonly child: ChildProcess
  readonly pool: Pool
}

interface Result {
  /** Milliseconds until each acknowledgement. */
  readonly latencies: number[]
}

async function post(pool: Pool, path: string, body: object): Promise<string> {
  const response = await pool.request({
    path,
    method: 'POST',
    headers: {
      authorization: `Basic ${Buffer.from(`api:${KEY}`).toString('base64')}`,
      'content-type': 'application/json',
    },
    body: JSON.stringify(body),
  })
  const text = await response.body.text()
  if (response.statusCode !== 200) throw new Error(text)
  return text
}

async function startServer(variant: Variant, directory: string): Promise<Server> {
  const child = fork(new URL('./servers/ingest-server.ts', import.meta.url), [
    'group commit',
    KEY,
    directory,
  ])
  const [address] = (await once(child, 'message')) as [{ port: number }]
  const pool = new Pool(`http://127.0.0.1:${address.port}`, { connections: CONNECTIONS })
  const sampling = VARIANTS[variant]
  if (sampling === null) return { child, pool }
  const rule = { type: 'contains', texts: ['x'] }
  const scorer = { kind: 'rule', rule }
  await post(pool, '/evaluators', { project_id, name: 'rule', sampling, scorer })
  return { child, pool }
}

function newCall() {
  const id = randomUUID()
  const at = new Date().toISOString()
  const named = { project_id, id }
  const start = { ...named, op_name: 'predict', trace_id: randomUUID(), started_at: at }
  const inputs = { text: 'x'.repeat(1024) }
  return {
    batch: [
      { mode: 'start', req: { start: { ...start, attributes: {}, inputs } } },
      { mode: 'end', req: { end: { ...named, ended_at: at, output: 'x', summary: {} } } },
    ],
  }
}

/** Sends calls at the rate, whether or not earlier ones are acknowledged. */
async function load({ pool }: Server, forSeconds: number): Promise<Result> {
  const latencies: number[] = []
  const sent: Promise<void>[] = []
  const begunMs = performance.now()
  const count = Math.round(rate * forSeconds)
  while (sent.length < count) {
    const due = Math.min(count, ((performance.now() - begunMs) / 1000) * rate)
    while (sent.length < due) {
      const sentMs = performance.now()
      const acknowledged = post(pool, '/call/upsert_batch', newCall())
      sent.push(acknowledged.then(() => void latencies.push(performance.now() - sentMs)))
    }
    await sleep(2)
  }
  await Promise.all(sent)
  return { latencies }
}

function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((left, right) => left - right)
  return sorted[Math.floor(sorted.length * share)] ?? Number.NaN
}

const median = (values: readonly number[]) => quantile(values, 0.5)

const directory = mkdtempSync(join(tmpdir(), 'weft-bench-'))
const names = Object.keys(VARIANTS) as Variant[]
const servers = new Map<Variant, Server>()
const results = new Map<Variant, Result[]>(names.map((name) => [name, []]))
const scored = new Map<Variant, number>()
try {
  for (const name of names) servers.set(name, await startServer(name, directory))
  for (const server of servers.values()) await load(server, WARM_UP_S)
  for (let round = 0; round < rounds; round++) {
    for (const [name, server] of servers) results.get(name)?.push(await load(server, seconds))
  }
  await sleep(5_000)
  for (const [name, { pool }] of servers) {
    const { evaluators } = JSON.parse(await post(pool, '/evaluators/query', { project_id }))
    scored.set(name, evaluators[0]?.scored ?? 0)
  }
} finally {
  for (const { child } of servers.values()) child.kill('SIGKILL')
  rmSync(directory, { recursive: true, force: true })
}

console.log(`${cpus().length} x ${cpus()[0]?.model}, node ${process.version}`)
console.log(`${rate} calls/s, ${rounds} rounds of ${seconds} s, medians of the rounds\n`)
console.log('| evaluator on | p50 ms | to none | p95 ms | to none | p99 ms | scored |')
console.log('|---|---|---|---|---|---|---|')
const of = (name: Variant, share: number) =>
  median((results.get(name) ?? []).map(({ latencies }) => quantile(latencies, share)))
for (const name of names) {
  const cells = [0.5, 0.95].flatMap((share) => {
    const ms = of(name, share)
    return [ms.toFixed(2), (ms / of('none', share)).toFixed(2)]
  })
  console.log(
    `| ${name} | ${cells.join(' | ')} | ${of(name, 0.99).toFixed(1)} | ${scored.get(name)} |`,
  )
}
