/** The real process, with the flags of `npm start`, on a free port and in a folder of its own. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { expect, onTestFinished } from 'vitest'
import { START_FLAGS } from '../../bench/servers/start-flags.ts'
import { INHERITED } from './inherited.ts'
import { tieToParent } from './tied-process.ts'

export const TEST_KEY = 'wk_test_key_of_the_spawned_server'

export interface SpawnedServer {
  readonly url: string
  readonly process: ChildProcess
  /** Sends JSON with the key of the server. */
  post(path: string, body: unknown): Promise<Response>
  /** The same, demands 200, and parses the response; one of JSON lines becomes an array. */
  // biome-ignore lint/suspicious/noExplicitAny: responses of every shape.
  postJson(path: string, body: unknown): Promise<any>
  /** What it wrote so far. */
  output(): { readonly stdout: string; readonly stderr: string }
  /** Sends a signal and waits for the end. */
  stop(signal?: NodeJS.Signals): Promise<{ code: number | null; signal: NodeJS.Signals | null }>
}

interface EndedServer {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

function start(environment: Record<string, string>) {
  const command = tieToParent(process.execPath, [...START_FLAGS, 'src/server.ts'])
  const child = spawn(...command, {
    // The built-in trainer would claim jobs that are meant for the test's workers.
    env: {
      ...INHERITED,
      WEFT_PORT: '0',
      WEFT_TRAINER: 'off',
      ...environment,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const text = { stdout: '', stderr: '' }
  child.stdout.setEncoding('utf8')
  child.stderr.setEncoding('utf8')
  child.stdout.on('data', (chunk: string) => {
    text.stdout += chunk
  })
  child.stderr.on('data', (chunk: string) => {
    text.stderr += chunk
  })
  return { child, text, ended: once(child, 'close') }
}

/** Starts a server that is expected to run and ends with the test; resolves when it listens. */
export function spawnServer(environment: Record<string, string>): Promise<SpawnedServer> {
  return startServer(environment, (child) => onTestFinished(() => void child.kill('SIGKILL')))
}

/** The same for more than one test: the caller stops it. */
export async function startServer(
  environment: Record<string, string>,
  onStart: (child: ChildProcess) => void = () => undefined,
): Promise<SpawnedServer> {
  const { child, text, ended } = start({ WEFT_BOOTSTRAP_KEY: TEST_KEY, ...environment })
  onStart(child)
  const url = await new Promise<string>((resolve, reject) => {
    createInterface({ input: child.stdout }).on('line', (line) => {
      const match = /listening at (http:\/\/[^"]+)"/.exec(line)
      if (match?.[1]) resolve(match[1])
    })
    void ended.then(() => reject(new Error(`the server ended: ${text.stderr}`)))
  })
  const authorization = `Basic ${Buffer.from(`api:${TEST_KEY}`).toString('base64')}`
  const post = (path: string, body: unknown) =>
    fetch(url + path, {
      method: 'POST',
      headers: { authorization, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
  return {
    url,
    process: child,
    post,
    async postJson(path, body) {
      const response = await post(path, body)
      const text = await response.text()
      expect(response.status, text).toBe(200)
      if (!response.headers.get('content-type')?.includes('jsonl')) return JSON.parse(text)
      return text
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line))
    },
    output: () => ({ ...text }),
    async stop(signal = 'SIGTERM') {
      child.kill(signal)
      await ended
      return { code: child.exitCode, signal: child.signalCode }
    },
  }
}

/** Starts a server that is expected to refuse to run. */
export async function runUntilExit(environment: Record<string, string>): Promise<EndedServer> {
  const { child, text, ended } = start(environment)
  onTestFinished(() => void child.kill('SIGKILL'))
  await ended
  return { code: child.exitCode, ...text }
}
