import { Webhook } from 'standardwebhooks'
import { describe, expect, it, onTestFinished } from 'vitest'
import { startAlertRunner } from '../../src/alerts/alert-runner.ts'
import { newId } from '../../src/http/new-id.ts'
import { createWebhooks } from '../../src/outbound/webhooks.ts'
import { buildTestApp } from '../support/build-test-app.ts'
import { openReceiver, PROJECT } from './alert-fixtures.ts'

const ALERTS = '/v1/alerts'
const CALLS = { kind: 'calls', metric: 'call_count' }
const NEW = {
  project_id: PROJECT,
  name: 'too many calls',
  metric: CALLS,
  window_s: 300,
  threshold: 1,
  webhook: { url: 'https://hooks.example.com/path' },
}
const POLL = { timeout: 10_000 }

/** An app whose alerts may call this machine. */
async function build() {
  const webhooks = createWebhooks(['*'])
  onTestFinished(webhooks.close)
  const app = await buildTestApp({ webhookHosts: ['*'] }, { webhooks })
  let calls = 0
  /** Stores a call that ended, and its score. */
  const addCall = async (
    fields: { ms?: number; exception?: string; tokens?: number; score?: unknown } = {},
  ) => {
    const { ms = 100, tokens = 0, exception, score } = fields
    const id = `c${calls++}`
    const started_at = new Date(Date.now() - 1000)
    const ended_at = new Date(started_at.getTime() + ms).toISOString()
    const named = { project_id: PROJECT, op_name: 'op', attributes: {}, inputs: {} }
    await app.post('/call/start', {
      start: { ...named, id, trace_id: id, started_at: started_at.toISOString() },
    })
    const usage = { m: { requests: 1, prompt_tokens: tokens, total_tokens: tokens } }
    const end = { project_id: PROJECT, id, ended_at, output: null, exception, summary: { usage } }
    expect((await app.post('/call/end', { end })).status).toBe(200)
    if (score === undefined) return
    const weave_ref = `weave:///${PROJECT}/call/${id}`
    const about = { project_id: PROJECT, weave_ref, feedback_type: 'wandb.runnable.judge' }
    const refs = {
      runnable_ref: `weave:///${PROJECT}/op/judge:v0`,
      call_ref: `weave:///${PROJECT}/call/judged`,
    }
    const stored = await app.post('/traces/feedback/create', {
      ...about,
      ...refs,
      payload: { output: score },
    })
    expect(stored.status, stored.text).toBe(200)
  }
  const run = () => {
    const runner = startAlertRunner({
      stores: app.deps,
      webhooks,
      intervalMs: 50,
      tickMs: 20,
      nowUs: () => Date.now() * 1000,
      newId,
      log: () => undefined,
    })
    onTestFinished(() => runner.stop())
  }
  const create = async (more: object = {}) => {
    const { status, body, text } = await app.post(ALERTS, { ...NEW, ...more })
    expect(status, text).toBe(200)
    return body
  }
  const read = async (id: string) => (await app.get(`${ALERTS}/${id}`)).body
  const history = async (id: string) => (await app.get(`${ALERTS}/${id}/history`)).body.data
  return { ...app, addCall, run, create, read, history }
}

