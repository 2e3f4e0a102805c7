/** Compares a server with the ledger: all that was acknowledged is there, and statistics are those of the calls. */
import { setTimeout as sleep } from 'node:timers/promises'
import { EVALUATOR, FEEDBACK, getJson, type Ledger, PROJECT, send, sha256 } from './load.ts'

/** Limits: how long evaluators may take for what is stored, and a server to be ready; rows of a page of feedback. */
const SCORED_MS_MAX = 120_000
const READY_MS_MAX = 30_000
const PAGE_ROWS = 10_000

interface CallRow {
  readonly id: string
  readonly op_name: string
  readonly started_at: string
  readonly ended_at?: string | null
  readonly exception?: string | null
}

/** How much was looked at. @throws Error naming the first thing that is wrong */
export async function verify(url: string, ledger: Ledger): Promise<string> {
  const rows = await readCalls(url)
  const byId = new Map(rows.map((row) => [row.id, row]))
  if (byId.size !== rows.length) throw new Error('a call is stored twice')
  for (const [id, hasEnded] of ledger.calls) {
    const row = byId.get(id)
    if (!row) throw new Error(`the acknowledged call ${id} is gone`)
    if (hasEnded && !row.ended_at) throw new Error(`the acknowledged end of ${id} is gone`)
  }
  for (const id of ledger.spans) {
    if (!byId.has(id)) throw new Error(`the acknowledged span ${id} is gone`)
  }
  await verifyStats(url, rows)
  await verifyScores(url, ledger, rows)
  await verifyFeedback(url, ledger)
  for (const [digest, hash] of ledger.files) await verifyFile(url, digest, hash)
  for (const id of ledger.jobs) {
    const { status } = await getJson(url, `/v1/preview/training-jobs/${id}`)
    if (status !== 200) throw new Error(`the acknowledged job ${id} answers ${status}`)
  }
  const missing = await readMissing(url)
  if (Object.values(missing).some((count) => count > 0)) {
    throw new Error(`files are missing: ${JSON.stringify(missing)}`)
  }
  const { calls, spans, feedback, files, jobs } = ledger
  return `${calls.size} calls, ${spans.size} spans, ${feedback.size} feedback, ${files.size} files, ${jobs.size} jobs`
}

/** Counts of missing files, once the server is ready: on a busy machine a check of its stores may take too long. */
async function readMissing(url: string): Promise<Record<string, number>> {
  const untilMs = performance.now() + READY_MS_MAX
  for (;;) {
    const response = await fetch(`${url}/ready`)
    const text = await response.text()
    if (response.status === 200)
      return (JSON.parse(text) as { missing: Record<string, number> }).missing
    if (performance.now() > untilMs) throw new Error(`/ready answers ${response.status}: ${text}`)
    await sleep(200)
  }
}

export async function readCalls(url: string): Promise<CallRow[]> {
  const columns = ['id', 'op_name', 'started_at', 'ended_at', 'exception']
  const response = await send(url, '/calls/stream_query', { project_id: PROJECT, columns })
  const text = await response.text()
  if (response.status !== 200) throw new Error(`calls cannot be read: ${text}`)
  return text.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line) as CallRow]))
}

async function verifyStats(url: string, rows: readonly CallRow[]): Promise<void> {
  if (rows.length === 0) return
  const ended = rows.filter(({ ended_at }) => ended_at)
  const latencyMs = ended.reduce(
    (sum, row) => sum + Date.parse(row.ended_at as string) - Date.parse(row.started_at),
    0,
  )
  const expected = {
    sum_call_count: rows.length,
    sum_error_count: rows.filter(({ exception }) => exception).length,
    sum_latency_ms: latencyMs,
  }
  const starts = rows.map(({ started_at }) => Date.parse(started_at))
  const response = await send(url, '/calls/stats', {
    project_id: PROJECT,
    start: new Date(Math.min(...starts)).toISOString(),
    end: new Date(Math.max(...starts) + 1000).toISOString(),
    call_metrics: ['call_count', 'error_count', 'latency_ms'].map((metric) => ({ metric })),
  })
  const { call_buckets } = (await response.json()) as { call_buckets: Record<string, number>[] }
  for (const [name, value] of Object.entries(expected)) {
    const sum = call_buckets.reduce((total, bucket) => total + (bucket[name] ?? 0), 0)
    if (Math.abs(sum - value) > 0.5) throw new Error(`${name} is ${sum}, the calls say ${value}`)
  }
}

async function verifyFeedback(url: string, ledger: Ledger): Promise<void> {
  const ids = new Set((await readFeedback(url, FEEDBACK.feedback_type)).map(({ id }) => id))
  for (const id of ledger.feedback) {
    if (!ids.has(id)) throw new Error(`the acknowledged feedback ${id} is gone`)
  }
}

/** Waits until all is scored, and demands one score for each call that has ended. */
async function verifyScores(
  url: string,
  { evaluatorId }: Ledger,
  rows: readonly CallRow[],
): Promise<void> {
  if (evaluatorId === null) return
  const due = rows.filter(({ op_name, ended_at }) => op_name === 'op' && ended_at)
  const untilMs = performance.now() + SCORED_MS_MAX
  let scores = await readFeedback(url, `wandb.runnable.${EVALUATOR}`)
  while (scores.length < due.length && performance.now() < untilMs) {
    await sleep(200)
    scores = await readFeedback(url, `wandb.runnable.${EVALUATOR}`)
  }
  const scored = new Set(scores.map(({ weave_ref }) => weave_ref.split('/').at(-1)))
  if (scored.size !== scores.length) throw new Error('a call is scored twice')
  for (const { id } of due) if (!scored.has(id)) throw new Error(`the call ${id} is not scored`)
}

interface FeedbackRow {
  readonly id: string
  readonly weave_ref: string
  readonly payload: unknown
}

/** All feedback of a type. */
export async function readFeedback(url: string, type: string): Promise<FeedbackRow[]> {
  const query = { $expr: { $eq: [{ $getField: 'feedback_type' }, { $literal: type }] } }
  const all: FeedbackRow[] = []
  for (;;) {
    const page = { fields: ['id', 'weave_ref', 'payload'], limit: PAGE_ROWS, offset: all.length }
    const body = {
      project_id: PROJECT,
      query,
      sort_by: [{ field: 'id', direction: 'asc' }],
      ...page,
    }
    const response = await send(url, '/feedback/query', body)
    const text = await response.text()
    if (response.status !== 200) throw new Error(`feedback cannot be read: ${text}`)
    const { result } = JSON.parse(text) as { result: FeedbackRow[] }
    all.push(...result)
    if (result.length < PAGE_ROWS) return all
  }
}

async function verifyFile(url: string, digest: string, hash: string): Promise<void> {
  const response = await send(url, '/file/content', { project_id: PROJECT, digest })
  if (response.status !== 200) throw new Error(`the file ${digest} answers ${response.status}`)
  if (sha256(new Uint8Array(await response.arrayBuffer())) !== hash) {
    throw new Error(`the file ${digest} has other bytes`)
  }
}
