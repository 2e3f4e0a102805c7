/** Load over HTTP, and a ledger of all that the server has acknowledged. */
import { createHash, randomUUID } from 'node:crypto'
import { KEY } from './server-process.ts'

export const PROJECT = 'torture/demo'
export const EVALUATOR = 'quick'
const BASIC = basicOf(KEY)

/** Feedback without an id. */
export const FEEDBACK = {
  project_id: PROJECT,
  weave_ref: `weave:///${PROJECT}/object/thing:v1`,
  feedback_type: 'custom',
  payload: { n: 1 },
}

/** What was acknowledged. */
export interface Ledger {
  /** Ids of calls, and whether their end was acknowledged. */
  readonly calls: Map<string, boolean>
  /** Ids of spans sent by OTLP. */
  readonly spans: Set<string>
  readonly feedback: Set<string>
  /** Digests of files with the SHA-256 of their bytes. */
  readonly files: Map<string, string>
  readonly jobs: Set<string>
  modelId: string | null
  /** Id of the evaluator that scores the calls. */
  evaluatorId: string | null
}

export function openLedger(): Ledger {
  return {
    calls: new Map(),
    spans: new Set(),
    feedback: new Set(),
    files: new Map(),
    jobs: new Set(),
    modelId: null,
    evaluatorId: null,
  }
}

function basicOf(key: string): string {
  return `Basic ${Buffer.from(`api:${key}`).toString('base64')}`
}

/** @param key - default: of the server */
export function send(url: string, path: string, body: unknown, key = KEY): Promise<Response> {
  const authorization = path.startsWith('/v1') ? `Bearer ${key}` : basicOf(key)
  const headers = { authorization, 'content-type': 'application/json' }
  return fetch(url + path, { method: 'POST', headers, body: JSON.stringify(body) })
}

export async function getJson(url: string, path: string): Promise<Response> {
  return fetch(url + path, { headers: { authorization: `Bearer ${KEY}` } })
}

/** Sends a file; its status, and the digest when it was stored. */
export async function sendFile(url: string, bytes: Buffer): Promise<[number, string | null]> {
  const form = new FormData()
  form.set('project_id', PROJECT)
  form.set('file', new Blob([new Uint8Array(bytes)]), 'file')
  const init = { method: 'POST', headers: { authorization: BASIC }, body: form }
  const response = await fetch(`${url}/file/create`, init)
  const { digest } = (await response.json()) as { digest?: string }
  return [response.status, digest ?? null]
}

export function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}

async function sendCall(url: string, ledger: Ledger): Promise<void> {
  const id = randomUUID()
  const started_at = new Date().toISOString()
  const common = { project_id: PROJECT, id }
  const inputs = { text: 'x'.repeat(Math.floor(Math.random() * 2000)) }
  const start = { ...common, op_name: 'op', started_at, attributes: {}, inputs }
  if ((await send(url, '/call/start', { start })).status !== 200) return
  ledger.calls.set(id, false)
  const end = {
    ...common,
    ended_at: new Date(Date.parse(started_at) + Math.floor(Math.random() * 5000)).toISOString(),
    ...(Math.random() < 0.2 ? { exception: 'boom' } : {}),
    summary: { usage: { m: { input_tokens: 3, output_tokens: 2 } } },
  }
  if ((await send(url, '/call/end', { end })).status === 200) ledger.calls.set(id, true)
}

/** Whole calls in one request. */
async function sendBatch(url: string, ledger: Ledger): Promise<void> {
  const ids = Array.from({ length: 5 }, () => randomUUID())
  const [started_at, ended_at] = [new Date().toISOString(), new Date().toISOString()]
  const batch = ids.flatMap((id) => {
    const common = { project_id: PROJECT, id }
    const start = { ...common, op_name: 'op', started_at, attributes: {}, inputs: {} }
    return [
      { mode: 'start', req: { start: { ...start, trace_id: id } } },
      { mode: 'end', req: { end: { ...common, ended_at, summary: {} } } },
    ]
  })
  const response = await send(url, '/call/upsert_batch', { batch })
  if (response.status === 200) for (const id of ids) ledger.calls.set(id, true)
}