describe('alerts over HTTP', () => {
  it('are created with a secret that is shown once, listed, edited and deleted by admins of the project', async () => {
    const { get, post, patch, delete: remove, create, read, createKey } = await build()
    const { id, secret, ...alert } = await create()
    expect(secret).toMatch(/^whsec_/)
    expect(alert).toMatchObject({ state: 'unknown', direction: 'above', clear_threshold: null })
    const listed = await get(`${ALERTS}?project_id=${PROJECT}`)
    expect(listed.body.data).toEqual([{ id, ...alert }])
    expect(listed.text).not.toContain(secret)
    const change = { threshold: 5, clear_threshold: 2, fire_after_checks: 3 }
    expect((await patch(`${ALERTS}/${id}`, change)).body).toEqual({ id, ...alert, ...change })
    const refused = await patch(`${ALERTS}/${id}`, { direction: 'below' })
    expect([refused.status, refused.body.error.param]).toEqual([422, 'clear_threshold'])
    const others = [
      { key: await createKey({ projects: ['other/project'] }) },
      { key: await createKey({ scopes: ['traces:read', 'traces:write'] }) },
    ]
    const codes = others.map(async (options) => {
      const found = await get(`${ALERTS}/${id}`, options)
      const made = await post(ALERTS, NEW, options)
      const deleted = await remove(`${ALERTS}/${id}`, options)
      return [found, made, deleted].map(({ body }) => body.error.code)
    })
    expect(await Promise.all(codes)).toEqual([
      ['alert_not_found', 'project_forbidden', 'alert_not_found'],
      ['scope_missing', 'scope_missing', 'scope_missing'],
    ])
    expect((await remove(`${ALERTS}/${id}`)).body).toEqual({ id, deleted: true })
    expect((await read(id)).error.code).toBe('alert_not_found')
  })

  it.each<[string, object, string]>([
    ['a private address', { webhook: { url: 'http://169.254.169.254/' } }, 'webhook.url'],
    ['a file', { webhook: { url: 'file:///etc/passwd' } }, 'webhook.url'],
    ['a window of a month', { window_s: 2_592_000 }, 'window_s'],
    ['an unknown metric', { metric: { kind: 'calls', metric: 'x' } }, 'metric.metric'],
    ['a short secret', { secret: 'whsec_AAAA' }, 'secret'],
  ])('with %s are refused', async (_, more, param) => {
    const { post } = await buildTestApp()
    const { status, body } = await post(ALERTS, { ...NEW, ...more })
    expect([status, body.error.param]).toEqual([422, param])
  })

  it('are at most 100 in a project', async () => {
    const { create, post } = await build()
    for (let n = 0; n < 100; n++) await create()
    const { status, body } = await post(ALERTS, NEW)
    expect([status, body.error.message]).toEqual([422, expect.stringContaining('at most 100')])
  })
})

