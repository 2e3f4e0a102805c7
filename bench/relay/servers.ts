/** The processes of bench/relay.ts: starts them on free ports of loopback and asks what they use. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { LoadResult } from '../servers/load.ts'
import type { ProcessUse } from '../servers/process-probe.ts'
import { START_ENVIRONMENT, START_FLAGS } from '../servers/start-flags.ts'
import { findCommand, findTool } from '../tools/find-tool.ts'
import type { LoadJob } from './load.ts'
import { HELD_MODEL, KEY, PROJECT, type Variant } from './requests.ts'

/** Limit: how long a process may take to listen. */
const START_MS_MAX = 120_000

export interface Server {
  readonly port: number
  /** Of requests to it. */
  readonly key: string
  /** What the process has used since its start. It collects garbage before memory is measured. */
  use(question?: 'time' | 'memory'): Promise<ProcessUse>
  stop(): void
}

const pathOf = (name: string) => fileURLToPath(new URL(name, import.meta.url))

interface Program {
  readonly script: string
  readonly args: readonly string[]
  /** Flags of Node. */
  readonly flags?: readonly string[]
  readonly environment?: Readonly<Record<string, string>>
  /** Whether its log is hidden: one line per request would bury the tables. */
  readonly isQuiet?: boolean
}

/** Starts a program and waits until its port is open. */
async function startProcess(
  port: number,
  { script, args, flags = [], environment = {}, isQuiet = false }: Program,
): Promise<Server> {
  const probe = new URL('../servers/process-probe.ts', import.meta.url).href
  const child = spawn(
    process.execPath,
    [...flags, '--expose-gc', '--import', probe, script, ...args],
    {
      env: { PATH: process.env.PATH, NODE_ENV: 'production', ...environment },
      stdio: ['ignore', 'ignore', isQuiet ? 'ignore' : 'inherit', 'ipc'],
    },
  )
  await waitUntilOpen(port, child)
  return {
    port,
    key: KEY,
    async use(question = 'time') {
      child.send(question)
      const [use] = (await once(child, 'message')) as [ProcessUse]
      return use
    },
    stop: () => void child.kill('SIGKILL'),
  }
}

