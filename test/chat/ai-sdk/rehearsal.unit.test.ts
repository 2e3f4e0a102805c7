/** What is learned of a package before a request is sent, and for how long. */
import type { LanguageModelV4, LanguageModelV4CallOptions } from '@ai-sdk/provider'
import { expect, it } from 'vitest'
import type { ApiError } from '../../../src/errors.ts'
import { createProviderFetch } from '../../../src/inference/ai-sdk/provider-fetch.ts'
import { createRehearsal } from '../../../src/inference/ai-sdk/rehearsal.ts'
import type { ChatCompletionRequest } from '../../../src/schemas/chat/chat-request.ts'
import { TIMEOUT_MS } from '../../support/model-server.ts'

/** A package that leaves out `top_k`, which it names, and adds 100 tokens for reasoning. */
function open({ dropsUnsupported = true } = {}) {
  const fetch = createProviderFetch({
    baseUrl: null,
    timeoutMs: TIMEOUT_MS,
    ca: null,
    proxies: null,
  })
  let runs = 0
  const warnings = [{ type: 'unsupported', feature: 'topK' }]
  const model = {
    async doStream({ topK: _, ...sent }: LanguageModelV4CallOptions) {
      runs += 1
      const max_tokens = (sent.maxOutputTokens ?? 0) + (sent.reasoning ? 100 : 0)
      const body = JSON.stringify({ ...sent, max_tokens })
      await fetch.fetch('https://provider.invalid', { method: 'POST', body })
      const parts = [{ type: 'stream-start', warnings }]
      return { stream: ReadableStream.from(parts) }
    },
  } as unknown as LanguageModelV4
  const toError = (error: unknown) => error as ApiError
  const rehearsal = createRehearsal({ model, fetch, dropsUnsupported, toError })
  return { ...rehearsal, runs: () => runs }
}

const asRequest = (request: object) => request as ChatCompletionRequest

it('runs a package once for the same settings, whatever the request', async () => {
  const { check, runs } = open()
  const settings = { maxOutputTokens: 300, reasoning: 'low', topK: 4 } as const
  const first = await check(settings, asRequest({ top_k: 4 }))
  expect(first).toEqual({ settings: { ...settings, maxOutputTokens: 200 }, dropped: ['top_k'] })
  const runsOnce = runs()
  expect(await check({ ...settings }, asRequest({ top_k: 4 }))).toEqual(first)
  expect(runs()).toBe(runsOnce)
  await check({ ...settings, topK: 5 }, asRequest({ top_k: 5 }))
  expect(runs()).toBe(2 * runsOnce)
})

it('names a warning only to requests that have the field', async () => {
  const { check } = open()
  const settings = { temperature: 1 }
  expect((await check(settings, asRequest({ top_k: -1 }))).dropped).toEqual(['top_k'])
  expect((await check(settings, asRequest({}))).dropped).toEqual([])
})

it('refuses the same settings each time', async () => {
  const { check } = open({ dropsUnsupported: false })
  for (const _ of [1, 2]) {
    const dropped = check({ topK: 4 }, asRequest({ top_k: 4 }))
    await expect(dropped).rejects.toMatchObject({ code: 'unsupported_parameter', param: 'top_k' })
    const spent = check({ maxOutputTokens: 100, reasoning: 'low' }, asRequest({}))
    await expect(spent).rejects.toMatchObject({ code: 'invalid_value', param: 'reasoning_effort' })
  }
})

it('caches what it learned of at most 256 settings, dropping the least recently used', async () => {
  const { check, runs } = open()
  const ask = (seed: number) => check({ seed }, asRequest({}))
  for (let seed = 0; seed < 256; seed += 1) await ask(seed)
  await ask(0)
  await ask(256)
  const before = runs()
  await ask(0)
  expect(runs()).toBe(before)
  await ask(1)
  expect(runs()).toBeGreaterThan(before)
})
