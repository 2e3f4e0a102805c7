/** Spends the money of a key through a server that is killed, until its budgets refuse, and compares with the bill. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { OUTPUT_MAX, openBillingUpstream, PRICE } from './billing-upstream.ts'
import { getJson, PROJECT, send } from './load.ts'
import { startServer } from './server-process.ts'

/** US dollars of both budgets, that of the key and that of the project. */
const LIMIT_USD = 0.12
const USD_OF_ROUNDING = 1e-9
/** The most that a request can cost: a token for each byte of its body, and all that it may be answered. */
const BODY_BYTES_MAX = 400
const REQUEST_USD_MAX =
  BODY_BYTES_MAX * PRICE.prompt_token_cost + OUTPUT_MAX * PRICE.completion_token_cost
/** Limit: how long the last load may take until all is spent. */
const SPEND_MS_MAX = 120_000
/** Refusals in a row after which a client gives up: what dead processes hold is free only after a minute. */
const REFUSALS = 20

/** One server, or several as one. */
export interface SpendingSite {
  /** Its address, which may change with each start. */
  url(): string
  /** Kills the server, or one of them, during streams, and starts it again. */
  kill(): Promise<void>
  /** Stops what runs in an orderly way, and starts it again. @throws Error for an exit code */
  restart(): Promise<void>
  /** Kills what runs. */
  close(): Promise<void>
}

interface Spenders {
  readonly clients: number
  /** How often a server is killed during streams. */
  readonly kills: number
  /** Starts on an empty store. @param environment - names the models */
  open(environment: Readonly<Record<string, string>>): Promise<SpendingSite>
}

/** A site of one server on a directory. */
export async function openSpendingServer(
  dataDir: string,
  environment: Readonly<Record<string, string>>,
): Promise<SpendingSite> {
  let server = await startServer(dataDir, environment)
  return {
    url: () => server.url,
    async kill() {
      await server.kill()
      server = await startServer(dataDir, environment)
    },
    async restart() {
      demand((await server.stop()) === 0, 'the server did not end well')
      server = await startServer(dataDir, environment)
    },
    close: () => server.kill(),
  }
}

interface Budget {
  readonly spent_usd: number
  readonly reserved_usd: number
}

/** How much was spent. @throws Error naming what is wrong */
export async function spendUnderKills({ open, clients, kills }: Spenders): Promise<string> {
  const upstream = await openBillingUpstream()
  const folder = mkdtempSync(join(tmpdir(), 'weft-spending-'))
  const path = join(folder, 'models.json')
  const model = { id: 'billed', backend: 'openai', base_url: upstream.baseUrl }
  writeFileSync(path, JSON.stringify({ models: [model] }))
  const site = await open({ WEFT_MODELS_FILE: path })
  try {
    const secret = await prepare(site)
    for (let kill = 0; kill < kills; kill++) {
      let isKilled = false
      const load = spend(site, { secret, clients, isOver: () => isKilled })
      await sleep(200 + 300 * Math.random())
      await site.kill()
      isKilled = true
      await load
    }
    // Servers that were not killed return what they have not spent.
    await site.restart()
    await upstream.idle()
    const before = { billed: upstream.billed(), budgets: await readBudgets(site) }
    for (const { spent_usd, reserved_usd } of before.budgets) {
      const counted = spent_usd + reserved_usd
      demand(
        counted > before.billed - USD_OF_ROUNDING,
        `${before.billed} billed, ${counted} counted`,
      )
      // What a dead process had reserved, and at most a quarter of it and 1/256 of the limit beside it.
      const lost = kills * (1.25 * (clients + 1) * REQUEST_USD_MAX + LIMIT_USD / 256)
      demand(counted < before.billed + lost, `${before.billed} billed, ${counted} counted twice`)
    }
    const untilMs = performance.now() + SPEND_MS_MAX
    const isOver = () => performance.now() > untilMs
    const refused = await spend(site, { secret, clients, isOver })
    const spent = `${upstream.count()} requests billed $${upstream.billed().toFixed(4)} of $${LIMIT_USD}`
    demand(refused === clients, `only ${refused} of ${clients} clients were refused: ${spent}`)
    await site.restart()
    const after = await readBudgets(site)
    const billed = upstream.billed()
    demand(billed < LIMIT_USD + REQUEST_USD_MAX, `${billed} billed of ${LIMIT_USD}`)
    for (const [at, { spent_usd, reserved_usd }] of after.entries()) {
      const was = before.budgets[at] as Budget
      const counted = spent_usd + reserved_usd - was.spent_usd - was.reserved_usd
      const difference = Math.abs(counted - (billed - before.billed))
      demand(difference < USD_OF_ROUNDING * upstream.count(), `counted apart by ${difference}`)
    }
    return `${upstream.count()} requests, $${billed.toFixed(4)} billed of $${LIMIT_USD}`
  } finally {
    await site.close()
    await upstream.close()
    rmSync(folder, { recursive: true })
  }
}

function demand(holds: boolean, text: string): void {
  if (!holds) throw new Error(text)
}

/** Sets the price and the budgets. @returns the secret of the key that spends */
async function prepare(site: SpendingSite): Promise<string> {
  const url = site.url()
  const costs = { billed: PRICE }
  await create(url, '/cost/create', { project_id: PROJECT, costs })
  const rights = { svc_user_id: 'spender', scopes: ['inference'], projects: [PROJECT] }
  const { id, secret } = await create(url, '/v1/keys', rights)
  for (const subject of [
    { subject_kind: 'key', subject_id: id },
    { subject_kind: 'project', subject_id: PROJECT },
  ]) {
    await create(url, '/v1/budgets', { ...subject, period: 'life', hard_usd: LIMIT_USD })
  }
  return String(secret)
}

async function create(url: string, path: string, body: object) {
  const response = await send(url, path, body)
  if (response.status !== 200) throw new Error(`${path}: ${await response.text()}`)
  return (await response.json()) as { id?: string; secret?: string }
}

async function readBudgets(site: SpendingSite): Promise<readonly Budget[]> {
  const response = await getJson(site.url(), '/v1/budgets')
  return ((await response.json()) as { data: readonly Budget[] }).data
}

interface Spending {
  readonly secret: string
  readonly clients: number
  isOver(): boolean
}

/** Streams until the money is spent or the server is gone. @returns how many clients were refused in the end */
async function spend(site: SpendingSite, options: Spending): Promise<number> {
  const url = site.url()
  const clients = Array.from({ length: options.clients }, () => spendAlone(url, options))
  const ends = await Promise.allSettled(clients)
  return ends.filter((end) => end.status === 'fulfilled' && end.value).length
}

/** Whether it was refused in the end. */
async function spendAlone(url: string, { secret, isOver }: Spending): Promise<boolean> {
  const headers = {
    authorization: `Bearer ${secret}`,
    'content-type': 'application/json',
    'openai-project': PROJECT,
  }
  let refusals = 0
  while (refusals < REFUSALS) {
    if (isOver()) return false
    const content = 'x'.repeat(Math.floor(Math.random() * 200))
    const messages = [{ role: 'user', content }]
    const body = JSON.stringify({ model: 'billed', messages, max_tokens: OUTPUT_MAX, stream: true })
    const response = await fetch(`${url}/v1/chat/completions`, { method: 'POST', headers, body })
    const text = await response.text()
    refusals = response.status === 200 ? 0 : refusals + 1
    if (response.status === 200) continue
    const isBudget = response.status === 429 && text.includes('budget_exceeded')
    demand(isBudget, `refused with ${response.status}: ${text}`)
    await sleep(50)
  }
  return true
}