async function waitUntilOpen(port: number, child: ChildProcess): Promise<void> {
  const deadline = Date.now() + START_MS_MAX
  while (true) {
    const socket = connect({ port, host: '127.0.0.1' })
    const isOpen = await once(socket, 'connect').then(
      () => true,
      () => false,
    )
    socket.destroy()
    if (isOpen) return
    if (child.exitCode !== null || Date.now() > deadline) throw new Error('a server did not start')
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

async function findFreePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  server.close()
  await once(server, 'close')
  return port
}

export async function startUpstream(): Promise<Server> {
  const port = await findFreePort()
  return startProcess(port, { script: pathOf('./upstream.ts'), args: [String(port)] })
}

/**
 * Starts a relay to an upstream; null where it is not installed.
 *
 * @param directory - for the data of servers that keep some
 */
export async function startRelay(
  variant: Exclude<Variant, 'direct'>,
  upstreamPort: number,
  directory: string,
): Promise<Server | null> {
  const port = await findFreePort()
  if (variant === 'bare') {
    const args = [String(port), String(upstreamPort)]
    return startProcess(port, { script: pathOf('./bare.ts'), args })
  }
  if (variant === 'litellm' || variant === 'litellm-messages') {
    return startLiteLlm(port, upstreamPort, mkdtempSync(join(directory, 'litellm-')))
  }
  if (variant !== 'portkey') {
    const own = mkdtempSync(join(directory, 'weft-'))
    const program = configureWeft(port, upstreamPort, { directory: own, variant })
    const server = await startProcess(port, program)
    if (variant !== 'keyed' && variant !== 'budgeted') return server
    return { ...server, key: await createKey(port, variant === 'budgeted') }
  }
  const folder = findTool('portkey')
  if (folder === null) return null
  const args = [String(port), `${folder}build/start-server.js`]
  return startProcess(port, { script: pathOf('./portkey.ts'), args, isQuiet: true })
}

/** Weft with default settings, except that it accepts all streams at once. */
function configureWeft(
  port: number,
  upstreamPort: number,
  { directory, variant }: { readonly directory: string; readonly variant: Variant },
): Program {
  const modelsFile = join(directory, 'models.json')
  const base_url = `http://127.0.0.1:${upstreamPort}/v1`
  const backend = variant === 'messages' ? 'anthropic' : 'openai'
  const cache = variant === 'cached' ? { cache: {} } : {}
  const models = ['bench', HELD_MODEL].map((id) => ({ id, backend, base_url, ...cache }))
  writeFileSync(modelsFile, JSON.stringify({ models }))
  const environment = {
    ...START_ENVIRONMENT,
    WEFT_PORT: String(port),
    WEFT_DATA_DIR: join(directory, 'data'),
    WEFT_BOOTSTRAP_KEY: KEY,
    WEFT_MODELS_FILE: modelsFile,
    WEFT_CHAT_QUEUE_MAX: '4096',
    WEFT_LOG_LEVEL: variant === 'silent' ? 'silent' : 'info',
  }
  return { script: pathOf('../../src/server.ts'), args: [], flags: START_FLAGS, environment }
}

/** LiteLLM's proxy with one worker and without a database: it checks one key and records nothing. */
async function startLiteLlm(
  port: number,
  upstreamPort: number,
  directory: string,
): Promise<Server | null> {
  const command = findCommand('litellm')
  if (command === null) return null
  const config = join(directory, 'config.yaml')
  const params = { api_base: `http://127.0.0.1:${upstreamPort}/v1`, api_key: 'none' }
  const model_list = ['bench', HELD_MODEL].map((id) => ({
    model_name: id,
    litellm_params: { ...params, model: `openai/${id}` },
  }))
  // JSON is YAML.
  writeFileSync(config, JSON.stringify({ model_list, general_settings: { master_key: KEY } }))
  const args = ['--config', config, '--host', '127.0.0.1', '--port', String(port)]
  const child = spawn(command, args, {
    env: { PATH: process.env.PATH, HOME: directory, LITELLM_LOCAL_MODEL_COST_MAP: 'True' },
    stdio: 'ignore',
  })
  await waitUntilOpen(port, child)
  return {
    port,
    key: KEY,
    use: async () => readUse(child.pid ?? 0),
    stop: () => void child.kill('SIGKILL'),
  }
}

/** What a process that is not Node's has used, as the kernel counts it in ticks of 10 ms. */
function readUse(pid: number): ProcessUse {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  const cpuMs = (Number(fields[11]) + Number(fields[12])) * 10
  const rssMb = (Number(fields[21]) * 4096) / (1024 * 1024)
  return { cpuMs, mainMs: cpuMs, rssMb, heapMb: 0 }
}

/** Stores a key and prices, and a budget of the key that is never used up. @returns the secret */
async function createKey(port: number, hasBudget: boolean): Promise<string> {
  async function create(path: string, body: object): Promise<{ id: string; secret: string }> {
    const authorization = path.startsWith('/v1')
      ? `Bearer ${KEY}`
      : `Basic ${Buffer.from(`bench:${KEY}`).toString('base64')}`
    const headers = { authorization, 'content-type': 'application/json' }
    const init = { method: 'POST', headers, body: JSON.stringify(body) }
    const response = await fetch(`http://127.0.0.1:${port}${path}`, init)
    if (!response.ok) throw new Error(`${path}: ${await response.text()}`)
    return (await response.json()) as { id: string; secret: string }
  }
  const price = { prompt_token_cost: 1e-7, completion_token_cost: 1e-6 }
  const costs = { bench: price, [HELD_MODEL]: price }
  await create('/cost/create', { project_id: PROJECT, costs })
  const rights = { scopes: ['inference', 'traces:write'], projects: [PROJECT] }
  const { id, secret } = await create('/v1/keys', { svc_user_id: 'bench', ...rights })
  const budget = { subject_kind: 'key', subject_id: id, period: 'month', hard_usd: 100_000 }
  if (hasBudget) await create('/v1/budgets', budget)
  return secret
}

export interface Generator {
  run(job: Extract<LoadJob, { kind: 'run' }>): Promise<LoadResult>
  /** Opens streams that stay open until `close`. */
  open(job: Extract<LoadJob, { kind: 'open' }>): Promise<void>
  close(): Promise<void>
  stop(): void
}

export function startGenerator(): Generator {
  const child = spawn(process.execPath, [pathOf('./load.ts')], {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  async function ask(job: LoadJob): Promise<LoadResult> {
    child.send(job)
    const [{ result, error }] = await once(child, 'message')
    if (error !== undefined) throw new Error(error)
    return result
  }
  return {
    run: ask,
    open: async (job) => void (await ask(job)),
    close: async () => void (await ask({ kind: 'close' })),
    stop: () => void child.kill('SIGKILL'),
  }
}
