/**
 * The way of a request: the files and functions that one warm request executes, in all threads of the server, by V8's
 * precise coverage.
 *
 * npm run bench -- walk [--list]
 *
 * --list: names the files.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { readArguments } from '../examples/script-arguments.ts'

/** `reset` forgets what was called, `take` reports it. */
export type WalkCommand = 'reset' | 'take'
/** The called functions of one thread by file, below src. */
export type ThreadWalk = Readonly<Record<string, readonly string[]>>

const KEY = 'wk_walk_key_with_enough_letters'
const BASIC = `Basic ${Buffer.from(`api:${KEY}`).toString('base64')}`
const ROOT = fileURLToPath(new URL('..', import.meta.url))
const PROJECT = 'acme/walk'
const WARM_UPS = 30
/** How long threads have to finish what a request left behind, and to report. */
const SETTLE_MS = 700
const SHORT_LINES = 50

/** A request that is measured. Each is sent anew, with ids of its own. */
interface Case {
  readonly name: string
  readonly path: string
  readonly authorization: string
  body(): unknown
}

const CASES: readonly Case[] = [
  {
    name: 'POST /call/start',
    path: '/call/start',
    authorization: BASIC,
    body: () => ({ start: startOf() }),
  },
  {
    name: 'POST /v1/chat/completions, streamed, relayed, recorded',
    path: '/v1/chat/completions',
    authorization: `Bearer ${KEY}`,
    body: () => ({ model: 'relayed', stream: true, messages: [{ role: 'user', content: 'Hi' }] }),
  },
  {
    name: 'POST /calls/stats',
    path: '/calls/stats',
    authorization: BASIC,
    body: () => ({
      project_id: PROJECT,
      start: new Date(Date.now() - 3_600_000).toISOString(),
      granularity: 3600,
      call_metrics: [{ metric: 'latency_ms', aggregations: ['avg'], percentiles: [95] }],
      usage_metrics: [{ metric: 'total_tokens' }, { metric: 'total_cost' }],
    }),
  },
]

function startOf() {
  const started_at = new Date().toISOString()
  return { project_id: PROJECT, op_name: 'walk', started_at, attributes: {}, inputs: { a: 1 } }
}

/** An upstream that streams an answer of three chunks. */
async function startUpstream(): Promise<{ readonly url: string; close(): void }> {
  const chunk = (delta: object, finish_reason: string | null) =>
    `data: ${JSON.stringify({
      id: 'c',
      object: 'chat.completion.chunk',
      created: 1,
      model: 'relayed',
      choices: [{ index: 0, delta, finish_reason }],
    })}\n\n`
  const server = createServer((request, response) => {
    request.resume().on('end', () => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write(chunk({ role: 'assistant', content: 'Hel' }, null))
      response.end(`${chunk({ content: 'lo' }, null)}${chunk({}, 'stop')}data: [DONE]\n\n`)
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}/v1`, close: () => void server.close() }
}

async function startServer(directory: string, upstreamUrl: string) {
  const models = join(directory, 'models.json')
  const model = { id: 'relayed', backend: 'openai', base_url: upstreamUrl }
  writeFileSync(models, JSON.stringify({ models: [model] }))
  const preload = join(ROOT, 'bench/walk/coverage-preload.ts')
  const child = spawn(process.execPath, [`--import=${preload}`, join(ROOT, 'src/server.ts')], {
    cwd: directory,
    env: {
      PATH: process.env.PATH,
      WEFT_PORT: '0',
      WEFT_DATA_DIR: join(directory, 'data'),
      WEFT_BOOTSTRAP_KEY: KEY,
      WEFT_MODELS_FILE: models,
      WEFT_TRAINER: 'off',
    },
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  })
  const url = await new Promise<string>((resolve, reject) => {
    createInterface({ input: child.stdout as NodeJS.ReadableStream }).on('line', (line) => {
      const found = /listening at (http:\/\/[^"]+)"/.exec(line)
      if (found?.[1]) resolve(found[1])
    })
    child.once('exit', () => reject(new Error('the server did not start')))
  })
  return { child, url }
}

async function send(url: string, { path, authorization, body }: Case): Promise<void> {
  const response = await fetch(`${url}${path}`, {
    method: 'POST',
    headers: { authorization, 'content-type': 'application/json', 'compat-project': PROJECT },
    body: JSON.stringify(body()),
  })
  const text = await response.text()
  if (!response.ok) throw new Error(`${path}: ${response.status} ${text}`)
}

async function measure(child: ChildProcess, url: string, tried: Case): Promise<ThreadWalk[]> {
  for (let count = 0; count < WARM_UPS; count++) await send(url, tried)
  await sleep(SETTLE_MS)
  child.send('reset' satisfies WalkCommand)
  await sleep(SETTLE_MS)
  const walks: ThreadWalk[] = []
  child.on('message', (walk) => walks.push(walk as ThreadWalk))
  await send(url, tried)
  await sleep(SETTLE_MS)
  child.send('take' satisfies WalkCommand)
  await sleep(SETTLE_MS)
  child.removeAllListeners('message')
  return walks.filter((walk) => Object.keys(walk).length > 0)
}

const { values } = readArguments({ options: { list: { type: 'boolean', default: false } } })
const directory = mkdtempSync(join(tmpdir(), 'weft-walk-'))
const upstream = await startUpstream()
const { child, url } = await startServer(directory, upstream.url)
try {
  console.log('| request | files | functions | threads | files of less than 50 lines |')
  console.log('|---|---|---|---|---|')
  for (const tried of CASES) {
    const walks = await measure(child, url, tried)
    const files = [...new Set(walks.flatMap((walk) => Object.keys(walk)))].sort()
    const functions = walks.flatMap((walk) => Object.values(walk)).flat().length
    const lines = (file: string) => readFileSync(join(ROOT, 'src', file), 'utf8').split('\n').length
    const short = files.filter((file) => lines(file) <= SHORT_LINES).length
    console.log(`| ${tried.name} | ${files.length} | ${functions} | ${walks.length} | ${short} |`)
    if (values.list) console.log(files.map((file) => `  ${file}`).join('\n'))
  }
} finally {
  child.kill()
  upstream.close()
  await once(child, 'exit')
  rmSync(directory, { recursive: true, force: true })
}
