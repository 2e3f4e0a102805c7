import { describe, expect, it } from 'vitest'
import { buildSpan, spanId, toJsonRequest } from '../otel/otel-fixtures.ts'
import { record, URL, WINDOW } from '../stats/support/stats-fixtures.ts'
import { basic, buildTestApp, type TestApp } from '../support/build-test-app.ts'

interface Sample {
  readonly id: string
  readonly parent?: string
  readonly at?: string
  readonly usage?: Record<string, number>
}

async function recordUsage(app: TestApp, ...calls: Sample[]): Promise<void> {
  for (const { id, parent = null, at = '10:01:00', usage } of calls) {
    const start = { parent_id: parent, trace_id: 't', op_name: id }
    await record(app, { id, at, start, end: { summary: usage ? { usage: { m: usage } } : {} } })
  }
}

/** Tokens of both buckets, the rows that they come from, and how they were counted. */
async function askTokens(app: TestApp, fields: object = {}) {
  const { status, body, text } = await app.post(URL, {
    ...WINDOW,
    granularity: 300,
    usage_metrics: [{ metric: 'total_tokens' }],
    ...fields,
  })
  if (status !== 200) throw new Error(text)
  const buckets = body.usage_buckets as { sum_total_tokens: number; count: number }[]
  return {
    tokens: buckets.map(({ sum_total_tokens }) => sum_total_tokens),
    rows: buckets.reduce((sum, { count }) => sum + count, 0),
    counting: body.usage_counting,
  }
}

const report = (requests: number, prompt_tokens: number) => ({ requests, prompt_tokens })

/** An agent as an SDK records it: every call reports what those below it used. */
const AGENT: Sample[] = [
  { id: 'first', parent: 'step', usage: report(1, 100) },
  { id: 'second', parent: 'step', usage: report(1, 200) },
  { id: 'step', parent: 'agent', usage: report(2, 300) },
  { id: 'third', parent: 'agent', at: '10:06:00', usage: report(1, 300) },
  { id: 'agent', usage: report(3, 600) },
]

describe('POST /calls/stats with usage_counting', () => {
  it('counts the tokens of an agent once, where they were spent', async () => {
    const app = await buildTestApp()
    await recordUsage(app, ...AGENT)
    const once = { tokens: [300, 300], rows: 3, counting: 'own' }
    expect(await askTokens(app)).toEqual(once)
    expect(await askTokens(app, { usage_counting: 'own' })).toEqual(once)
    const reported = { tokens: [1200, 300], rows: 5, counting: 'reported' }
    expect(await askTokens(app, { usage_counting: 'reported' })).toEqual(reported)
    expect(await askTokens(app, { filter: { trace_ids: ['t'] } })).toEqual(once)
  })

  it('leaves reports as they are where a filter picks calls out of their traces', async () => {
    const app = await buildTestApp()
    await recordUsage(app, ...AGENT)
    const picked = { tokens: [600, 0], rows: 1, counting: 'reported' }
    for (const filter of [
      { op_names: ['agent'] },
      { trace_roots_only: true },
      { call_ids: ['agent'] },
    ]) {
      expect(await askTokens(app, { filter })).toEqual(picked)
    }
    const children = { tokens: [300, 0], rows: 2, counting: 'reported' }
    expect(await askTokens(app, { filter: { parent_ids: ['step'] } })).toEqual(children)
    const own = { usage_counting: 'own' }
    const nothing = { tokens: [], rows: 0, counting: 'own' }
    expect(await askTokens(app, { ...own, filter: { op_names: ['agent', 'step'] } })).toEqual(
      nothing,
    )
  })

  it('counts a parent again when children come late and when they go', async () => {
    const app = await buildTestApp()
    await recordUsage(app, { id: 'agent', usage: report(2, 50) })
    expect(await askTokens(app)).toMatchObject({ tokens: [50, 0] })
    await recordUsage(app, { id: 'late', parent: 'agent', at: '10:07:00', usage: report(1, 20) })
    expect(await askTokens(app)).toMatchObject({ tokens: [30, 20] })
    const more = { id: 'more', parent: 'agent', at: '10:07:00', usage: report(2, 20) }
    await recordUsage(app, more)
    // Three requests do not fit into two.
    expect(await askTokens(app)).toMatchObject({ tokens: [50, 40] })
    await app.post('/calls/delete', { project_id: WINDOW.project_id, call_ids: ['more'] })
    expect(await askTokens(app)).toMatchObject({ tokens: [30, 20] })
    await app.post('/calls/delete', { project_id: WINDOW.project_id, call_ids: ['late'] })
    expect(await askTokens(app)).toMatchObject({ tokens: [50, 0] })
  })

  it('returns the way of counting without metrics, and refuses unknown ones', async () => {
    const { post } = await buildTestApp()
    expect((await post(URL, WINDOW)).body.usage_counting).toBe('own')
    const refused = await post(URL, { ...WINDOW, usage_counting: 'twice' })
    expect([refused.status, refused.body.error.param]).toEqual([422, 'usage_counting'])
  })

  it('counts a model span around one that repeats it once', async () => {
    const app = await buildTestApp()
    const attributes = {
      'gen_ai.operation.name': 'chat',
      'gen_ai.request.model': 'm',
      'gen_ai.usage.input_tokens': 70,
      'gen_ai.usage.output_tokens': 7,
    }
    const start_ns = BigInt(Date.parse('2026-01-01T10:01:00Z')) * 1_000_000n
    const times = { start_ns, end_ns: start_ns + 1_000_000n }
    const inner = buildSpan({ ...times, span_id: spanId(2), parent_span_id: spanId(1), attributes })
    const outer = buildSpan({ ...times, span_id: spanId(1), attributes })
    for (const span of [inner, outer]) {
      const headers = { authorization: basic(app.key), project_id: WINDOW.project_id }
      const { status } = await app.post('/v1/traces', toJsonRequest([span]), { headers })
      expect(status).toBe(200)
    }
    expect(await askTokens(app)).toMatchObject({ tokens: [77, 0], rows: 1 })
  })
})
