/** The target and the candidate of a name, side by side. */
import { describe, expect, it } from 'vitest'
import { buildTestApp, type TestApp } from '../support/build-test-app.ts'
import { rate } from '../training/traffic/rated-calls.ts'

const PROJECT = 'acme/demo'
const URL = '/v1/preview/aliases/helper/arms'

interface Made {
  readonly arm: string
  readonly user: string
  readonly ms: number
  /** Default: the one that is read. */
  readonly alias?: string
  readonly fields?: object
}

/** A recorded completion as the relay stores it. */
async function record(
  app: TestApp,
  id: string,
  { arm, user, ms, alias = 'helper', fields = {} }: Made,
) {
  const startMs = Date.parse('2026-01-31T09:30:00Z')
  const start = {
    project_id: PROJECT,
    id,
    op_name: 'chat.completions',
    started_at: new Date(startMs).toISOString(),
    attributes: { alias, alias_arm: arm, model: arm === 'target' ? 'old' : 'new' },
    inputs: { model: 'helper', messages: [], user },
  }
  const usage = { priced: { prompt_tokens: 1_000_000, completion_tokens: 0 } }
  const end = {
    project_id: PROJECT,
    id,
    ended_at: new Date(startMs + ms).toISOString(),
    summary: { usage },
    ...fields,
  }
  expect((await app.post('/call/start', { start })).status).toBe(200)
  expect((await app.post('/call/end', { end })).status).toBe(200)
}

async function buildServedApp() {
  const app = await buildTestApp()
  const target = 'tiny'
  await app.put('/v1/preview/aliases/helper', { project_id: PROJECT, target })
  return app
}

const read = (app: TestApp, query: object = {}, options = {}) => {
  const names = new URLSearchParams({
    project_id: PROJECT,
    since: '2026-01-01T00:00:00Z',
    ...query,
  })
  return app.get(`${URL}?${names}`, options)
}

describe('GET /v1/preview/aliases/{name}/arms', () => {
  it('sums up calls, errors, latency, cost and the newest scores by arm', async () => {
    const app = await buildServedApp()
    const prices = { priced: { prompt_token_cost: 0.000001, completion_token_cost: 0 } }
    const priced = await app.post('/cost/create', { project_id: PROJECT, costs: prices })
    expect(priced.status, priced.text).toBe(200)
    await record(app, 'a', { arm: 'target', user: 'ada', ms: 100 })
    await record(app, 'b', { arm: 'target', user: 'ada', ms: 300 })
    await record(app, 'c', { arm: 'target', user: 'bob', ms: 200, fields: { exception: 'no' } })
    await record(app, 'd', { arm: 'candidate', user: 'cy', ms: 400 })
    await record(app, 'e', { arm: 'candidate', user: 'dee', ms: 400 })
    await record(app, 'other', { arm: 'none', user: 'dee', ms: 400 })
    await record(app, 'foreign', { arm: 'target', user: 'ada', ms: 9, alias: 'another' })
    await rate(app, 'a', { score: 9 })
    for (const [id, score] of Object.entries({ a: 0, b: 1, c: 0, d: 1, e: 1 })) {
      await rate(app, id, { score })
    }
    const { body } = await read(app)
    expect(body).toMatchObject({ since: '2026-01-01T00:00:00Z', is_complete: true })
    const latency = { mean_latency_ms: 200, p95_latency_ms: 300 }
    const rated = { feedback_type: 'rating', count: 3, users: 2, mean: 1 / 3 }
    expect(body.arms).toMatchObject([
      { arm: 'target', models: ['old'], calls: 3, errors: 1, ...latency, scores: [rated] },
      { arm: 'candidate', models: ['new'], calls: 2, errors: 0, mean_latency_ms: 400 },
    ])
    expect(body.arms[0]).toMatchObject({ cost_usd: 3, mean_cost_usd: 1 })
    // Users count once each: (1/2 + 0) / 2 of the target.
    expect(body.differences).toEqual([
      { feedback_type: 'rating', mean: 0.75, low: null, high: null },
    ])
  })

  it('has the interval of a t-test for four end users of each arm', async () => {
    const app = await buildServedApp()
    const scores = { target: [0, 0, 1, 1], candidate: [1, 1, 1, 1] }
    for (const [arm, ofUsers] of Object.entries(scores)) {
      for (const [user, score] of ofUsers.entries()) {
        await record(app, `${arm}${user}`, { arm, user: `${arm}${user}`, ms: 100 })
        await rate(app, `${arm}${user}`, { score })
      }
    }
    const [difference] = (await read(app)).body.differences
    // The variance of the target is 1/3, of four; the table has 3.182 for three degrees of freedom.
    const error = 3.182 * Math.sqrt(1 / 3 / 4)
    expect(difference.mean).toBe(0.5)
    expect(difference.low).toBeCloseTo(0.5 - error, 2)
    expect(difference.high).toBeCloseTo(0.5 + error, 2)
  })

  it('counts the newest 10,000 calls, and says whether there are more', async () => {
    const app = await buildServedApp()
    const startMs = Date.parse('2026-01-31T09:30:00Z')
    const send = async (count: number, begin: number) => {
      const batch = Array.from({ length: count }, (_, at) => ({
        mode: 'start',
        req: {
          start: {
            project_id: PROJECT,
            id: `${begin + at}`,
            op_name: 'chat.completions',
            started_at: new Date(startMs + begin + at).toISOString(),
            attributes: { alias: 'helper', alias_arm: begin === 0 ? 'candidate' : 'target' },
            inputs: {},
          },
        },
      }))
      expect((await app.post('/call/upsert_batch', { batch })).status).toBe(200)
    }
    await send(1, 0)
    for (let begin = 1; begin < 10_000; begin += 1111) await send(1111, begin)
    const all = await read(app)
    expect(all.body).toMatchObject({ is_complete: true, arms: [{ calls: 9999 }, { calls: 1 }] })
    await send(1, 10_000)
    const newest = await read(app)
    const arms = [{ calls: 10_000 }, { calls: 0 }]
    expect(newest.body).toMatchObject({ is_complete: false, arms })
  })

  it('begins when the name was set last, and has no interval for one end user', async () => {
    const app = await buildServedApp()
    await record(app, 'a', { arm: 'target', user: 'ada', ms: 100 })
    await record(app, 'b', { arm: 'candidate', user: 'bob', ms: 100 })
    for (const id of ['a', 'b']) await rate(app, id, { score: 1 })
    const bare = await app.get(`${URL}?project_id=${PROJECT}`)
    expect(bare.body.arms).toMatchObject([{ calls: 0, mean_latency_ms: null }, { calls: 0 }])
    expect((await read(app)).body.differences).toEqual([
      { feedback_type: 'rating', mean: 0, low: null, high: null },
    ])
  })

  it('needs the name, a time, the project, and the scopes to train and to read calls', async () => {
    const app = await buildServedApp()
    const missing = await app.get(`/v1/preview/aliases/none/arms?project_id=${PROJECT}`)
    expect([missing.status, missing.body.error.code]).toEqual([404, 'alias_not_found'])
    expect((await read(app, { since: 'soon' })).body.error.param).toBe('since')
    for (const [code, rights] of [
      ['scope_missing', { scopes: ['training'] as const }],
      ['scope_missing', { scopes: ['traces:read'] as const }],
      ['project_forbidden', { projects: ['acme/other'] }],
    ] as const) {
      const key = await app.createKey(rights)
      expect((await read(app, {}, { key })).body.error.code).toBe(code)
    }
  })
})
