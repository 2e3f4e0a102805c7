/**
 * OpenTelemetry spans in batches of 512 with 1 KB of bodies, as exporters send them, beside `call/upsert_batch` of the
 * same calls, in turns in one run against one server. Both are acknowledged after the fsynced commit. Beside them other
 * servers, where they are installed (`npm run tools -- phoenix mlflow`): fewer of the same spans, until their database
 * has them.
 *
 * npm run bench -- otlp [rounds spans]
 */
import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { cpus, tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as delay } from 'node:timers/promises'
import { ProtobufTraceSerializer } from '@opentelemetry/otlp-transformer'
import { readCounts } from '../examples/script-arguments.ts'
import { type Peer, startPeer } from './peers/otlp-peers.ts'
import { START_ENVIRONMENT, START_FLAGS } from './servers/start-flags.ts'

const KEY = 'wk_bench_key_with_enough_letters'
const BATCH = 512
const CONNECTIONS = 4
/** Spans that another server is sent in a round. */
const PEER_SPANS = 2 * BATCH
/** How long it may take to store them. */
const PEER_MS_MAX = 120_000
const TEXT = 'The quick brown fox jumps over the lazy dog. '.repeat(12).slice(0, 512)
const FIRST_S = Date.UTC(2026, 0, 1) / 1000

const [rounds = 5, spans = 20_480] = readCounts()
const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS })

/** The content of one step, however it is sent. */
interface Step {
  readonly trace: string
  readonly id: string
  readonly second: number
  readonly tokens: number
}

let number = 0
function buildSteps(): Step[] {
  return Array.from({ length: BATCH }, () => {
    number += 1
    return {
      trace: randomBytes(16).toString('hex'),
      id: randomBytes(8).toString('hex'),
      second: FIRST_S + (number % 86_400),
      tokens: number % 1000,
    }
  })
}

function toProtobuf(steps: readonly Step[]): Buffer {
  const messages = (role: string) =>
    JSON.stringify([{ role, parts: [{ type: 'text', content: TEXT }] }])
  const readable = steps.map(({ trace, id, second, tokens }) => ({
    name: 'chat gpt-4o',
    kind: 2,
    spanContext: () => ({ traceId: trace, spanId: id, traceFlags: 1 }),
    startTime: [second, number],
    endTime: [second + 1, number],
    status: { code: 0 },
    attributes: {
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': 'openai',
      'gen_ai.request.model': 'gpt-4o',
      'gen_ai.input.messages': messages('user'),
      'gen_ai.output.messages': messages('assistant'),
      'gen_ai.usage.input_tokens': tokens,
      'gen_ai.usage.output_tokens': 100,
    },
    links: [],
    events: [],
    resource: { attributes: { 'service.name': 'bench' } },
    instrumentationScope: { name: 'bench', version: '1' },
  }))
  // biome-ignore lint/suspicious/noExplicitAny: the encoder reads no more of a span than stands here.
  return Buffer.from(ProtobufTraceSerializer.serializeRequest(readable as any) as Uint8Array)
}

function toBatch(steps: readonly Step[]): Buffer {
  const timeOf = (second: number) => new Date(second * 1000).toISOString()
  const message = (role: string) => ({ role, content: TEXT })
  const batch = steps.flatMap(({ trace, id, second, tokens }) => {
    const start = {
      project_id: 'bench/batch',
      id,
      trace_id: trace,
      op_name: 'chat gpt-4o',
      started_at: timeOf(second),
      attributes: { kind: 'llm', provider: 'openai' },
      inputs: { model: 'gpt-4o', messages: [message('user')] },
    }
    const usage = { requests: 1, prompt_tokens: tokens, completion_tokens: 100 }
    const end = {
      project_id: 'bench/batch',
      id,
      ended_at: timeOf(second + 1),
      output: { choices: [{ index: 0, message: message('assistant') }] },
      summary: { usage: { 'gpt-4o': usage } },
    }
    return [
      { mode: 'start', req: { start } },
      { mode: 'end', req: { end } },
    ]
  })
  return Buffer.from(JSON.stringify({ batch }))
}

const WAYS = {
  'OTLP, protobuf': { path: '/v1/traces', type: 'application/x-protobuf', encode: toProtobuf },
  'call/upsert_batch': { path: '/call/upsert_batch', type: 'application/json', encode: toBatch },
} as const

/** The credentials and project of a request to Weft. */
const CREDENTIALS = {
  authorization: `Basic ${Buffer.from(`api:${KEY}`).toString('base64')}`,
  project_id: 'bench/otlp',
}