/** One request of OTLP with a trace of three spans. */
async function sendSpans(url: string, ledger: Ledger): Promise<void> {
  const hex = randomUUID().replaceAll('-', '')
  const nowNanos = BigInt(Date.now()) * 1_000_000n
  const spans = [0, 1, 2].map((at) => ({
    traceId: hex,
    spanId: `${hex.slice(0, 15)}${at}`,
    ...(at === 0 ? {} : { parentSpanId: `${hex.slice(0, 15)}0` }),
    name: `span-${at}`,
    startTimeUnixNano: String(nowNanos),
    endTimeUnixNano: String(nowNanos + BigInt(at + 1) * 1_000_000n),
  }))
  const headers = { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' }
  const response = await fetch(`${url}/v1/traces`, {
    method: 'POST',
    headers: { ...headers, project_id: PROJECT },
    body: JSON.stringify({ resourceSpans: [{ scopeSpans: [{ spans }] }] }),
  })
  if (response.status === 200) for (const { spanId } of spans) ledger.spans.add(spanId)
}

async function sendFeedback(url: string, ledger: Ledger): Promise<void> {
  const id = randomUUID()
  const body = { ...FEEDBACK, id }
  if ((await send(url, '/feedback/create', body)).status === 200) ledger.feedback.add(id)
}

async function sendRandomFile(url: string, ledger: Ledger): Promise<void> {
  const bytes = Buffer.alloc(Math.random() < 0.5 ? 2_000 : 150_000, randomUUID())
  const [status, digest] = await sendFile(url, bytes)
  if (status === 200 && digest !== null) ledger.files.set(digest, sha256(bytes))
}

async function sendJob(url: string, ledger: Ledger): Promise<void> {
  const choice = {
    finish_reason: 'stop',
    index: 0,
    message: { role: 'assistant', content: 'four' },
    logprobs: { content: [{ token: 'token_id:7', logprob: -1, bytes: null, top_logprobs: [] }] },
  }
  const messages_and_choices = [{ role: 'user', content: '2 + 2?' }, choice]
  const groups = [{ trajectories: [{ messages_and_choices, reward: 1 }] }]
  const body = { model_id: ledger.modelId, trajectory_groups: groups }
  const response = await send(url, '/v1/preview/training-jobs', body)
  if (response.status !== 200) return
  ledger.jobs.add(((await response.json()) as { id: string }).id)
}

/** Makes the model that jobs train, and the evaluator of all calls but spans, once. */
export async function ensureWork(url: string, ledger: Ledger): Promise<void> {
  if (ledger.evaluatorId === null) {
    const scorer = { kind: 'rule', rule: { type: 'latency', max_ms: 2_500 } }
    const body = { project_id: PROJECT, name: EVALUATOR, filter: { op_names: ['op'] }, scorer }
    const response = await send(url, '/evaluators', body)
    if (response.status !== 200) throw new Error(`no evaluator: ${await response.text()}`)
    ledger.evaluatorId = ((await response.json()) as { id: string }).id
  }
  if (ledger.modelId !== null) return
  const model = { entity: 'torture', project: 'demo', name: 'policy', base_model: 'tiny' }
  const response = await send(url, '/v1/preview/models', model)
  if (response.status !== 200) throw new Error(`no model: ${await response.text()}`)
  ledger.modelId = ((await response.json()) as { id: string }).id
}

/** Sends until `isOver` says so or the server is gone. */
export async function applyLoad(
  url: string,
  ledger: Ledger,
  options: { readonly clients: number; isOver(): boolean },
): Promise<void> {
  await ensureWork(url, ledger)
  const run = async () => {
    while (!options.isOver()) {
      const chance = Math.random()
      if (chance < 0.45) await sendCall(url, ledger)
      else if (chance < 0.55) await sendBatch(url, ledger)
      else if (chance < 0.7) await sendSpans(url, ledger)
      else if (chance < 0.85) await sendFeedback(url, ledger)
      else if (chance < 0.93) await sendRandomFile(url, ledger)
      else await sendJob(url, ledger)
    }
  }
  // A connection that breaks ends its client: the server was killed.
  await Promise.allSettled(Array.from({ length: options.clients }, run))
}
