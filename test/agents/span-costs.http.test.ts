/** Costs of spans, which are those of their calls. */
import { beforeEach, expect, it } from 'vitest'
import { buildSpan, spanId, toJsonRequest } from '../otel/otel-fixtures.ts'
import { describeEachStore } from '../store/clickhouse/describe-each-store.ts'
import type { TestApp } from '../support/build-test-app.ts'
import { askAgents, at, buildAgentsApp, equals, PROJECT, traceId } from './agents-fixtures.ts'

let test: TestApp

describeEachStore('costs of spans', (build) => {
  beforeEach(async () => {
    test = await buildAgentsApp(build)
  })

  it('costs spans as their calls: at their service tier, or as they report where no price is known', async () => {
    const trace_id = traceId(77)
    const own = [
      { 'gen_ai.response.model': 'gpt-4o-mini', 'openai.response.service_tier': 'batch' },
      { 'gen_ai.response.model': 'nobody/knows-it', 'gen_ai.usage.cost': 0.25 },
      { 'gen_ai.response.model': 'nobody/knows-it' },
    ]
    const begun = own.map((attributes, index) =>
      buildSpan({
        trace_id,
        span_id: spanId(950 + index),
        start_ns: at(0) + BigInt(index) * 1000n,
        attributes: {
          'gen_ai.operation.name': 'chat',
          'gen_ai.provider.name': 'openai',
          'gen_ai.usage.input_tokens': 200,
          'gen_ai.usage.output_tokens': 10,
          ...attributes,
        },
      }),
    )
    await test.post('/v1/traces', toJsonRequest(begun), { headers: { project_id: PROJECT } })
    const query = equals('trace_id', trace_id)
    const { body } = await askAgents(test, 'spans/query', { query, include_costs: true })
    const costs = body.spans.map((span: Record<string, unknown>) => [
      span.input_cost_usd,
      span.output_cost_usd,
      span.total_cost_usd,
    ])
    const { text } = await test.post('/calls/stream_query', {
      project_id: PROJECT,
      filter: { trace_ids: [trace_id] },
      include_costs: true,
      sort_by: [{ field: 'started_at', direction: 'desc' }],
    })
    const calls = text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(calls.map(({ summary }) => summary.weave.total_cost ?? null)).toEqual(
      costs.map(([, , total]: number[]) => total),
    )
    expect(costs).toEqual([
      [null, null, null],
      [null, null, 0.25],
      [0.000015, 0.000003, 0.000018],
    ])
  })
})
