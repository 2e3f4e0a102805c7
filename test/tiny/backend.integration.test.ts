/** The backend with its real thread and the shipped model. */
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it, onTestFinished } from 'vitest'
import type { CompletionCall, Delta } from '../../src/inference/backend.ts'
import {
  createTinyBackend,
  TINY_MODEL_PATH,
  type TinyBackend,
  type TinyBackendOptions,
} from '../../src/inference/tiny/backend.ts'
import type { ChatCompletionRequest } from '../../src/schemas/chat/chat-request.ts'

type Fields = Partial<ChatCompletionRequest>

const user = (content: string): Fields => ({ messages: [{ role: 'user', content }] })
const STORY = { ...user('Tell me a story about an owl.'), seed: 4 }
const LONG = { ...STORY, ignore_eos: true, max_tokens: 1_500 }

/** One backend for all tests that do not harm it. */
const backend = createTinyBackend({ queueMax: 64 })
afterAll(() => backend.close())

function open(options: Partial<TinyBackendOptions> = {}): TinyBackend {
  const backend = createTinyBackend({ queueMax: 64, ...options })
  onTestFinished(() => backend.close())
  return backend
}

function callOf(fields: Fields): CompletionCall {
  const request = { messages: [], ...fields }
  return { request, body: JSON.stringify(request), model: 'tiny', requestId: 'test' }
}

function complete(
  backend: TinyBackend,
  fields: Fields,
  signal = new AbortController().signal,
): AsyncIterator<Delta> {
  return backend.complete(callOf(fields), { signal })[Symbol.asyncIterator]()
}

async function ask(backend: TinyBackend, fields: Fields) {
  let text = ''
  let tokens = 0
  let promptTokens = 0
  const endings: string[] = []
  const signal = new AbortController().signal
  for await (const delta of backend.complete(callOf(fields), { signal })) {
    if (delta.type === 'prompt') promptTokens += delta.promptTokens
    if (delta.type !== 'choice') continue
    if (delta.index === 0) text += delta.content
    tokens += delta.tokenCount
    if (delta.finish_reason !== null) endings.push(delta.finish_reason)
  }
  return { text, tokens, promptTokens, endings }
}

describe('the shipped model', () => {
  it('is small', () => {
    expect(statSync(TINY_MODEL_PATH).size).toBeLessThanOrEqual(1_200_000)
  })

  it.each([
    ['What is 3 plus 4?', '7'],
    ['What is the opposite of hot?', 'cold'],
    ['What colour is snow?', 'white'],
    ['Which day comes after Monday?', 'Tuesday'],
    ['Who are you?', 'very small language model'],
    ['Count from 1 to 5.', '1, 2, 3, 4, 5'],
    ['What is the capital of France?', 'do not know'],
  ])('answers %s at temperature 0', async (question, part) => {
    const { text, endings } = await ask(backend, { ...user(question), temperature: 0 })
    expect(text).toContain(part)
    expect(endings).toEqual(['stop'])
  })

  it('answers in JSON when the system prompt says so', async () => {
    const { text } = await ask(backend, {
      messages: [
        { role: 'developer', content: 'Answer in JSON.' },
        { role: 'user', content: 'What is 3 plus 4?' },
      ],
      temperature: 0,
    })
    expect(JSON.parse(text)).toEqual({ answer: 7 })
  })
})

