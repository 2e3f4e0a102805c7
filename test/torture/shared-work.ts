/** What clients of several processes do besides the load, each through the proxy, and what must hold of it. */
import { createHash } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { getJson, type Ledger, PROJECT, send } from './load.ts'
import { KEY } from './server-process.ts'

/** Clients that work until it is over. Requests may fail with 5xx, as servers are killed meanwhile. */
export interface SharedWork {
  run(isOver: () => boolean): Promise<void>
  /** How much was done. @throws Error naming the first thing that is wrong */
  verify(): Promise<string>
}

const ANNOTATORS = 4
const ITEMS = 60

export function demand(holds: boolean, text: string): void {
  if (!holds) throw new Error(text)
}

/** Sends until it is stored: what a killed process was sent may be stored or not. */
export async function ensure<Body>(url: string, path: string, body: object): Promise<Body> {
  for (;;) {
    const response = await send(url, path, body)
    if (response.status === 200) return (await response.json()) as Body
    if (response.status < 500) throw new Error(`${path}: ${await response.text()}`)
    await sleep(100)
  }
}

/** Annotators who all claim the first item that is free: it is given to one of them, until that one has finished. */
export async function openAnnotation(url: string): Promise<SharedWork> {
  const call_ids = Array.from({ length: ITEMS }, (_, at) => `annotated-${at}`)
  const started_at = new Date().toISOString()
  const start = { project_id: PROJECT, op_name: 'annotated', started_at, attributes: {} }
  const batch = call_ids.map((id) => ({
    mode: 'start',
    req: { start: { ...start, id, inputs: {} } },
  }))
  await ensure(url, '/call/upsert_batch', { batch })
  const queue = { project_id: PROJECT, name: 'queue', scorer_refs: [] }
  const { id } = await ensure<{ id: string }>(url, '/annotation_queues', queue)
  const items = `/annotation_queues/${id}/items`
  await ensure(url, items, { project_id: PROJECT, call_ids })
  const keys: string[] = []
  for (let at = 0; at < ANNOTATORS; at++) {
    const rights = { scopes: ['traces:read', 'traces:write'], projects: [PROJECT] }
    const body = { svc_user_id: `annotator-${at}`, ...rights }
    keys.push((await ensure<{ secret: string }>(url, '/v1/keys', body)).secret)
  }
  /** By item, who was told that it is theirs. */
  const claims = new Map<string, Set<string>>()

  async function annotate(key: string, isOver: () => boolean): Promise<void> {
    while (!isOver()) {
      const filter = { annotation_states: ['unstarted'] }
      const listed = await send(url, `${items}/query`, { project_id: PROJECT, filter, limit: 1 })
      if (listed.status !== 200) continue
      const [item] = ((await listed.json()) as { items: { id: string }[] }).items
      if (item === undefined) return
      const claim = { project_id: PROJECT, annotation_state: 'in_progress' }
      const { status } = await send(url, `${items}/${item.id}/progress`, claim, key)
      if (status === 200) claims.set(item.id, (claims.get(item.id) ?? new Set()).add(key))
    }
  }

  return {
    run: async (isOver) => void (await Promise.all(keys.map((key) => annotate(key, isOver)))),
    async verify() {
      demand(claims.size > 0, 'no item was given to anybody')
      for (const [item, by] of claims) demand(by.size === 1, `${item} was given to ${by.size}`)
      return `${claims.size} items`
    },
  }
}

/** Downloads: their addresses come from one process and are fetched from any other, once. */
export function openExports(url: string): SharedWork {
  let count = 0
  return {
    async run(isOver) {
      while (!isOver()) {
        const body = { project_id: PROJECT, limit: 10, columns: ['id'] }
        const created = await send(url, '/calls/exports', body)
        if (created.status !== 200) continue
        const { path } = (await created.json()) as { path: string }
        const first = await download(url + path)
        demand(first.status === 200 || first.status >= 500, describe('a download', first))
        if (first.status !== 200) continue
        const again = await download(url + path)
        demand(again.status === 404 || again.status >= 500, describe('a second download', again))
        count += 1
      }
    },
    async verify() {
      demand(count > 0, 'no export was downloaded')
      return `${count} exports`
    },
  }
}

