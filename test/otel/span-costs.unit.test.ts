import { describe, expect, it } from 'vitest'
import { toSpanCall } from '../../src/domain/otel/span-call.ts'
import { findUsageDoubts, readUsage } from '../../src/domain/usage/usage.ts'
import { buildSpan } from './otel-fixtures.ts'

const CHAT = {
  'gen_ai.operation.name': 'chat',
  'gen_ai.request.model': 'm',
  'gen_ai.usage.input_tokens': 3,
}

function endOf(attributes: Record<string, unknown>) {
  return toSpanCall(buildSpan({ attributes }), 'acme/demo').end
}

function usageOf(attributes: Record<string, unknown>) {
  const [usage] = readUsage(endOf(attributes).summary)
  return usage && { tokens: usage.input_tokens, usd: usage.reported_cost_microcents / 1e8 }
}

describe('the cost of a span', () => {
  it.each([
    ['gen_ai.usage.cost', 0.25],
    ['gen_ai.usage.cost_usd', 0.25],
    ['operation.cost', 0.25],
    ['gen_ai.cost.total_cost', 0.25],
    ['litellm.cost.total', '0.25'],
    ['llm.cost.total', 0.25],
    ['langfuse.observation.cost_details', '{"input": 0.05, "output": 0.2}'],
    ['langfuse.observation.cost_details', '{"input": 0.05, "output": 0.1, "total": 0.25}'],
    ['mlflow.llm.cost', '{"input_cost": 0.05, "output_cost": 0.2, "total_cost": 0.25}'],
  ])('is in its usage, from %s (%j)', (name, value) => {
    expect(usageOf({ ...CHAT, [name]: value })).toEqual({ tokens: 3, usd: 0.25 })
  })

  it('is that of its report where no attribute has one', () => {
    const metadata = JSON.stringify({ input_tokens: 3, output_tokens: 1, total_cost: 0.5 })
    const span = { 'langsmith.span.kind': 'llm', 'gen_ai.request.model': 'm' }
    expect(usageOf({ ...span, 'langsmith.metadata.usage_metadata': metadata })).toEqual({
      tokens: 3,
      usd: 0.5,
    })
  })

  it('is a report without any tokens, unless it is 0', () => {
    const image = { 'gen_ai.operation.name': 'chat', 'gen_ai.request.model': 'm' }
    expect(usageOf({ ...image, 'gen_ai.usage.cost': 0.04 })).toEqual({ tokens: 0, usd: 0.04 })
    expect(usageOf({ ...image, 'gen_ai.usage.cost': 0 })).toBeUndefined()
  })

  it.each([-0.5, 'NaN', 'unknown'])('is kept as sent and named where it is %j', (cost) => {
    const { summary } = endOf({ ...CHAT, 'gen_ai.usage.cost': cost })
    expect(summary).toMatchObject({ usage: { m: { cost } } })
    expect(usageOf({ ...CHAT, 'gen_ai.usage.cost': cost })).toEqual({ tokens: 3, usd: 0 })
    expect(findUsageDoubts(summary, null)).toMatchObject([
      { problems: ['cost is no amount from 0 to 1000000 US dollars'] },
    ])
  })

  it('of an agent is not that of a model', () => {
    expect(
      endOf({
        'gen_ai.operation.name': 'invoke_agent',
        'gen_ai.request.model': 'm',
        'operation.cost': 1,
      }).summary,
    ).toEqual({})
  })
})

describe('the tier of service of a span', () => {
  it.each([
    'gen_ai.openai.response.service_tier',
    'openai.response.service_tier',
    'anthropic.response.service_tier',
  ])('is in its usage, from %s', (name) => {
    expect(endOf({ ...CHAT, [name]: 'flex' }).summary).toMatchObject({
      usage: { m: { service_tier: 'flex' } },
    })
  })
})
