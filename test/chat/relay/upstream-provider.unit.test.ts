import { describe, expect, it, onTestFinished } from 'vitest'
import { findUpstreamModel, type ServedModel } from '../../../src/inference/models/registry.ts'
import { createOpenAiBackend } from '../../../src/inference/openai/backend.ts'

function backendAt(...addresses: string[]) {
  const upstreams = addresses.map((baseUrl) => ({ baseUrl, apiKey: null }))
  const backend = createOpenAiBackend({
    upstreams,
    timeoutMs: { connect: 100, first_byte: 100, total: 100, idle: 100 },
  })
  onTestFinished(() => backend.close())
  return backend
}

const providerOf = (...addresses: string[]) => backendAt(...addresses).findProvider?.()

describe('findProvider of a relaying backend', () => {
  it.each([
    ['https://api.groq.com/openai/v1', 'groq'],
    ['https://api.openai.com/v1', 'openai'],
    ['https://acme.openai.azure.com/openai/v1', 'azure'],
    ['https://models.example.org/v1', null],
    ['http://127.0.0.1:8000/v1', null],
  ])('names who answers at %s', (address, provider) => {
    expect(providerOf(address)).toBe(provider)
  })

  it('names one provider of all upstreams, and none of several', () => {
    const groq = 'https://api.groq.com/openai/v1'
    expect(providerOf(groq, groq)).toBe('groq')
    expect(providerOf(groq, 'https://api.openai.com/v1')).toBeNull()
    expect(providerOf(groq, 'https://models.example.org/v1')).toBeNull()
  })
})

describe('findUpstreamModel', () => {
  const served = (address: string, backendModel: string) =>
    findUpstreamModel({ id: 'mine', backend: backendAt(address), backendModel } as ServedModel)

  it('names a model as its listed provider does', () => {
    expect(served('https://api.openai.com/v1', 'gpt-4o')).toBe('gpt-4o')
    expect(served('https://api.openai.com/v1', 'mine')).toBeNull()
  })

  it('names none of a server of its own, where the same name costs nothing', () => {
    expect(served('http://127.0.0.1:8000/v1', 'gpt-4o')).toBeNull()
  })
})
