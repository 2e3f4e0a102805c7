/** What several processes do in the background, each thing by one of them: alerts, old calls to score, rules of queues. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { EVALUATOR, getJson, PROJECT, send } from './load.ts'
import { demand, ensure, type SharedWork } from './shared-work.ts'
import { readCalls, readFeedback } from './verify.ts'

/** Alerts that are created one after the other, with a pause in milliseconds. */
const ALERTS_MAX = 40
const ALERT_PAUSE_MS = 250
/** Calls that are stored before their evaluator, in requests of so many. */
const OLD_CALLS = 750
const REQUEST_CALLS = 250
const OLD = 'old'
/** Limits: calls that rules add to a queue in a day, and items of a page. */
const ADDED_MAX = 10_000
const PAGE_ITEMS = 10_000
/** Limit: how long work that a process left behind may take. */
const TAKEN_OVER_MS_MAX = 180_000

type Opened = SharedWork & { close(): void }

/** A server that counts requests by what names them. */
async function openReceiver(
  nameOf: (headers: NodeJS.Dict<string | string[]>, body: string) => string,
) {
  const received = new Map<string, number>()
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const part of request.setEncoding('utf8')) body += part
    const name = nameOf(request.headers, body)
    received.set(name, (received.get(name) ?? 0) + 1)
    response.writeHead(200, { 'content-type': 'application/json' }).end('1')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    received,
    countRepeated: () => [...received.values()].filter((count) => count > 1).length,
    close: () => void server.close(),
  }
}

/** Waits until it holds, or the time for work that was left behind is over. */
async function settle(isDone: () => Promise<boolean>): Promise<void> {
  const untilMs = performance.now() + TAKEN_OVER_MS_MAX
  while (!(await isDone()) && performance.now() < untilMs) await sleep(200)
}

interface AlertEvent {
  readonly id: string
  readonly kind: string
  readonly delivery: string
}

/** Alerts that fire once each, and their receiver. */
export async function openAlerts(url: string): Promise<Opened> {
  const receiver = await openReceiver((headers) => String(headers['webhook-id']))
  const metric = { kind: 'calls', metric: 'call_count' }
  const rule = { metric, window_s: 604_800, direction: 'above', threshold: 0 }
  let count = 0

  async function read<Row>(path: string): Promise<readonly Row[]> {
    const response = await getJson(url, path)
    return ((await response.json()) as { data: readonly Row[] }).data
  }

  async function readEvents(): Promise<readonly (readonly AlertEvent[])[]> {
    const alerts = await read<{ id: string }>(`/v1/alerts?project_id=${PROJECT}`)
    return Promise.all(alerts.map(({ id }) => read<AlertEvent>(`/v1/alerts/${id}/history`)))
  }

  return {
    async run(isOver) {
      while (!isOver() && count < ALERTS_MAX) {
        const name = `alert ${count}`
        await send(url, '/v1/alerts', {
          project_id: PROJECT,
          name,
          ...rule,
          webhook: { url: receiver.url },
        })
        count += 1
        await sleep(ALERT_PAUSE_MS)
      }
    },
    async verify() {
      let events = await readEvents()
      await settle(async () => {
        events = await readEvents()
        return events.every(([event]) => event?.delivery === 'delivered')
      })
      demand(events.length > 0, 'no alert was created')
      for (const of of events) {
        demand(of.length === 1 && of[0]?.kind === 'fired', `an alert has ${of.length} changes`)
        demand(of[0]?.delivery === 'delivered', `a message is ${of[0]?.delivery}`)
      }
      const ids = new Set(events.flat().map(({ id }) => id))
      for (const id of receiver.received.keys())
        demand(ids.has(id), `the message ${id} has no alert`)
      for (const id of ids) demand(receiver.received.has(id), `the message ${id} never arrived`)
      return `${ids.size} messages, ${receiver.countRepeated()} of them repeated`
    },
    close: receiver.close,
  }
}

