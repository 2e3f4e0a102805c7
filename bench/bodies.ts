/**
 * The largest bodies of each route: the CPU time of the main thread and of the process, the answer, and the longest
 * delay of `/health` beside them. With --rest, thirty large bodies and the memory after them.
 *
 * npm run bench -- bodies [--against DIR --only WORD --rest SECONDS]
 *
 * --against: another checkout with its node_modules, measured in turns with this one. --only: shapes whose names
 * contain the word.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { cpus, loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { readArguments, readCount } from '../examples/script-arguments.ts'
import { type BenchServer, cpuMs, KEY, memoryMb, startServer } from './servers/bench-server.ts'
import { SHAPES, type Shape } from './servers/body-shapes.ts'
import { readMemory } from './servers/memory-map.ts'

const HEALTH_EVERY_MS = 50
const ANSWER_MS_MAX = 300_000
const LARGE = 30
const NS_PER_MS = 1e6

const { values } = readArguments({
  options: {
    against: { type: 'string' },
    only: { type: 'string', default: '' },
    rest: { type: 'string', default: '0' },
  },
})
const restSeconds = readCount(values.rest)
const checkouts = [fileURLToPath(new URL('..', import.meta.url)), values.against].filter(
  (checkout) => checkout !== undefined,
)
const shapes = SHAPES.filter(({ name }) => name.includes(values.only))

interface Sent {
  readonly status: number
  readonly text: string
}

function send(port: number, { path, type, bearer, build }: Shape): Promise<Sent> {
  const body = build()
  const basic = `Basic ${Buffer.from(`api:${KEY}`).toString('base64')}`
  const headers = {
    authorization: bearer ? `Bearer ${KEY}` : basic,
    'content-type': type ?? 'application/json',
    'content-length': body.length,
    project_id: 'bench/bodies',
  }
  return new Promise((resolve, reject) => {
    const sent = request({ host: '127.0.0.1', port, path, method: 'POST', headers })
    sent.setTimeout(ANSWER_MS_MAX, () => sent.destroy(new Error('no answer')))
    sent.on('error', reject)
    sent.on('response', (response) => {
      let text = ''
      response.setEncoding('utf8').on('data', (chunk: string) => {
        if (text.length < 300) text += chunk
      })
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text }))
    })
    sent.end(body)
  })
}

/** Asks /health every few milliseconds. @returns a function that ends it and returns the longest delay */
function watchHealth(port: number): () => Promise<number> {
  const agent = new Agent({ keepAlive: true })
  let [isEnded, longestMs] = [false, 0]
  const ask = () =>
    new Promise<void>((resolve, reject) => {
      const beganMs = performance.now()
      const sent = request({ host: '127.0.0.1', port, path: '/health', agent })
      sent.on('error', reject)
      sent.on('response', (response) => {
        response.resume().on('end', () => {
          longestMs = Math.max(longestMs, performance.now() - beganMs)
          resolve()
        })
      })
      sent.end()
    })
  const watch = async () => {
    while (!isEnded) {
      await ask()
      await sleep(HEALTH_EVERY_MS)
    }
    agent.destroy()
    return longestMs
  }
  const watched = watch()
  return () => {
    isEnded = true
    return watched
  }
}

/** CPU time in milliseconds of the main thread, whose id is that of the process, and of all threads. */
function readCpu(pid: number): { readonly main: number; readonly all: number } {
  const of = (path: string) => Number(readFileSync(path, 'utf8').split(' ')[0]) / NS_PER_MS
  return { main: of(`/proc/${pid}/task/${pid}/schedstat`), all: cpuMs(pid) }
}

async function trySend(port: number, shape: Shape): Promise<Sent> {
  try {
    return await send(port, shape)
  } catch (error) {
    return { status: 0, text: String(error) }
  }
}

/** Sends the body twice: alone for the CPU time, and beside questions for the health. */
async function measure({ port, process: { pid = 0 } }: BenchServer, shape: Shape): Promise<string> {
  const before = readCpu(pid)
  const beganMs = performance.now()
  const answer = await trySend(port, shape)
  const tookMs = performance.now() - beganMs
  const after = readCpu(pid)
  const endHealth = watchHealth(port)
  await trySend(port, shape)
  const longestMs = await endHealth()
  const cells = [after.main - before.main, after.all - before.all, longestMs, tookMs]
  if (answer.status !== 200) console.error(`${shape.name}: ${answer.text.slice(0, 200)}`)
  return `${answer.status} | ${cells.map((ms) => ms.toFixed(0)).join(' | ')}`
}

async function withServer(checkout: string, run: (server: BenchServer) => Promise<void>) {
  const dataDir = mkdtempSync(join(tmpdir(), 'weft-bodies-'))
  const environment = { WEFT_OTLP_GRPC_PORT: '' }
  const server = await startServer(dataDir, { checkout, environment })
  try {
    await run(server)
  } finally {
    await server.stop()
    rmSync(dataDir, { recursive: true })
  }
}

async function measureShapes(): Promise<void> {
  console.log('\n| body | MB | checkout | status | main ms | all ms | /health ms | answer ms |')
  console.log('|---|---|---|---|---|---|---|---|')
  for (const shape of shapes) {
    const mb = (shape.build().length / 1e6).toFixed(1)
    for (const [at, checkout] of checkouts.entries()) {
      await withServer(checkout, async (server) => {
        // The first requests compile code.
        for (let time = 0; time < 3; time++) {
          await server.post('/call/start', WARM)
          await measure(server, { ...shape, build: shape.small })
        }
        const row = await measure(server, shape)
        console.log(`| ${shape.name} | ${mb} | ${at === 0 ? 'this' : 'other'} | ${row} |`)
      })
    }
  }
}

const WARM = {
  start: {
    project_id: 'bench/bodies',
    op_name: 'warm',
    started_at: '2026-01-31T09:30:00Z',
    attributes: {},
    inputs: {},
  },
}

/** Thirty bodies of 8 MB and more, in turns, and the memory after a rest. */
async function measureRest(): Promise<void> {
  const large = SHAPES.filter((shape) => shape.isStored && shape.build().length > 8e6)
  console.log('\n| checkout | bodies | RSS MB after them | at rest | malloc (arenas) | other |')
  console.log('|---|---|---|---|---|---|')
  for (const [at, checkout] of checkouts.entries()) {
    await withServer(checkout, async (server) => {
      const pid = server.process.pid as number
      for (let time = 0; time < LARGE; time++) {
        await send(server.port, large[time % large.length] as Shape)
      }
      const full = memoryMb(pid, 'VmRSS').toFixed(0)
      await sleep(restSeconds * 1000)
      const { rss, malloc, arenas, other } = readMemory(pid)
      const kinds = `${malloc.toFixed(0)} (${arenas}) | ${other.toFixed(0)}`
      const name = at === 0 ? 'this' : 'other'
      console.log(`| ${name} | ${LARGE} | ${full} | ${rss.toFixed(0)} | ${kinds} |`)
    })
  }
}

console.log(`${cpus().length} x ${cpus()[0]?.model}, node ${process.version}, load ${loadavg()[0]}`)
if (restSeconds > 0) await measureRest()
else await measureShapes()
