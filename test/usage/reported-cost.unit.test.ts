import { describe, expect, it } from 'vitest'
import { addedUsage, ownUsage } from '../../src/domain/usage/own-usage.ts'
import { findUsageDoubts, readUsage } from '../../src/domain/usage/usage.ts'

type Report = Record<string, unknown>

function read(report: Report, others: Report = {}) {
  const [usage] = readUsage({ usage: { m: report }, ...others })
  if (!usage) throw new Error('no usage')
  return usage
}

const microcents = (report: Report, others?: Report) => {
  const { reports_cost, reported_cost_microcents } = read(report, others)
  return reports_cost ? reported_cost_microcents : null
}

describe('the cost that a report has', () => {
  it.each<[string, Report, number]>([
    ['OpenRouter', { cost: 0.00095 }, 95_000],
    [
      'OpenRouter with a key of the client',
      { cost: 0.01, is_byok: true, cost_details: { upstream_inference_cost: 0.2 } },
      21_000_000,
    ],
    ['OpenRouter for a free model', { cost: 0 }, 0],
    ['Perplexity', { cost: { input_tokens_cost: 1, request_cost: 2, total_cost: 3 } }, 3e8],
    ['an object without a total', { cost: { input: 0.25, output: 0.5 } }, 75_000_000],
    ['LangSmith', { total_cost: 1.5, input_cost: 1 }, 150_000_000],
    ['the Claude Agent SDK', { total_cost_usd: 0.1234 }, 12_340_000],
    ['LiteLLM as a text', { response_cost: '3.45e-05' }, 3450],
    ['DeepInfra', { estimated_cost: 0.00000042 }, 42],
    ['xAI', { cost_in_usd_ticks: 37_756_000 }, 377_560],
    [
      'a number with more digits than a double',
      { cost: JSON.rawJSON('0.10000000000000000001') },
      1e7,
    ],
  ])('is read as %s writes it', (_name, report, expected) => {
    expect(microcents(report)).toBe(expected)
  })

  it('is what another server has added to the summary of a copied call', () => {
    const costs = { m: { prompt_tokens_total_cost: 0.5, completion_tokens_total_cost: 0.25 } }
    expect(microcents({}, { weave: { costs } })).toBe(75_000_000)
    expect(microcents({ cost: 1 }, { weave: { costs } })).toBe(1e8)
  })

  it.each([-1, Number.NaN, 'NaN', 'free', '', true, [1], 1_000_000.01, { total: -1 }, {}, '1e400'])(
    'counts as none and is named where it is %j',
    (cost) => {
      const report = { prompt_tokens: 3, cost }
      expect(microcents(report)).toBeNull()
      expect(read(report).input_tokens).toBe(3)
      expect(findUsageDoubts({ usage: { m: report } }, null)).toEqual([
        {
          model: 'm',
          isAmbiguous: false,
          problems: ['cost is no amount from 0 to 1000000 US dollars'],
        },
      ])
    },
  )

  it.each([undefined, null])('is none where it is %j', (cost) => {
    expect(microcents({ cost })).toBeNull()
    expect(findUsageDoubts({ usage: { m: { cost } } }, null)).toEqual([])
  })
})

describe('the cost of a call that reports those of its children, too', () => {
  const own = (parent: Report, child: Report) => {
    const used = ownUsage(read(parent), addedUsage(read(child)))
    return used && [used.input_tokens, used.reported_cost_microcents]
  }
  const PARENT = { requests: 2, prompt_tokens: 10, cost: 0.3 }

  it('is the rest of both counts', () => {
    expect(own(PARENT, { requests: 1, prompt_tokens: 4, cost: 0.1 })).toEqual([6, 20_000_000])
  })

  it('is not taken off where the tokens of the children do not fit in', () => {
    expect(own(PARENT, { requests: 1, prompt_tokens: 11, cost: 0.1 })).toEqual([10, 30_000_000])
  })

  it('stays whole where the children report none', () => {
    expect(own(PARENT, { requests: 2, prompt_tokens: 10 })).toEqual([0, 30_000_000])
  })

  it('is nothing where only the rounding of the children is left', () => {
    expect(own(PARENT, { requests: 2, prompt_tokens: 10, cost: 0.2999999 })).toBeNull()
  })

  it('is never below zero, and children may report more than a parent that has no cost', () => {
    expect(own(PARENT, { requests: 1, prompt_tokens: 4, cost: 0.5 })).toEqual([6, 0])
    expect(
      own({ requests: 2, prompt_tokens: 10 }, { requests: 1, prompt_tokens: 4, cost: 1 }),
    ).toEqual([6, 0])
  })

  it('is measured by itself where the parent reports nothing else', () => {
    const child = { requests: 2, prompt_tokens: 10, cost: 0.3 }
    expect(own({ requests: 1, cost: 0.3 }, child)).toBeNull()
    expect(own({ requests: 1, cost: 0.5 }, child)).toEqual([0, 20_000_000])
    expect(own({ requests: 1, cost: 0.2 }, child)).toEqual([0, 20_000_000])
  })
})

describe('the tier that a report names', () => {
  it.each<[Report, string | null]>([
    [{ service_tier: 'Batch' }, 'batch'],
    [{ service_tier: 'priority' }, 'priority'],
    [{ service_tier: 'default' }, null],
    [{ service_tier: 'standard', speed: 'fast' }, 'fast'],
    [{ service_tier: 'auto' }, null],
    [{ service_tier: 7 }, null],
    [{ service_tier: 'x'.repeat(65) }, null],
    [{}, null],
  ])('of %j is %j', (report, expected) => {
    expect(read(report).service_tier).toBe(expected)
  })
})