interface Download {
  readonly status: number
  readonly text: string
}

/** The status is 502 for a file that breaks off. */
async function download(address: string): Promise<Download> {
  const response = await fetch(address)
  return response.text().then(
    (text) => ({ status: response.status, text }),
    () => ({ status: 502, text: '' }),
  )
}

function describe(what: string, { status, text }: Download): string {
  return `${what}: ${status}: ${text.slice(0, 500)}`
}

/** A browser that signed in through one process and stays signed in at all. */
export async function openBrowser(url: string): Promise<SharedWork> {
  const grants = [{ role: 'viewer', projects: [PROJECT] }]
  const { id } = await ensure<{ id: string }>(url, '/v1/people', {
    email: 'ada@acme.example',
    grants,
  })
  const link = await ensure<{ url: string }>(url, `/v1/people/${id}/password_link`, {})
  const secret = new URL(link.url).hash.slice('#password='.length)
  const headers = { 'content-type': 'application/json', 'sec-fetch-site': 'same-origin' }
  const body = JSON.stringify({ secret, password: 'correct horse battery' })
  const response = await fetch(`${url}/auth/password/set`, { method: 'POST', headers, body })
  const cookie = response.headers.getSetCookie()[0]?.split(';')[0] ?? ''
  demand(response.status < 400 && cookie !== '', `a sign-in: ${response.status}`)
  let count = 0
  return {
    async run(isOver) {
      while (!isOver()) {
        const { status } = await fetch(`${url}/me`, { headers: { cookie } })
        demand(status === 200 || status >= 500, `a session: ${status}`)
        if (status === 200) count += 1
        await sleep(20)
      }
    },
    async verify() {
      demand(count > 0, 'no request of a session was answered')
      return `${count} requests of a session`
    },
  }
}

interface ClaimedJob {
  readonly id: string
  readonly lease_token: string
}

/** Workers that train the jobs of the load. */
export function openWorkers(url: string, ledger: Ledger): SharedWork {
  const worker = '/v1/preview/worker'
  const seen = new Map<string, number>()
  const completed = new Set<number>()

  async function train({ id, lease_token }: ClaimedJob): Promise<void> {
    const job = seen.get(id) ?? seen.size
    seen.set(id, job)
    const weights = `weights of ${id}`
    const sha256 = createHash('sha256').update(weights).digest('hex')
    const headers = {
      authorization: `Bearer ${KEY}`,
      'content-type': 'application/octet-stream',
      'x-weft-lease': lease_token,
      'x-weft-sha256': sha256,
    }
    const completion = { lease_token, sha256, metrics: { job }, trained: true }
    for (let status = 0; status === 0 || status >= 500; ) {
      const path = `${url}${worker}/jobs/${id}/artifact`
      status = (await fetch(path, { method: 'PUT', headers, body: weights })).status
      if (status >= 400) continue
      status = (await send(url, `${worker}/jobs/${id}/complete`, completion)).status
      if (status === 200) completed.add(job)
    }
  }

  async function work(name: string, isOver: () => boolean): Promise<void> {
    const claim = { worker_id: name, worker_version: '1', base_models: ['tiny'], wait_seconds: 1 }
    while (!isOver()) {
      const response = await send(url, `${worker}/claim`, claim)
      if (response.status === 200) await train((await response.json()) as ClaimedJob)
      else await sleep(50)
    }
  }

  return {
    run: async (isOver) => void (await Promise.all(['a', 'b'].map((name) => work(name, isOver)))),
    async verify() {
      const path = `/v1/preview/models/${ledger.modelId}/checkpoints`
      const trained: number[] = []
      for (let after = ''; ; ) {
        const response = await getJson(url, `${path}?limit=100${after}`)
        const page = (await response.json()) as {
          data: { metrics: { job: number } }[]
          has_more: boolean
          last_id: string
        }
        trained.push(...page.data.map(({ metrics }) => metrics.job))
        if (!page.has_more) break
        after = `&after=${page.last_id}`
      }
      demand(new Set(trained).size === trained.length, 'a job was trained twice')
      for (const job of completed) demand(trained.includes(job), 'a trained job has no checkpoint')
      return `${trained.length} checkpoints`
    },
  }
}
