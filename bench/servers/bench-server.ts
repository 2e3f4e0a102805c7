/** The real server over a data directory, as bench/stats.ts starts and asks it. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { readStart } from './start-flags.ts'

export const KEY = 'wk_bench_key_with_enough_letters'
export const AUTHORIZATION = `Basic ${Buffer.from(`api:${KEY}`).toString('base64')}`
const CHECKOUT = fileURLToPath(new URL('../..', import.meta.url))
export interface BenchServer {
  readonly process: ChildProcess
  readonly port: number
  /** Seconds from the start to the listening socket, migrations included. */
  readonly startSeconds: number
  /** Posts JSON; throws for any status but 200. */
  post(path: string, body: unknown): Promise<Answer>
  stop(): Promise<void>
}

interface Answer {
  readonly ms: number
  readonly bytes: number
  readonly text: string
}

interface StartOptions {
  readonly environment?: Readonly<Record<string, string>>
  /** Flags of Node besides those of `npm start`. */
  readonly flags?: readonly string[]
  /** Folder whose code is started, with its own `npm start`; default: this checkout. */
  readonly checkout?: string
}

export async function startServer(
  dataDir: string,
  { environment = {}, flags = [], checkout = CHECKOUT }: StartOptions = {},
): Promise<BenchServer> {
  const begin = performance.now()
  const { START_FLAGS, START_ENVIRONMENT } = readStart(checkout)
  const server = join(checkout, 'src/server.ts')
  const child = spawn(process.execPath, [...START_FLAGS, ...flags, server], {
    env: {
      PATH: process.env.PATH,
      ...START_ENVIRONMENT,
      WEFT_PORT: '0',
      WEFT_DATA_DIR: dataDir,
      WEFT_BOOTSTRAP_KEY: KEY,
      WEFT_LOG_LEVEL: 'info',
      ...environment,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const port = await findPort(child)
  const startSeconds = (performance.now() - begin) / 1000
  const agent = new Agent({ keepAlive: true, maxSockets: 16 })
  return {
    process: child,
    port,
    startSeconds,
    post: (path, body) => post({ agent, port, path, body: Buffer.from(JSON.stringify(body)) }),
    async stop() {
      agent.destroy()
      child.kill('SIGTERM')
      if (child.exitCode === null) await once(child, 'close')
    },
  }
}

function findPort(child: ChildProcess): Promise<number> {
  return new Promise((resolve, reject) => {
    const output = child.stdout
    if (!output) return reject(new Error('the server has no output'))
    createInterface({ input: output }).on('line', (line) => {
      const port = /listening at http:\/\/[^":]+:(\d+)/.exec(line)?.[1]
      if (port) resolve(Number(port))
    })
    child.on('close', () => reject(new Error('the server ended')))
  })
}

interface Post {
  readonly agent: Agent
  readonly port: number
  readonly path: string
  readonly body: Buffer
}

function post({ agent, port, path, body }: Post): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const begin = performance.now()
    const headers = {
      authorization: AUTHORIZATION,
      'content-type': 'application/json',
      'content-length': body.length,
    }
    const sent = request({ host: '127.0.0.1', port, path, method: 'POST', headers, agent })
    sent.on('error', reject)
    sent.on('response', (response) => {
      const pieces: Buffer[] = []
      response.on('data', (piece: Buffer) => pieces.push(piece))
      response.on('error', reject)
      response.on('end', () => {
        const ms = performance.now() - begin
        const answer = Buffer.concat(pieces)
        const text = answer.toString()
        if (response.statusCode === 200) resolve({ ms, bytes: answer.length, text })
        else reject(new Error(`${path}: ${response.statusCode} ${text.slice(0, 300)}`))
      })
    })
    sent.end(body)
  })
}

/** Memory of a process in MB: now, or the peak since the last resetPeak. */
export function memoryMb(pid: number | undefined, field: 'VmRSS' | 'VmHWM'): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  return Number(new RegExp(`${field}:\\s+(\\d+) kB`).exec(status)?.[1]) / 1024
}

export function resetPeak(pid: number | undefined): void {
  writeFileSync(`/proc/${pid}/clear_refs`, '5')
}

/** Milliseconds of a tick of the kernel, the unit of its processor times. */
const TICK_MS = 10

/** Milliseconds of processor time that a process has used, or only one of its threads; that with the id of the process is its main thread. */
export function cpuMs(pid: number | undefined, thread?: number): number {
  const path = thread === undefined ? `/proc/${pid}/stat` : `/proc/${pid}/task/${thread}/stat`
  const [, after = ''] = /\) (.*)/.exec(readFileSync(path, 'utf8')) ?? []
  const [user, system] = after.split(' ').slice(11, 13).map(Number) as [number, number]
  return (user + system) * TICK_MS
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((left, right) => left - right)
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN
}