/** Posts and fails unless everything was stored. */
async function post(
  address: string,
  type: string,
  body: Buffer,
  own: Readonly<Record<string, string>> = CREDENTIALS,
): Promise<void> {
  const headers = { ...own, 'content-type': type, 'content-length': body.length }
  const sent = request(address, { method: 'POST', headers, agent })
  sent.end(body)
  const [response] = await once(sent, 'response')
  let bytes = 0
  let head = ''
  for await (const chunk of response) {
    bytes += chunk.length
    if (head.length < 200) head += chunk.toString('latin1', 0, 200)
  }
  const isPartial = type !== 'application/json' && bytes > 0
  if (response.statusCode !== 200 || head.includes('"error"') || isPartial) {
    throw new Error(`${address}: ${response.statusCode} ${head}`)
  }
}

async function sendAll(url: string, name: keyof typeof WAYS, count: number): Promise<number> {
  const { path, type, encode } = WAYS[name]
  const bodies = Array.from({ length: Math.ceil(count / BATCH) }, () => encode(buildSteps()))
  const begin = performance.now()
  let next = 0
  const sender = async () => {
    for (let body = bodies[next++]; body; body = bodies[next++]) await post(url + path, type, body)
  }
  await Promise.all(Array.from({ length: CONNECTIONS }, sender))
  return (bodies.length * BATCH * 1000) / (performance.now() - begin)
}

/** @returns spans a second until the server's database has them all */
async function sendToPeer({ url, headers, stored }: Peer): Promise<number> {
  const { path, type, encode } = WAYS['OTLP, protobuf']
  const bodies = Array.from({ length: PEER_SPANS / BATCH }, () => encode(buildSteps()))
  const before = stored()
  const begin = performance.now()
  // Sequentially: MLflow refuses concurrent requests because its database is locked.
  for (const body of bodies) await post(url + path, type, body, headers)
  while (stored() < before + PEER_SPANS) {
    if (performance.now() > begin + PEER_MS_MAX) throw new Error(`${url} has lost spans`)
    await delay(20)
  }
  return (PEER_SPANS * 1000) / (performance.now() - begin)
}

function median(values: readonly number[]): number {
  return [...values].sort((left, right) => left - right)[values.length >> 1] ?? Number.NaN
}

const directory = mkdtempSync(join(tmpdir(), 'weft-bench-'))
const server = spawn(process.execPath, [...START_FLAGS, 'src/server.ts'], {
  env: {
    ...START_ENVIRONMENT,
    PATH: process.env.PATH,
    WEFT_PORT: '0',
    WEFT_DATA_DIR: directory,
    WEFT_BOOTSTRAP_KEY: KEY,
    WEFT_TRAINER: 'off',
  },
  stdio: ['ignore', 'pipe', 'inherit'],
})
const url = await new Promise<string>((resolve) => {
  createInterface({ input: server.stdout }).on('line', (line) => {
    const match = /listening at (http:\/\/[^"]+)"/.exec(line)
    if (match?.[1]) resolve(match[1])
  })
})
const peers = new Map<string, Peer>()
try {
  for (const name of ['phoenix', 'mlflow'] as const) {
    const peer = await startPeer(name, directory)
    if (peer) peers.set(name, peer)
  }
  const names = Object.keys(WAYS) as (keyof typeof WAYS)[]
  for (const name of names) await sendAll(url, name, 2 * BATCH)
  for (const peer of peers.values()) await sendToPeer(peer)
  const rates = new Map<string, number[]>([...names, ...peers.keys()].map((name) => [name, []]))
  for (let round = 0; round < rounds; round += 1) {
    const order = round % 2 === 0 ? names : [...names].reverse()
    for (const name of order) rates.get(name)?.push(await sendAll(url, name, spans))
    for (const [name, peer] of peers) rates.get(name)?.push(await sendToPeer(peer))
  }
  const rss = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${server.pid}/status`, 'utf8'))?.[1]
  console.log(`${cpus().length} x ${cpus()[0]?.model}, node ${process.version}`)
  console.log(`batches of ${BATCH} spans, ${CONNECTIONS} at once, ${rounds} rounds, medians\n`)
  console.log('| | spans/s | to upsert_batch |\n|---|---|---|')
  const base = median(rates.get('call/upsert_batch') ?? [])
  for (const name of rates.keys()) {
    const rate = median(rates.get(name) ?? [])
    console.log(`| ${name} | ${Math.round(rate)} | ${(rate / base).toFixed(2)} |`)
  }
  console.log(`\nmemory of the server afterwards: ${Math.round(Number(rss) / 1024)} MB`)
} finally {
  for (const peer of peers.values()) await peer.stop()
  server.kill('SIGKILL')
  agent.destroy()
  rmSync(directory, { recursive: true, force: true })
}
