/** Streams and whole answers tell the same: tokens, text, log-probabilities, usage. */
import fc from 'fast-check'
import { afterAll, describe, expect, it } from 'vitest'
import { renderChunks } from '../../src/inference/chat/chunks.ts'
import {
  createCollector,
  resolveResponseEnvelope,
} from '../../src/inference/chat/whole-completion.ts'
import { createTinyBackend } from '../../src/inference/tiny/backend.ts'
import type { Fields } from './running.ts'

const backend = createTinyBackend({ queueMax: 64 })
afterAll(() => backend.close())

const requests: fc.Arbitrary<Fields> = fc.record(
  {
    messages: fc
      .constantFrom('Hi', 'Tell me a story about an owl.', 'What is 3 plus 4?', 'ü🙂')
      .map((content) => [{ role: 'user', content }]),
    seed: fc.maxSafeInteger(),
    temperature: fc.double({ min: 0.1, max: 2, noNaN: true }),
    top_p: fc.double({ min: 0.2, max: 1, noNaN: true }),
    top_k: fc.integer({ min: -1, max: 50 }),
    n: fc.integer({ min: 1, max: 5 }),
    max_tokens: fc.integer({ min: 1, max: 25 }),
    logprobs: fc.constant(true),
    top_logprobs: fc.nat(3),
    stop: fc.array(fc.constantFrom('a', 'the ', '. ', 'ow'), { maxLength: 2 }),
    ignore_eos: fc.boolean(),
    return_token_ids: fc.boolean(),
    skip_special_tokens: fc.boolean(),
    presence_penalty: fc.double({ min: -2, max: 2, noNaN: true }),
    reasoning_effort: fc.constantFrom('low' as const, 'high' as const),
    echo: fc.boolean(),
    use_beam_search: fc.boolean(),
  },
  { requiredKeys: ['messages', 'seed', 'logprobs', 'max_tokens'] },
)

function deltasOf(fields: Fields) {
  const request = { messages: [], ...fields }
  const call = { request, body: JSON.stringify(request), model: 'tiny', requestId: 'r' }
  return backend.complete(call, { signal: new AbortController().signal })
}

async function collect(fields: Fields) {
  const request = { messages: [], ...fields }
  const head = resolveResponseEnvelope(request, { requestId: 'r', model: 'tiny', nowMs: 0 })
  const collector = createCollector(head)
  for await (const delta of deltasOf(fields)) collector.add(delta)
  return JSON.parse(collector.render())
}

async function stream(fields: Fields) {
  const request = { messages: [], ...fields }
  const head = resolveResponseEnvelope(request, { requestId: 'r', model: 'tiny', nowMs: 0 })
  const options = { includeUsage: true, continuousUsage: false }
  // biome-ignore lint/suspicious/noExplicitAny: chunks have every shape.
  const choices: any[] = []
  // biome-ignore lint/suspicious/noExplicitAny: the same.
  let last: any = null
  let promptIds: unknown
  const deltas = deltasOf({ ...fields, stream: true })
  for (const json of (await Array.fromAsync(renderChunks(deltas, head, options))).flat()) {
    const chunk = JSON.parse(json)
    promptIds ??= chunk.prompt_token_ids
    last = chunk
    for (const { index, delta, logprobs, ...rest } of chunk.choices) {
      choices[index] ??= { content: '', reasoning: '', logprobs: [], ids: [] }
      const choice = choices[index]
      choice.content += delta.content ?? ''
      choice.reasoning += delta.reasoning ?? ''
      choice.logprobs.push(...(logprobs?.content ?? []))
      choice.ids.push(...(rest.token_ids ?? []))
      choice.finish_reason = rest.finish_reason
      choice.stop_reason = rest.stop_reason
    }
  }
  return { choices, usage: last.usage, promptIds }
}

describe('a stream', () => {
  it('adds up to the whole answer', async () => {
    await fc.assert(
      fc.asyncProperty(requests, async (fields) => {
        const streamed = await stream(fields)
        const whole = await collect(fields)
        for (const choice of whole.choices) {
          const parts = streamed.choices[choice.index]
          expect(parts.content).toBe(choice.message.content)
          expect(parts.reasoning).toBe(choice.message.reasoning ?? '')
          expect(parts.logprobs).toEqual(choice.logprobs?.content ?? [])
          expect(parts.ids).toEqual(choice.token_ids ?? [])
          expect(parts.finish_reason).toBe(choice.finish_reason)
          expect(parts.stop_reason).toBe(choice.stop_reason)
        }
        expect(streamed.choices).toHaveLength(whole.choices.length)
        expect(streamed.promptIds).toEqual(whole.prompt_token_ids)
        // What is remembered of the prompt may grow from the first to the second.
        const { prompt_tokens_details: _first, ...usage } = streamed.usage
        expect(whole.usage).toMatchObject(usage)
      }),
      { numRuns: 40 },
    )
  })
})
