/** The parts of bench/stats.ts that write: ingest during polls, and compared with an empty database. */
import { type ChildProcess, fork } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { v7 as uuidv7 } from 'uuid'
import {
  AUTHORIZATION,
  type BenchServer,
  KEY,
  median,
  startServer,
} from '../servers/bench-server.ts'
import { type LoadResult, runLoad } from '../servers/load.ts'
import { PROJECT } from './data.ts'
import { listQuestions, type Question, toBody } from './questions.ts'

const CONNECTIONS = 64
const BODY_BYTES = 1024
const WARM_UP_MS = 2000
const HOUR_US = 3600e6
/** Calls per second during polls, far below what the server can do. */
const PACE_PER_S = 1000
const POLLS_PER_S = 10
const ROUNDS = 5
const ROUND_MS = 4000

/** One `call/start` of now with 1 KB of inputs. */
export function startRequest(newId: () => string): () => Buffer {
  const head = (length: number) =>
    `POST /call/start HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: ${AUTHORIZATION}\r\ncontent-type: application/json\r\ncontent-length: ${length}\r\n\r\n`
  const text = 'x'.repeat(BODY_BYTES - 300)
  return () => {
    const id = newId()
    const start = {
      project_id: PROJECT,
      id,
      trace_id: newId(),
      op_name: 'op-1',
      started_at: new Date().toISOString(),
      attributes: { source: 'bench' },
      inputs: { text },
    }
    const body = JSON.stringify({ start })
    return Buffer.from(head(body.length) + body)
  }
}

/** Asks for the current hour by the minute. */
function currentHour(nowUs: number): Question {
  const [whole] = listQuestions(1)
  const startUs = Math.floor(nowUs / HOUR_US) * HOUR_US
  return { ...(whole as Question), startUs, endUs: nowUs, granularityS: 60 }
}

/** Milliseconds of queries about the current hour while 64 connections write into it. */
export async function askUnderIngest(server: BenchServer, times: number): Promise<number[]> {
  const load = runLoad({
    port: server.port,
    connections: CONNECTIONS,
    durationMs: WARM_UP_MS + times * 250,
    request: startRequest(randomUUID),
  })
  await new Promise((resolve) => setTimeout(resolve, WARM_UP_MS))
  const taken: number[] = []
  for (let time = 0; time < times; time++) {
    const { ms } = await server.post('/calls/stats', toBody(currentHour(Date.now() * 1000)))
    taken.push(ms)
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  const { failed } = await load
  if (failed > 0) throw new Error(`${failed} calls were refused`)
  return taken
}

interface AckResult {
  readonly without: number
  readonly withPolls: number
  readonly polls: number
}

/** p99 of acknowledgements at a steady pace, alternately with and without ten polls a second. */
export async function measureAcks(server: BenchServer): Promise<AckResult> {
  const without: number[] = []
  const withPolls: number[] = []
  let polls = 0
  await paceCalls(server, WARM_UP_MS)
  for (let round = 0; round < ROUNDS; round++) {
    without.push(p99(await paceCalls(server, ROUND_MS)))
    const stop = startPolls(server, () => {
      polls += 1
    })
    withPolls.push(p99(await paceCalls(server, ROUND_MS)))
    await stop()
  }
  return { without: median(without), withPolls: median(withPolls), polls }
}

function p99(values: readonly number[]): number {
  const sorted = [...values].sort((left, right) => left - right)
  return sorted[Math.floor(0.99 * (sorted.length - 1))] ?? Number.NaN
}

/** Sends calls at a steady pace, without waiting for the answers to earlier ones. */
async function paceCalls(server: BenchServer, durationMs: number): Promise<number[]> {
  const taken: number[] = []
  const text = 'x'.repeat(BODY_BYTES - 300)
  const pending: Promise<void>[] = []
  const begin = performance.now()
  const count = (durationMs * PACE_PER_S) / 1000
  for (let sent = 0; sent < count; ) {
    const due = Math.min(count, Math.ceil(((performance.now() - begin) * PACE_PER_S) / 1000))
    for (; sent < due; sent++) {
      const times = { started_at: new Date().toISOString(), attributes: {}, inputs: { text } }
      const start = { project_id: PROJECT, id: randomUUID(), op_name: 'op-1', ...times }
      pending.push(server.post('/call/start', { start }).then(({ ms }) => void taken.push(ms)))
    }
    await new Promise((resolve) => setTimeout(resolve, 1))
  }
  await Promise.all(pending)
  return taken
}

/** Alternately polls the month and the current hour. */
function startPolls(server: BenchServer, onAnswer: () => void): () => Promise<void> {
  const [whole] = listQuestions(1)
  const pending = new Set<Promise<void>>()
  let number = 0
  const timer = setInterval(() => {
    number += 1
    const question = number % 2 === 0 ? (whole as Question) : currentHour(Date.now() * 1000)
    const poll = server.post('/calls/stats', toBody(question)).then(onAnswer)
    pending.add(poll)
    void poll.finally(() => pending.delete(poll))
  }, 1000 / POLLS_PER_S)
  return async () => {
    clearInterval(timer)
    await Promise.all(pending)
  }
}

/** `call/start` at 64 connections: calls a second by kind of server and of ids. */
interface IngestResult {
  readonly name: string
  readonly perSecond: number
  readonly p50Ms: number
  readonly p99Ms: number
  readonly failed: number
}

/** In turns: the full server, an empty one and one without a store, with random and with ordered ids. */
export async function measureIngest(full: BenchServer): Promise<IngestResult[]> {
  const directory = mkdtempSync(join(tmpdir(), 'weft-bench-'))
  const empty = await startServer(join(directory, 'empty'))
  const bare = fork(new URL('../servers/ingest-server.ts', import.meta.url), [
    'validation only',
    KEY,
    directory,
  ])
  try {
    const [address] = (await once(bare, 'message')) as [{ port: number }]
    const cases = [
      { name: 'validation only', port: address.port, newId: randomUUID },
      { name: 'empty, random ids', port: empty.port, newId: randomUUID },
      { name: 'stored, random ids', port: full.port, newId: randomUUID },
      { name: 'empty, UUIDv7', port: empty.port, newId: () => uuidv7() },
      { name: 'stored, UUIDv7', port: full.port, newId: () => uuidv7() },
    ]
    const runs = new Map<string, LoadResult[]>(cases.map(({ name }) => [name, []]))
    for (let round = -1; round < ROUNDS; round++) {
      for (const { name, port, newId } of cases) {
        const durationMs = round === -1 ? WARM_UP_MS : ROUND_MS
        const request = startRequest(newId)
        const result = await runLoad({ port, connections: CONNECTIONS, durationMs, request })
        if (round >= 0) runs.get(name)?.push(result)
      }
    }
    return [...runs].map(([name, results]) => summarize(name, results))
  } finally {
    await stopChild(bare)
    await empty.stop()
    rmSync(directory, { recursive: true, force: true })
  }
}

function summarize(name: string, results: readonly LoadResult[]): IngestResult {
  return {
    name,
    perSecond: median(results.map(({ perSecond }) => perSecond)),
    p50Ms: median(results.map(({ p50Ms }) => p50Ms)),
    p99Ms: median(results.map(({ p99Ms }) => p99Ms)),
    failed: results.reduce((sum, { failed }) => sum + failed, 0),
  }
}

async function stopChild(child: ChildProcess): Promise<void> {
  child.kill('SIGKILL')
  if (child.exitCode === null && child.signalCode === null) await once(child, 'close')
}
