/** The real server as a process of its own, with a wall clock that can be set. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { INHERITED } from '../support/inherited.ts'
import { tieToParent } from '../support/tied-process.ts'

export const KEY = 'wk_key_of_the_server_under_torture'
const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const PRELOAD = new URL('./clock-preload.ts', import.meta.url).href

export interface ServerProcess {
  readonly url: string
  readonly child: ChildProcess
  kill(): Promise<void>
  /** Resolves with the exit code. */
  stop(): Promise<number | null>
  /** Everything it wrote. */
  log(): string
}

function start(dataDir: string, environment: Readonly<Record<string, string>> = {}) {
  const command = tieToParent(process.execPath, ['--import', PRELOAD, 'src/server.ts'])
  const child = spawn(...command, {
    cwd: ROOT,
    env: {
      ...INHERITED,
      WEFT_DATA_DIR: dataDir,
      WEFT_PORT: '0',
      WEFT_TRAINER: 'off',
      WEFT_BOOTSTRAP_KEY: KEY,
      WEFT_LOG_LEVEL: 'info',
      ...environment,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let text = ''
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk
  })
  return { child, ended: once(child, 'close'), stderr: () => text }
}

/**
 * @param environment - variables that differ
 * @throws Error with what it wrote when it ends before it listens
 */
export async function startServer(
  dataDir: string,
  environment?: Readonly<Record<string, string>>,
): Promise<ServerProcess> {
  const { child, ended, stderr } = start(dataDir, environment)
  const lines = createInterface({ input: child.stdout })
  // Lines of answers are many; only the others tell of the server.
  const told: string[] = []
  const url = await new Promise<string>((resolve, reject) => {
    lines.on('line', (line) => {
      if (!/request answered|client disconnected/.test(line)) told.push(line)
      const match = /listening at (http:\/\/[^"]+)"/.exec(line)
      if (match?.[1]) resolve(match[1])
    })
    void ended.then(() => reject(new Error(`the server ended: ${stderr()}`)))
  })
  const end = async (signal: NodeJS.Signals) => {
    child.kill(signal)
    await ended
    return child.exitCode
  }
  return {
    url,
    child,
    kill: async () => void (await end('SIGKILL')),
    stop: () => end('SIGTERM'),
    log: () => told.join('\n') + stderr(),
  }
}

/** A start that must be refused. */
export async function startInVain(dataDir: string): Promise<{ code: number | null; line: string }> {
  const { child, ended, stderr } = start(dataDir)
  await ended
  return { code: child.exitCode, line: stderr().trim() }
}
