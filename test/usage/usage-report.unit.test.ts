import { describe, expect, it } from 'vitest'
import { costParts, totalCost, toUsd } from '../../src/domain/prices/cost.ts'
import { createPriceTable } from '../../src/domain/prices/price-table.ts'
import { findUsageDoubts, readUsage } from '../../src/domain/usage/usage.ts'
import { identifyReporter } from '../../src/domain/usage/usage-reporter.ts'
import { timestampUs } from '../../src/schemas/timestamp.ts'

type Json = Record<string, unknown>

const prices = createPriceTable()
const AT_US = timestampUs('2026-11-01T12:00:00Z')

const PYTHON = identifyReporter({ weave: { client_version: '0.54.0', source: 'python-sdk' } })
const PYTHON_BEFORE = identifyReporter({
  weave: { client_version: '0.53.1', source: 'python-sdk' },
})
const NPM = identifyReporter({ weave: { client_version: '0.11.1', source: 'js-sdk' } })

function read(model: string, report: Json, reporter = NPM) {
  const [usage] = readUsage({ usage: { [model]: report } }, reporter)
  if (!usage) throw new Error('no usage')
  return usage
}

function usd(model: string, report: Json, reporter: typeof NPM = null): number {
  const found = prices.find(model, null, AT_US)
  if (!found) throw new Error(`${model} has no price`)
  return toUsd(totalCost(costParts(read(model, report, reporter), found)))
}

// The right costs are those of genai-prices 0.2.3 (PyPI) for the provider's own object.
describe('the cost of a report', () => {
  it.each<[string, string, Json, typeof NPM, number]>([
    [
      'gross input of weave 0.54.0 from PyPI around anthropic',
      'claude-sonnet-4-5',
      { input_tokens: 100_100, output_tokens: 10, cache_read_input_tokens: 100_000 },
      PYTHON,
      0.03045,
    ],
    [
      'net input of npm weave 0.11.1 around @anthropic-ai/sdk',
      'claude-sonnet-4-5',
      { input_tokens: 100, output_tokens: 10, cache_read_input_tokens: 100_000 },
      NPM,
      0.03045,
    ],
    [
      'cache writes of OpenAI Responses, which weave repeats beside the details',
      'gpt-5',
      {
        input_tokens: 2000,
        output_tokens: 10,
        input_tokens_details: { cached_tokens: 0, cache_write_tokens: 1900 },
        cache_read_input_tokens: 0,
        cache_creation_input_tokens: 1900,
      },
      PYTHON,
      0.0026,
    ],
    [
      'thoughts of Gemini, which its candidates leave out',
      'gemini-2.5-pro',
      { prompt_tokens: 1000, completion_tokens: 100, thoughts_tokens: 900, total_tokens: 2000 },
      PYTHON,
      0.01125,
    ],
    [
      'cache writes for an hour',
      'claude-sonnet-4-5',
      {
        input_tokens: 1000,
        output_tokens: 100,
        cache_creation_input_tokens: 10_000,
        cache_creation: { ephemeral_1h_input_tokens: 10_000, ephemeral_5m_input_tokens: 0 },
      },
      NPM,
      0.0645,
    ],
    [
      'audio of the Realtime API',
      'gpt-realtime',
      {
        input_tokens: 10_000,
        output_tokens: 1000,
        input_token_details: { audio_tokens: 10_000 },
        output_token_details: { audio_tokens: 1000 },
      },
      null,
      0.384,
    ],
    [
      'reasoning of xAI outside of the completion',
      'grok-4',
      {
        prompt_tokens: 1000,
        completion_tokens: 100,
        total_tokens: 2000,
        completion_tokens_details: { reasoning_tokens: 900 },
      },
      null,
      0.018,
    ],
    [
      'reasoning of OpenAI inside of the completion',
      'gpt-5',
      {
        prompt_tokens: 1000,
        completion_tokens: 1000,
        total_tokens: 2000,
        completion_tokens_details: { reasoning_tokens: 900 },
      },
      null,
      0.01125,
    ],
    [
      'cache hits of DeepSeek inside of the prompt',
      'deepseek-chat',
      {
        prompt_tokens: 1000,
        completion_tokens: 0,
        prompt_cache_hit_tokens: 1000,
        prompt_cache_miss_tokens: 0,
        total_tokens: 1000,
      },
      null,
      0.00007,
    ],
  ])('%s', (_, model, report, reporter, cost) => {
    expect(usd(model, report, reporter)).toBeCloseTo(cost, 9)
  })
})

