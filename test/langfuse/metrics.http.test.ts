import { describe, expect, it } from 'vitest'
import { BASE, openLangfuse, project } from './langfuse-spans.ts'

/** Two traces: calls of two models, of which the second is without a parent, and an hour later one without a model. */
async function openFilled() {
  const app = await openLangfuse()
  const calls = [
    { id: 'a', at: 0, lasted_s: 1, usage: { m: { prompt_tokens: 10, completion_tokens: 2 } } },
    { id: 'b', at: 2, lasted_s: 3, usage: { n: { prompt_tokens: 30, completion_tokens: 4 } } },
    { id: 'c', at: 3600, lasted_s: 2, usage: {} },
  ]
  for (const { id, at, lasted_s, usage } of calls) {
    const time = (seconds: number) => new Date(Date.UTC(2026, 0, 1) + seconds * 1000).toISOString()
    const named = { project_id: project, id, trace_id: id === 'b' ? 'a' : id }
    const parent_id = id === 'b' ? 'a' : null
    const start = { ...named, parent_id, op_name: 'o', started_at: time(at) }
    await app.post('/call/start', { start: { ...start, attributes: {}, inputs: {} } })
    const end = { project_id: project, id, ended_at: time(at + lasted_s), summary: { usage } }
    expect((await app.post('/call/end', { end })).status).toBe(200)
  }
  return {
    ...app,
    ask(more: object) {
      const window = { fromTimestamp: '2026-01-01T00:00:00Z', toTimestamp: '2026-01-02T00:00:00Z' }
      const query = JSON.stringify({ view: 'observations', ...window, ...more })
      return app.get(`${BASE}/v2/metrics?query=${encodeURIComponent(query)}`, app.langfuse)
    },
  }
}

const of = (measure: string, ...aggregations: readonly string[]) =>
  aggregations.map((aggregation) => ({ measure, aggregation }))

describe('metrics of Langfuse’s API', () => {
  it('count calls, and sum up latency and tokens of a whole window in one row', async () => {
    const { ask } = await openFilled()
    const metrics = [
      ...of('count', 'count'),
      ...of('latency', 'avg', 'max', 'p50'),
      ...of('inputTokens', 'sum', 'avg', 'min', 'max', 'count'),
      ...of('totalTokens', 'sum'),
    ]
    expect((await ask({ metrics })).body).toEqual({
      data: [
        {
          count_count: 3,
          avg_latency: 2000,
          max_latency: 3000,
          p50_latency: 2000,
          sum_inputTokens: 40,
          avg_inputTokens: 20,
          min_inputTokens: 10,
          max_inputTokens: 30,
          count_inputTokens: 2,
          sum_totalTokens: 46,
        },
      ],
    })
  })

  it('have a row for each hour with calls, and are ordered and cut', async () => {
    const { ask } = await openFilled()
    const asked = { metrics: of('count', 'count'), timeDimension: { granularity: 'hour' } }
    const [first, second] = ['00', '01'].map((hour) => `2026-01-01T${hour}:00:00.000000Z`)
    expect((await ask(asked)).body.data).toEqual([
      { time_dimension: first, count_count: 2 },
      { time_dimension: second, count_count: 1 },
    ])
    const orderBy = [{ field: 'count_count', direction: 'asc' }]
    expect((await ask({ ...asked, orderBy, config: { row_limit: 1 } })).body.data).toEqual([
      { time_dimension: second, count_count: 1 },
    ])
  })

  it('of tokens have a row for each model, also with percentiles', async () => {
    const { ask } = await openFilled()
    const metrics = of('outputTokens', 'sum', 'p95')
    const { body } = await ask({ metrics, dimensions: [{ field: 'providedModelName' }] })
    expect(body.data).toEqual([
      { providedModelName: 'm', sum_outputTokens: 2, p95_outputTokens: 2 },
      { providedModelName: 'n', sum_outputTokens: 4, p95_outputTokens: 4 },
    ])
  })

  it.each([
    ['traceId', '=', 'a', 2],
    ['traceId', 'any of', ['a', 'c'], 3],
    ['isRootObservation', '=', true, 2],
  ])('are those of the calls whose %s %s %j', async (column, operator, value, count) => {
    const { ask } = await openFilled()
    const filters = [{ type: 'string', column, operator, value }]
    const { body } = await ask({ metrics: of('count', 'count'), filters })
    expect(body.data).toEqual([{ count_count: count }])
  })

  it('of costs are null where no model has a price', async () => {
    const { ask } = await openFilled()
    const metrics = of('totalCost', 'sum', 'avg', 'max', 'count')
    const [row] = (await ask({ metrics })).body.data
    expect(row).toEqual({
      sum_totalCost: null,
      avg_totalCost: null,
      max_totalCost: null,
      count_totalCost: 0,
    })
    const dimensions = [{ field: 'providedModelName' }]
    const { body } = await ask({ metrics, dimensions })
    expect(body.data).toEqual(
      ['m', 'n'].map((providedModelName) => ({ providedModelName, ...row })),
    )
  })

  it('are refused in an order that no row has, also where there are none', async () => {
    const { ask } = await openFilled()
    const metrics = of('count', 'count')
    const orderBy = [{ field: 'x', direction: 'asc' }]
    const fromTimestamp = '2026-01-01T12:00:00Z'
    expect((await ask({ metrics, fromTimestamp })).body).toEqual({ data: [] })
    expect((await ask({ metrics, fromTimestamp, orderBy })).status).toBe(400)
  })

  it.each([
    [{ view: 'scores-numeric' }, 'view: scores-numeric'],
    [{ dimensions: [{ field: 'level' }] }, 'dimensions: level'],
    [{ dimensions: [{ field: 'providedModelName' }] }, 'metrics: count'],
    [{ timeDimension: { granularity: 'week' } }, 'timeDimension: week'],
    [{ metrics: of('timeToFirstToken', 'avg') }, 'metrics: timeToFirstToken'],
    [{ metrics: of('inputTokens', 'p50') }, 'metrics: p50 of inputTokens'],
    [{ metrics: of('count', 'constructor') }, 'metrics: constructor of count'],
    [{ filters: [{ column: 'level', operator: '=', value: 'ERROR' }] }, 'filters: level ='],
    [{ orderBy: [{ field: 'x', direction: 'asc' }] }, 'orderBy: x'],
  ])('that calls have no statistics of are refused: %j', async (more, message) => {
    const { ask } = await openFilled()
    const { status, body } = await ask({ metrics: of('count', 'count'), ...more })
    expect({ status, code: body.error.code }).toEqual({ status: 400, code: 'unsupported_value' })
    expect(body.message).toContain(message)
  })
})