/** Old calls that an evaluator scores by a webhook, and queues that rules fill with the calls of the load. */
export async function openScoring(url: string): Promise<Opened> {
  const receiver = await openReceiver((_headers, body) => {
    return (JSON.parse(body) as { subject: { id: string } }).subject.id
  })
  for (let at = 0; at < OLD_CALLS; at += REQUEST_CALLS) await storeOld(url, at)
  const scorer = { kind: 'webhook', url: receiver.url }
  const evaluator = {
    project_id: PROJECT,
    name: OLD,
    filter: { op_names: [OLD] },
    scorer,
    concurrency: 32,
  }
  const { id } = await ensure<{ id: string }>(url, '/evaluators', evaluator)
  const queues = {
    all: await openQueue(url, 'all', { random: 1 }),
    failed: await openQueue(url, 'failed', {
      scores: [{ feedback_type: `wandb.runnable.${EVALUATOR}`, below: 0.5 }],
    }),
  }
  await ensure(url, `/evaluators/${id}/backfill`, { project_id: PROJECT })

  async function readEvaluator() {
    const found = await ensure<{ evaluators: Evaluator[] }>(url, '/evaluators/query', {
      project_id: PROJECT,
    })
    return found.evaluators.find((one) => one.id === id) as Evaluator
  }

  return {
    run: async () => undefined,
    async verify() {
      await settle(async () => {
        const { backfill, waiting } = await readEvaluator()
        return backfill.state === 'done' && waiting === 0
      })
      const { backfill, failed, scored, waiting } = await readEvaluator()
      const counts = `${backfill.queued} queued, ${scored} scored, ${failed} failed, ${waiting} waiting`
      demand(backfill.state === 'done', `the backfill is ${backfill.state}: ${counts}`)
      demand(backfill.queued === OLD_CALLS, `the backfill queued other calls: ${counts}`)
      demand(failed === 0 && scored === OLD_CALLS, `not all old calls are scored: ${counts}`)
      const scores = await readFeedback(url, `wandb.runnable.${OLD}`)
      const refs = new Set(scores.map(({ weave_ref }) => weave_ref))
      demand(refs.size === scores.length, 'an old call is scored twice')
      demand(refs.size === OLD_CALLS, `${refs.size} old calls have a score`)
      const [added, doubtful] = await verifyQueues(url, queues)
      const asked = `${refs.size} old calls, ${receiver.countRepeated()} of them asked for again`
      return `${asked}, ${added} and ${doubtful} calls added by rules`
    },
    close: receiver.close,
  }
}

interface Evaluator {
  readonly id: string
  readonly scored: number
  readonly failed: number
  readonly waiting: number
  readonly backfill: { readonly state: string; readonly queued: number }
}

async function storeOld(url: string, from: number): Promise<void> {
  const [started_at, ended_at] = [new Date().toISOString(), new Date().toISOString()]
  const batch = Array.from({ length: REQUEST_CALLS }, (_, at) => {
    const named = { project_id: PROJECT, id: `old-${from + at}` }
    const start = {
      ...named,
      trace_id: named.id,
      op_name: OLD,
      started_at,
      attributes: {},
      inputs: {},
    }
    return [
      { mode: 'start', req: { start } },
      { mode: 'end', req: { end: { ...named, ended_at, summary: {} } } },
    ]
  })
  await ensure(url, '/call/upsert_batch', { batch: batch.flat() })
}

async function openQueue(url: string, name: string, rule: object): Promise<string> {
  const limits = { max_per_day: ADDED_MAX, max_waiting: 100_000 }
  const rules = { filter: { op_names: ['op'] }, ...rule, ...limits }
  const body = { project_id: PROJECT, name, scorer_refs: [], rules }
  return (await ensure<{ id: string }>(url, '/annotation_queues', body)).id
}

/** Waits until rules have added what they have to, and demands each call once. @returns how many each queue has */
async function verifyQueues(
  url: string,
  queues: Readonly<Record<'all' | 'failed', string>>,
): Promise<[number, number]> {
  const rows = await readCalls(url)
  const ended = rows.filter(({ op_name, ended_at }) => op_name === 'op' && ended_at)
  const scores = await readFeedback(url, `wandb.runnable.${EVALUATOR}`)
  const failed = scores.flatMap(({ weave_ref, payload }) => {
    const { output } = payload as { output: { passed: boolean } }
    return output.passed ? [] : (weave_ref.split('/').at(-1) ?? [])
  })
  const all = await verifyQueue(
    url,
    queues.all,
    ended.map(({ id }) => id),
  )
  return [all, await verifyQueue(url, queues.failed, failed)]
}

async function verifyQueue(url: string, queue: string, due: readonly string[]): Promise<number> {
  const expected = Math.min(due.length, ADDED_MAX)
  let items: readonly { readonly call_id: string }[] = []
  await settle(async () => {
    const body = { project_id: PROJECT, limit: PAGE_ITEMS }
    const path = `/annotation_queues/${queue}/items/query`
    items = (await ensure<{ items: typeof items }>(url, path, body)).items
    return items.length >= expected
  })
  const added = new Set(items.map(({ call_id }) => call_id))
  demand(added.size === items.length, 'a call is in a queue twice')
  demand(added.size === expected, `rules added ${added.size} of ${due.length} calls`)
  if (due.length <= ADDED_MAX) for (const id of due) demand(added.has(id), `${id} was not added`)
  return added.size
}