describe('a checked alert', () => {
  it('posts a signed message when it fires and when it clears, and lists both', async () => {
    const { addCall, run, create, read, history, patch } = await build()
    const receiver = await openReceiver()
    const alert = await create({ webhook: { url: receiver.url } })
    for (let n = 0; n < 2; n++) await addCall()
    run()
    await expect.poll(() => receiver.received.length, POLL).toBe(1)
    const [{ headers, body } = { headers: {}, body: '' }] = receiver.received
    const verified = new Webhook(alert.secret).verify(body, headers as Record<string, string>)
    expect(verified).toMatchObject({
      type: 'alert.fired',
      data: {
        alert_id: alert.id,
        project_id: PROJECT,
        name: NEW.name,
        metric: CALLS,
        value: 2,
        threshold: 1,
      },
    })
    expect(await read(alert.id)).toMatchObject({ state: 'firing', value: 2 })
    await patch(`${ALERTS}/${alert.id}`, { threshold: 5 })
    await expect.poll(() => receiver.received.length, POLL).toBe(2)
    expect(JSON.parse(receiver.received[1]?.body ?? '')).toMatchObject({ type: 'alert.cleared' })
    await expect
      .poll(
        async () => (await history(alert.id)).map(({ delivery }: { delivery: string }) => delivery),
        POLL,
      )
      .toEqual(['delivered', 'delivered'])
    const [cleared, fired] = await history(alert.id)
    expect(fired).toMatchObject({
      id: headers['webhook-id'],
      kind: 'fired',
      value: 2,
      threshold: 1,
      attempts: 1,
    })
    expect(cleared).toMatchObject({ kind: 'cleared', threshold: 5, response_status: 204 })
  })

  const JUDGED = { kind: 'feedback', feedback_type: 'wandb.runnable.of' }

  it.each<[string, object, number | null]>([
    ['calls', CALLS, 3],
    ['the share of errors', { kind: 'calls', metric: 'error_share' }, 1 / 3],
    ['a percentile of latency', { kind: 'calls', metric: 'latency_ms', percentile: 50 }, 200],
    ['the mean latency', { kind: 'calls', metric: 'latency_ms' }, 200],
    ['tokens', { kind: 'usage', metric: 'input_tokens' }, 60],
    ['tokens of a model', { kind: 'usage', metric: 'input_tokens', model: 'other' }, 0],
    ['the mean of tokens', { kind: 'usage', metric: 'input_tokens', aggregation: 'avg' }, 20],
    ['costs', { kind: 'usage', metric: 'total_cost' }, 0.06],
    ['the mean of a score', { kind: 'feedback', feedback_type: 'wandb.runnable.judge' }, 0.5],
    ['a share of a verdict', { kind: 'feedback', value_type: 'boolean' }, 1],
    ['the mean score of a judge', JUDGED, 0.4],
    ['a percentile of a judge', { ...JUDGED, percentile: 50 }, 0.4],
    ['the share that passes a rule', { kind: 'feedback', feedback_type: 'wandb.runnable.if' }, 0.5],
    ['the mean of what people say', { kind: 'feedback', feedback_type: 'stars' }, 4],
    ['a score that nothing has', { kind: 'feedback', json_path: 'other' }, null],
  ])('measures %s', async (_, metric, value) => {
    const { post, addCall, run, create, read } = await build()
    const price = { prompt_token_cost: 0.001, completion_token_cost: 0 }
    await post('/cost/create', { project_id: PROJECT, costs: { m: price } })
    await addCall({ ms: 100, tokens: 10, score: 0.25 })
    await addCall({ ms: 200, tokens: 20, score: 0.75 })
    await addCall({ ms: 300, tokens: 30, score: true, exception: 'no' })
    const scores = [
      ['wandb.runnable.of', { output: { reason: 'why', score: 0.3 } }],
      ['wandb.runnable.of', { output: { reason: 'why', score: 0.5 } }],
      ['wandb.runnable.if', { output: { passed: true } }],
      ['wandb.runnable.if', { output: { passed: false } }],
      ['stars', { value: 4 }],
    ] as const
    for (const [feedback_type, payload] of scores) {
      const weave_ref = `weave:///${PROJECT}/call/c0`
      const ref = `weave:///${PROJECT}/op/${feedback_type.split('.').at(-1)}:v0`
      const refs = feedback_type === 'stars' ? {} : { runnable_ref: ref, call_ref: weave_ref }
      const body = { project_id: PROJECT, weave_ref, feedback_type, payload, ...refs }
      expect((await post('/traces/feedback/create', body)).status).toBe(200)
    }
    const { id } = await create({ metric, threshold: 1e9 })
    run()
    await expect.poll(async () => (await read(id)).state, POLL).toBe('ok')
    const found = await read(id)
    expect(found.error).toBeNull()
    if (value === null) expect(found.value).toBeNull()
    else expect(found.value).toBeCloseTo(value, 9)
  })

  it('measures nothing in a window without calls, but for counts and sums', async () => {
    const { run, create, read } = await build()
    const metrics = [
      CALLS,
      { kind: 'usage', metric: 'total_tokens' },
      { kind: 'calls', metric: 'error_share' },
      { kind: 'calls', metric: 'latency_ms' },
      { kind: 'calls', metric: 'latency_ms', percentile: 95 },
      { kind: 'usage', metric: 'total_tokens', aggregation: 'avg' },
    ]
    const made = await Promise.all(metrics.map((metric) => create({ metric })))
    run()
    const states = () => Promise.all(made.map(({ id }) => read(id)))
    await expect
      .poll(async () => (await states()).every(({ state }) => state === 'ok'), POLL)
      .toBe(true)
    expect((await states()).map(({ value }) => value)).toEqual([0, 0, null, null, null, null])
  })

  it('measures only calls that its filter selects', async () => {
    const { addCall, run, create, read } = await build()
    await addCall()
    const { id } = await create({ filter: { op_names: ['other'] } })
    run()
    await expect.poll(async () => (await read(id)).value, POLL).toBe(0)
  })
})

describe('a test of a receiver', () => {
  it('sends one signed message and returns how it went, without an entry in the history', async () => {
    const { post, create, history } = await build()
    const receiver = await openReceiver()
    const { id, secret } = await create({ webhook: { url: receiver.url } })
    const test = () => post(`${ALERTS}/${id}/test`, {})
    expect((await test()).body).toEqual({ delivered: true, response_status: 204, error: null })
    const [{ headers, body } = { headers: {}, body: '' }] = receiver.received
    const verified = new Webhook(secret).verify(body, headers as Record<string, string>)
    expect(verified).toMatchObject({ type: 'alert.test', data: { value: null } })
    receiver.respond = (response) => void response.writeHead(403).end('a secret page')
    const refused = await test()
    expect(refused.body).toEqual({
      delivered: false,
      response_status: 403,
      error: 'the response has the status 403',
    })
    expect(await history(id)).toEqual([])
  })
})
