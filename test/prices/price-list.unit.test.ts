import { findProvider, type ModelInfo } from '@pydantic/genai-prices'
import { describe, expect, it } from 'vitest'
import { findListedModel, findProviderId } from '../../src/domain/prices/price-list.ts'
import { createPriceTable } from '../../src/domain/prices/price-table.ts'

const AT_US = Date.UTC(2026, 10, 1) * 1000

/** The package does not list its providers. */
const PROVIDERS = `
anthropic arcee avian aws azure baseten cerebras cloudflare cohere cursor deepseek doubleword fireworks github-copilot google groq
huggingface_cerebras huggingface_fireworks-ai huggingface_groq huggingface_hyperbolic huggingface_nebius huggingface_novita huggingface_nscale
huggingface_ovhcloud huggingface_publicai huggingface_sambanova huggingface_together minimax mistral modal moonshotai novita
openai openrouter ovhcloud perplexity quicksilverpro together typesafe voyageai x-ai zai zhipuai
`
  .trim()
  .split(/\s+/)

/** Whether tokens have a price above zero in any period. */
function isPriced(prices: ModelInfo['prices']): boolean {
  const periods = Array.isArray(prices) ? prices.map((period) => period.prices) : [prices]
  return periods.some(({ input_mtok, output_mtok }) =>
    [input_mtok, output_mtok].some((price) => (typeof price === 'object' ? price.base : price)),
  )
}

describe('findListedModel', () => {
  it.each(PROVIDERS)('finds each model of %s by its id and provider', (provider) => {
    const listed = findProvider({ providerId: provider })?.models ?? []
    const missing = listed.filter(({ id }) => {
      const found = findListedModel(id, provider)
      return found?.provider_id !== provider || found.model.id !== id
    })
    expect(listed.length).toBeGreaterThan(0)
    expect(missing.map(({ id }) => id)).toEqual([])
  })

  it('has a price for each of the 1,517 models with a price above zero, by id and provider', () => {
    const prices = createPriceTable()
    const listed = PROVIDERS.flatMap((provider) =>
      (findProvider({ providerId: provider })?.models ?? []).map((model) => ({ provider, model })),
    )
    const priced = listed.filter(({ model }) => isPriced(model.prices))
    const missing = priced.filter(
      ({ model, provider }) => prices.find(model.id, provider, AT_US) === null,
    )
    expect(missing.map(({ model }) => model.id)).toEqual([])
    expect(priced).toHaveLength(1517)
  })

  it.each([
    [
      'us.anthropic.claude-sonnet-4-20250514-v1:0',
      'regional.anthropic.claude-sonnet-4-20250514-v1:0',
    ],
    ['eu.amazon.nova-lite-v1:0', 'amazon.nova-lite-v1:0'],
    ['amazon.nova-lite-v1:0', 'amazon.nova-lite-v1:0'],
  ])('finds %s of Bedrock, whatever the region', (model, id) => {
    expect(findListedModel(model, 'aws.bedrock')).toMatchObject({
      provider_id: 'aws',
      model: { id },
    })
  })

  it.each(['models/gemini-2.5-pro', 'publishers/google/models/gemini-2.5-pro'])(
    'finds %s, which is a path of Google',
    (model) => {
      expect(findListedModel(model, 'gcp.vertex_ai')?.model.id).toBe('gemini-2.5-pro')
    },
  )

  it('finds a model by its name alone where its provider does not list it', () => {
    expect(findListedModel('gpt-4o', 'langchain')?.provider_id).toBe('openai')
    expect(findListedModel('gpt-4o', 'groq')?.provider_id).toBe('openai')
  })

  it.each([null, 'vllm', 'ollama', 'openai', 'http://localhost:8000/v1'])(
    'finds no hosted twin of an open model that %s serves',
    (provider) => {
      expect(findListedModel('llama-3.3-70b-versatile', provider)).toBeNull()
    },
  )
})

describe('findProviderId', () => {
  it.each([
    ['aws.bedrock', 'aws'],
    ['amazon-bedrock', 'aws'],
    ['azure.ai.openai', 'azure'],
    ['az.ai.inference', 'azure'],
    ['azure_openai', 'azure'],
    ['gcp.vertex_ai', 'google'],
    ['gcp.gen_ai', 'google'],
    ['google.generative-ai', 'google'],
    ['x_ai', 'x-ai'],
    ['xai.chat', 'x-ai'],
    ['mistral_ai', 'mistral'],
    ['groq.chat', 'groq'],
    ['TogetherAI', 'together'],
    ['fireworks_ai', 'fireworks'],
    ['openai.responses', 'openai'],
    [' Anthropic ', 'anthropic'],
    ['https://api.groq.com/openai/v1', 'groq'],
    ['ibm.watsonx.ai', null],
    ['togetherness', null],
    ['', null],
    ['https://models.example.org/v1', null],
  ])('takes %j for %j', (name, id) => {
    expect(findProviderId(name)).toBe(id)
  })
})

describe('createPriceTable', () => {
  it('gives a model the price of the provider that served it', () => {
    const prices = createPriceTable()
    const inputOf = (provider: string | null) =>
      prices.find('gpt-oss-120b', provider, AT_US)?.input.base
    expect(inputOf('cerebras')).toBe(0.35e9)
    expect(inputOf('fireworks')).toBe(0.15e9)
    expect(inputOf(null)).toBe(0.039e9)
  })
})
