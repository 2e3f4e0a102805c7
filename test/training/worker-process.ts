/**
 * A worker in a process of its own, without anything of the server's code. Settings come as JSON in the first
 * argument. What it has claimed and completed it writes to stdout, a line of JSON each.
 */
import { createHash } from 'node:crypto'

interface Settings {
  readonly url: string
  readonly key: string
  readonly id: string
  /** Part of the jobs at which the process dies, 0..1. */
  readonly deaths: number
  /** Part of the jobs that it completes after its lease has ended. */
  readonly delays: number
  /** Longer than a lease. */
  readonly delayMs: number
  readonly seed: number
  /** Claim one job, say so and do nothing more. */
  readonly hangs?: boolean
}

const settings = JSON.parse(process.argv[2] ?? '{}') as Settings
let state = settings.seed

/** Mulberry32. */
function chance(): number {
  state = (state + 0x6d2b79f5) | 0
  let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
  mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
  return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296
}

async function send(method: string, path: string, body: string | object, headers = {}) {
  const isJson = typeof body !== 'string'
  return fetch(`${settings.url}/v1/preview/worker${path}`, {
    method,
    headers: {
      authorization: `Bearer ${settings.key}`,
      'content-type': isJson ? 'application/json' : 'application/octet-stream',
      ...headers,
    },
    body: isJson ? JSON.stringify(body) : body,
  })
}

function say(line: object): void {
  process.stdout.write(`${JSON.stringify(line)}\n`)
}

interface Job {
  readonly id: string
  readonly attempt: number
  readonly lease_token: string
}

async function work(job: Job): Promise<void> {
  const { id, attempt, lease_token } = job
  const path = `/jobs/${id}`
  const weights = `${id} ${attempt} ${settings.id}`
  const sha256 = createHash('sha256').update(weights).digest('hex')
  const fate = chance()
  await send('POST', `${path}/events`, {
    lease_token,
    events: [{ seq: 0, type: 'gradient_step', data: { attempt } }],
  })
  if (fate < settings.deaths) process.kill(process.pid, 'SIGKILL')
  const headers = { 'x-weft-lease': lease_token, 'x-weft-sha256': sha256 }
  await send('PUT', `${path}/artifact`, weights, headers)
  if (fate < settings.deaths + settings.delays) {
    await new Promise((resolve) => setTimeout(resolve, settings.delayMs))
  }
  const completion = { lease_token, sha256, metrics: { attempt }, trained: true }
  const { status } = await send('POST', `${path}/complete`, completion)
  say({ completed: id, attempt, status })
}

for (;;) {
  const claim = { worker_id: settings.id, worker_version: '1', base_models: ['tiny'] }
  const answer = await send('POST', '/claim', { ...claim, wait_seconds: 5 })
  if (answer.status === 204) continue
  const job = (await answer.json()) as Job
  say({ claimed: job.id, attempt: job.attempt, status: answer.status })
  if (settings.hangs) await new Promise(() => setInterval(() => undefined, 1000))
  await work(job)
}
