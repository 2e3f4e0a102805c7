/**
 * What evaluators and rules of queues cost those who send calls: `call/upsert_batch` with one ended call of 1 KB, at a fixed
 * rate, to servers without them, with a rule on each call or on a tenth of them, with a queue that takes a share of the calls by
 * a rule, and with that queue fed by the scores of an evaluator on each call. Servers take turns in each round, in another order
 * each time, and ratios are those to the server without, within the round.
 *
 * npm run bench -- evaluators [rounds seconds calls-per-second]
 */
import { type ChildProcess, fork } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { cpus, loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Pool } from 'undici'
import { readCounts } from '../examples/script-arguments.ts'
import { cpuMs } from './servers/bench-server.ts'

const KEY = 'wk_bench_key_with_enough_letters'
const project_id = 'bench/evaluators'
/** Share of the calls that an evaluator scores, and whether a queue has rules. */
const VARIANTS = {
  nothing: { sampling: null, hasQueue: false },
  'evaluator, a tenth': { sampling: 0.1, hasQueue: false },
  'evaluator, each call': { sampling: 1, hasQueue: false },
  queue: { sampling: null, hasQueue: true },
  'evaluator and queue': { sampling: 1, hasQueue: true },
} as const
type Variant = keyof typeof VARIANTS
const NOTHING = 'nothing' satisfies Variant
const CONNECTIONS = 32
const WARM_UP_S = 2
const REST_MS = 1_500

const [rounds = 5, seconds = 4, rate = 500] = readCounts()

interface Server {
  readonly child: ChildProcess
  readonly pool: Pool
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
  const { sampling, hasQueue } = VARIANTS[variant]
  if (sampling !== null) {
    const scorer = { kind: 'rule', rule: { type: 'contains', texts: ['x'] } }
    await post(pool, '/evaluators', { project_id, name: 'rule', sampling, scorer })
  }
  if (hasQueue) {
    const scores = [{ feedback_type: 'wandb.runnable.rule', above: 0.5 }]
    const rules = { random: 0.1, scores, max_per_day: 10_000, max_waiting: 100_000 }
    await post(pool, '/annotation_queues', { project_id, name: 'queue', scorer_refs: [], rules })
  }
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

/** Sends calls at the rate, whether or not earlier ones are acknowledged; returns milliseconds until each acknowledgement. */
async function load({ pool }: Server, forSeconds: number): Promise<number[]> {
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
  return latencies
}

/**
 * Milliseconds of processor time that a server has used, and its main thread, which acknowledges, alone. From Linux's ticks of
 * 10 ms: other work does not add to it.
 */
function processorMs({ child: { pid } }: Server): [number, number] {
  return [cpuMs(pid), cpuMs(pid, pid)]
}

function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((left, right) => left - right)
  return sorted[Math.floor(sorted.length * share)] ?? Number.NaN
}

const median = (values: readonly number[]) => quantile(values, 0.5)

const directory = mkdtempSync(join(tmpdir(), 'weft-bench-'))
const names = Object.keys(VARIANTS) as Variant[]
const servers = new Map<Variant, Server>()
const latencies = new Map<Variant, number[][]>(names.map((name) => [name, []]))
const scored = new Map<Variant, number>()
const processor = new Map<Variant, [number, number]>(names.map((name) => [name, [0, 0]]))
try {
  for (const name of names) servers.set(name, await startServer(name, directory))
  for (const server of servers.values()) await load(server, WARM_UP_S)
  for (let round = 0; round < rounds; round++) {
    const turned = [...names.slice(round % names.length), ...names.slice(0, round % names.length)]
    for (const name of round % 2 === 0 ? turned : turned.toReversed()) {
      const server = servers.get(name)
      if (server === undefined) continue
      const before = processorMs(server)
      latencies.get(name)?.push(await load(server, seconds))
      // What a server has still to score must not slow the next one, and counts for it.
      await sleep(REST_MS)
      const after = processorMs(server)
      const sums = processor.get(name) ?? [0, 0]
      for (const at of [0, 1] as const) sums[at] += after[at] - before[at]
    }
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

/** The quantile of each round. */
const of = (name: Variant, share: number) =>
  (latencies.get(name) ?? []).map((values) => quantile(values, share))
const ratio = (name: Variant, share: number) => {
  const without = of(NOTHING, share)
  return median(of(name, share).map((ms, round) => ms / (without[round] ?? Number.NaN)))
}

/** Milliseconds of the processor for a call: the process, and its main thread. */
const busyMs = (name: Variant) =>
  (processor.get(name) ?? [0, 0]).map((ms) => ms / (rounds * Math.round(rate * seconds))) as [
    number,
    number,
  ]

console.log(`${cpus().length} x ${cpus()[0]?.model}, node ${process.version}`)
console.log(`${rate} calls/s, ${rounds} rounds of ${seconds} s, medians of the rounds\n`)
console.log(
  '| with | p50 ms | to nothing | p95 ms | to nothing | p99 ms | processor ms of a call | to nothing | main thread ms | to nothing | scored | load average |',
)
console.log('|---|---|---|---|---|---|---|---|---|---|---|---|')
for (const name of names) {
  const cells = [0.5, 0.95].flatMap((share) => [
    median(of(name, share)).toFixed(2),
    ratio(name, share).toFixed(2),
  ])
  const last = median(of(name, 0.99)).toFixed(1)
  const [busy, main] = busyMs(name)
  const more = [busy, main].map((ms, at) => [
    ms.toFixed(2),
    (ms / (busyMs(NOTHING)[at] ?? 0)).toFixed(2),
  ])
  console.log(
    `| ${name} | ${[...cells, last, ...more.flat(), scored.get(name), loadavg()[0]?.toFixed(0)].join(' | ')} |`,
  )
}