describe('the tokens of a report', () => {
  it('are the same from both names of one count when the total says so', () => {
    const both = { prompt_tokens: 10, input_tokens: 10, completion_tokens: 5, output_tokens: 5 }
    expect(read('m', { ...both, total_tokens: 15 })).toMatchObject({
      input_tokens: 10,
      output_tokens: 5,
    })
    expect(read('m', both)).toMatchObject({ input_tokens: 20, output_tokens: 10 })
  })

  it('are read from the provider object of Gemini as it is', () => {
    const usageMetadata = {
      promptTokenCount: 1000,
      candidatesTokenCount: 40,
      thoughtsTokenCount: 60,
      cachedContentTokenCount: 400,
      toolUsePromptTokenCount: 50,
      totalTokenCount: 1150,
    }
    expect(read('gemini-2.5-flash', usageMetadata)).toMatchObject({
      input_tokens: 1050,
      uncached_input_tokens: 650,
      cache_read_input_tokens: 400,
      output_tokens: 100,
      reasoning_tokens: 60,
      total_tokens: 1150,
    })
  })

  it('are read from the provider object of Bedrock, whose input leaves out what a cache had', () => {
    const usage = { inputTokens: 10, outputTokens: 5, totalTokens: 115, cacheReadInputTokens: 100 }
    expect(read('amazon.nova-lite-v1:0', usage, null)).toMatchObject({
      input_tokens: 110,
      uncached_input_tokens: 10,
      cache_read_input_tokens: 100,
      total_tokens: 115,
    })
  })

  it('count texts of digits', () => {
    expect(read('m', { prompt_tokens: '12', completion_tokens: '3' })).toMatchObject({
      input_tokens: 12,
      output_tokens: 3,
      total_tokens: 15,
    })
  })

  it('of an older weave from PyPI are net, as those of the provider', () => {
    const report = { input_tokens: 100, output_tokens: 1, cache_read_input_tokens: 50 }
    expect(read('claude-sonnet-4-5', report, PYTHON_BEFORE).uncached_input_tokens).toBe(100)
    expect(read('claude-sonnet-4-5', report, PYTHON).uncached_input_tokens).toBe(50)
  })
})

describe('doubts about a report', () => {
  const doubts = (report: Json, reporter = NPM) =>
    findUsageDoubts({ usage: { m: report } }, reporter)

  it('name cached input that may lie inside or beside an unknown reporter its input', () => {
    const report = { input_tokens: 100, output_tokens: 1, cache_read_input_tokens: 50 }
    expect(doubts(report, null)).toEqual([{ model: 'm', isAmbiguous: true, problems: [] }])
    expect(doubts(report, PYTHON)).toEqual([])
    expect(doubts({ ...report, total_tokens: 101 }, null)).toEqual([])
    expect(doubts({ ...report, total_tokens: 151 }, null)).toEqual([])
  })

  it.each([
    ['negative', -1],
    ['no number', 'many'],
    ['over 2^53', 2 ** 53],
    ['a boolean', true],
  ])('name a count that is %s, which counts as nothing', (_, prompt_tokens) => {
    const report = { prompt_tokens, completion_tokens: 5 }
    expect(doubts(report)).toEqual([
      {
        model: 'm',
        isAmbiguous: false,
        problems: ['prompt_tokens is no whole number from 0 to 2^53 - 1'],
      },
    ])
    expect(read('m', report)).toMatchObject({ input_tokens: 0, output_tokens: 5, total_tokens: 5 })
  })

  it('name a total that is less than its parts, which are counted', () => {
    const report = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 3 }
    expect(doubts(report)).toMatchObject([{ problems: ['total_tokens is less than its parts'] }])
    expect(read('m', report).total_tokens).toBe(15)
  })
})