describe('a completion', () => {
  it('begins with one prompt piece and ends each choice once', async () => {
    const { promptTokens, endings, tokens } = await ask(backend, { ...STORY, n: 3, max_tokens: 9 })
    expect(promptTokens).toBeGreaterThan(5)
    expect(endings).toEqual(['length', 'length', 'length'])
    expect(tokens).toBe(27)
  })

  it('is the same for the same seed, alone or among others', async () => {
    const requests = [1, 2, 3, 4, 5, 6].map((seed) => ({ ...STORY, seed, max_tokens: 40 }))
    const alone: string[] = []
    for (const request of requests) alone.push((await ask(backend, request)).text)
    const together = await Promise.all(requests.map((request) => ask(backend, request)))
    expect(together.map(({ text }) => text)).toEqual(alone)
    expect(new Set(alone).size).toBeGreaterThan(3)
  })

  it('differs without a seed', async () => {
    const request = { ...STORY, seed: null, temperature: 2, ignore_eos: true, max_tokens: 30 }
    const answers = await Promise.all([ask(backend, request), ask(backend, request)])
    expect(answers[0].text).not.toBe(answers[1].text)
  })

  it('fails with the code and the field of a refused request', async () => {
    await expect(ask(backend, user('long '.repeat(3_000)))).rejects.toMatchObject({
      code: 'context_length_exceeded',
      param: 'messages',
    })
    const request = { ...STORY, stop_token_ids: [1_000_000] }
    await expect(ask(backend, request)).rejects.toMatchObject({
      code: 'invalid_value',
      param: 'stop_token_ids',
    })
  })

  it('runs to completion for a consumer that pauses', async () => {
    const pieces = complete(backend, { ...LONG, max_tokens: 200 })
    await pieces.next()
    // Another request runs from its start to its end meanwhile.
    await ask(backend, { ...STORY, max_tokens: 20 })
    let tokens = 0
    for (;;) {
      const { value, done } = await pieces.next()
      if (done) break
      if (value.type === 'choice') tokens += value.tokenCount
    }
    expect(tokens).toBe(200)
  })
})

describe('an abort', () => {
  it('throws the reason at once and frees the place', async () => {
    const backend = open({ queueMax: 1 })
    const controller = new AbortController()
    const pieces = complete(backend, LONG, controller.signal)
    await pieces.next()
    const next = (async () => {
      for (;;) await pieces.next()
    })()
    controller.abort(new Error('left'))
    await expect(next).rejects.toThrow('left')
    expect((await ask(backend, { ...STORY, max_tokens: 3 })).tokens).toBe(3)
  })

  it('before the start throws the reason', async () => {
    const signal = AbortSignal.abort(new Error('gone'))
    await expect(complete(backend, STORY, signal).next()).rejects.toThrow('gone')
  })

  it('comes also from a consumer that leaves', async () => {
    const backend = open({ queueMax: 1 })
    const pieces = complete(backend, LONG)
    await pieces.next()
    await pieces.return?.()
    expect((await ask(backend, { ...STORY, max_tokens: 3 })).tokens).toBe(3)
  })
})

describe('the thread', () => {
  it('refuses more requests than it may have', async () => {
    const backend = open({ queueMax: 2 })
    const running = [complete(backend, LONG), complete(backend, LONG)]
    await Promise.all(running.map((pieces) => pieces.next()))
    await expect(complete(backend, STORY).next()).rejects.toMatchObject({
      code: 'server_overloaded',
      retryAfterS: 1,
    })
  })

  it('fails what was running when it dies, and is started again', async () => {
    const backend = open({ entry: new URL('./host/crashing-entry.ts', import.meta.url) })
    const running = complete(backend, LONG)
    await running.next()
    await expect(ask(backend, user('crash'))).rejects.toMatchObject({ code: 'internal_error' })
    const rest = (async () => {
      for (;;) await running.next()
    })()
    await expect(rest).rejects.toMatchObject({ code: 'internal_error' })
    expect((await ask(backend, { ...STORY, max_tokens: 3 })).tokens).toBe(3)
  })

  it('says why a model cannot be loaded, and fails requests without dying', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'weft-tiny-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const modelPath = join(folder, 'broken.gguf')
    writeFileSync(modelPath, 'GGUF, or so it says')
    const backend = open({ modelPath })
    await expect(backend.ready()).rejects.toThrow('GGUF')
    await expect(ask(backend, STORY)).rejects.toMatchObject({ code: 'internal_error' })
  })

  it('ends what is running when it is closed, and takes nothing after that', async () => {
    const backend = open()
    const pieces = complete(backend, LONG)
    await pieces.next()
    await backend.close()
    await expect(pieces.next()).rejects.toMatchObject({ code: 'server_draining' })
    await expect(ask(backend, STORY)).rejects.toMatchObject({ code: 'server_draining' })
  })
})
