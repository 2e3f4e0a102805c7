/** What the tiny model answers beside chats, through the app. */
import { afterAll, describe, expect, it } from 'vitest'
import { createModelRegistry } from '../../src/inference/models/registry.ts'
import { createTinyBackend } from '../../src/inference/tiny/backend.ts'
import { buildTestApp } from '../support/build-test-app.ts'
import { eventsOf } from '../support/model-server.ts'

const backend = createTinyBackend({ queueMax: 8 })
afterAll(() => backend.close())

const model = {
  id: 'tiny',
  aliases: ['other'],
  ownedBy: 'weft',
  created: 0,
  capabilities: { tools: true, prioritySchedulingEnabled: false },
  backend,
  backendModel: 'tiny',
  fallbacks: [],
}
const open = () => buildTestApp({}, { models: createModelRegistry([model], model) })

/** A template's prompt as plain ids: what the model was trained to go on with. */
const CHAT = { messages: [{ role: 'user', content: 'What is 3 plus 4?' }] }
const GREEDY = { temperature: 0, max_tokens: 24 }

describe('POST /v1/chat/completions of the tiny model', () => {
  it('refuses a chat_template by name, with the setting that allows it', async () => {
    const { post } = await open()
    const { status, body } = await post('/v1/chat/completions', { ...CHAT, chat_template: 'mine' })
    expect([status, body.error.code, body.error.param]).toEqual([
      400,
      'unsupported_parameter',
      'chat_template',
    ])
    expect(body.error.message).toBe(
      'The model `tiny` does not support chat_template. The server allows it with WEFT_TINY_CHAT_TEMPLATES=on.',
    )
  })
})

describe('a large request to the tiny model', () => {
  const LONG = 'x'.repeat(4_800_000)
  it.each<[string, string, object]>([
    ['/v1/chat/completions', 'messages', { ...CHAT, chat_template_kwargs: { a: LONG } }],
    [
      '/v1/chat/completions',
      'messages',
      { ...CHAT, chat_template_kwargs: { a: Array(4_800).fill('x'.repeat(1_000)) } },
    ],
    ['/v1/tokenize', 'messages', { ...CHAT, chat_template_kwargs: { [LONG]: 1 } }],
    ['/v1/embeddings', 'input', { input: Array(64).fill(LONG.slice(0, 75_000)) }],
  ])('is refused before the process that others share gets it: %s %#', async (url, param, body) => {
    const { post } = await open()
    const { status, body: answer } = await post(url, body)
    expect([status, answer.error.code, answer.error.param]).toEqual([
      400,
      'context_length_exceeded',
      param,
    ])
  })

  it('is refused while others fill the process', async () => {
    const { post } = await open()
    const chat_template_kwargs = { a: LONG.slice(0, 4_000_000) }
    const ask = () => post('/v1/chat/completions', { ...CHAT, chat_template_kwargs, max_tokens: 1 })
    const statuses = (await Promise.all([1, 2, 3, 4].map(ask))).map(({ status }) => status)
    expect(statuses.sort()).toEqual([200, 200, 200, 503])
    expect((await ask()).status).toBe(200)
  })

  it('may be a million ids', async () => {
    const { post } = await open()
    const { body } = await post('/v1/detokenize', { tokens: Array(1_000_000).fill(75) })
    expect(body.prompt).toHaveLength(1_000_000)
  })
})

describe('POST /v1/embeddings of the tiny model', () => {
  it('makes vectors of length 1 that depend on the text alone', async () => {
    const { post } = await open()
    const long = 'an owl sat in a tree and saw a cat. '.repeat(12)
    const all = await post('/v1/embeddings', { model: 'other', input: ['a cat', long, 'a cat'] })
    expect(all.status).toBe(200)
    const [first, second, third] = all.body.data.map(
      (one: { embedding: number[] }) => one.embedding,
    )
    expect(first).toEqual(third)
    expect(first).not.toEqual(second)
    for (const vector of [first, second]) expect(Math.hypot(...vector)).toBeCloseTo(1, 5)
    expect(all.body.data.map((one: { index: number }) => one.index)).toEqual([0, 1, 2])
    expect(all.body.model).toBe('other')
    const { body: cut } = await post('/v1/tokenize', { prompt: 'a cat' })
    const { body: alone } = await post('/v1/embeddings', { input: [cut.tokens] })
    expect(alone.data[0].embedding).toEqual(first)
    expect(alone.usage).toEqual({ prompt_tokens: cut.count, total_tokens: cut.count })
    const { body: one } = await post('/v1/embeddings', { input: cut.tokens })
    expect(one.data).toEqual(alone.data)
  })

  it('writes base64 of the same numbers, and cuts to the dimensions', async () => {
    const { post } = await open()
    const ask = async (fields: object) =>
      (await post('/v1/embeddings', { input: 'red', ...fields })).body.data[0].embedding
    const plain: number[] = await ask({})
    const bytes = Buffer.from(await ask({ encoding_format: 'base64' }), 'base64')
    expect(plain.map((_, place) => bytes.readFloatLE(place * 4))).toEqual(plain)
    const cut: number[] = await ask({ dimensions: 3 })
    const length = Math.hypot(...plain.slice(0, 3))
    for (const [place, value] of cut.entries()) {
      expect(value).toBeCloseTo((plain[place] ?? 0) / length, 5)
    }
    expect(cut).toHaveLength(3)
  })

  it.each([
    [{ input: '' }, 'input'],
    [{ input: ['a', ''] }, 'input[1]'],
    [{ input: [[1], [70_000]] }, 'input[1]'],
    [{ input: 'red', dimensions: 60_000 }, 'dimensions'],
    [{ input: 'word '.repeat(40_000) }, 'input'],
    [{ input: Array(40).fill('word '.repeat(1_900)) }, 'input'],
  ])('refuses %#', async (body, param) => {
    const { post } = await open()
    const answer = await post('/v1/embeddings', body)
    expect([answer.status, answer.body.error.param]).toEqual([400, param])
  })

  it('is recorded, and names the fields that nothing knows', async () => {
    const { post } = await open()
    const headers = { 'compat-project': 'acme/demo' }
    const answer = await post('/v1/embeddings', { input: 'red', colour: 1 }, { headers })
    expect(answer.headers['x-weft-ignored-fields']).toBe('colour')
    const id = String(answer.headers['x-weft-call-id'])
    const { call } = (await post('/call/read', { project_id: 'acme/demo', id })).body
    expect(call).toMatchObject({ op_name: 'embeddings', output: answer.body })
    expect(call.summary.usage.tiny.total_tokens).toBe(answer.body.usage.total_tokens)
  })
})

describe('POST /v1/tokenize and /v1/detokenize of the tiny model', () => {
  it.each(['', '/v1'])('cut and join at %s', async (prefix) => {
    const { post, key } = await open()
    const told = { headers: { authorization: `Bearer ${key}` } }
    const prompt = 'An owl, <|im_end|> und ein Käuzchen 🦉'
    const cut = await post(`${prefix}/tokenize`, { prompt, return_token_strs: true }, told)
    expect(cut.body).toMatchObject({ count: cut.body.tokens.length, max_model_len: 2048 })
    expect(cut.body.token_strs).toHaveLength(cut.body.count)
    const joined = await post(`${prefix}/detokenize`, { tokens: cut.body.tokens }, told)
    expect(joined.body).toEqual({ prompt })
  })

  it('cuts a chat as the model reads it', async () => {
    const { post } = await open()
    const { body } = await post('/v1/tokenize', CHAT)
    const { body: text } = await post('/v1/detokenize', { tokens: body.tokens })
    expect(text.prompt).toContain('<|im_start|>user\nWhat is 3 plus 4?<|im_end|>')
    const chat = await post('/v1/chat/completions', { ...CHAT, ...GREEDY })
    expect(chat.body.usage.prompt_tokens).toBe(body.count)
    const closed = await post('/v1/tokenize', { ...CHAT, add_generation_prompt: false })
    expect(closed.body.count).toBeLessThan(body.count)
    const begun = await post('/v1/tokenize', { prompt: 'a', add_special_tokens: true })
    expect(begun.body.count).toBe(2)
  })

  it('reads no field of a chat that it does not have: a template would run in the shared process', async () => {
    const { post } = await open()
    const { body } = await post('/v1/tokenize', CHAT)
    const more = { chat_template: 'mine', documents: [{ text: 'x' }], truncate_prompt_tokens: 1 }
    const answer = await post('/v1/tokenize', { ...CHAT, ...more })
    expect(answer.body).toEqual(body)
    expect(answer.headers['x-weft-ignored-fields']).toBe(Object.keys(more).join(', '))
  })

  it.each([
    ['/v1/tokenize', {}, 'prompt'],
    ['/v1/tokenize', { prompt: 'a'.repeat(300_000) }, 'prompt'],
    ['/v1/detokenize', { tokens: [1, 70_000] }, 'tokens'],
    ['/v1/detokenize', {}, 'tokens'],
  ])('%s refuses %#', async (url, body, param) => {
    const { post } = await open()
    const answer = await post(url, body)
    expect([answer.status, answer.body.error.param]).toEqual([400, param])
  })
})

describe('POST /v1/completions of the tiny model', () => {
  it('goes on with tokens as the chat does', async () => {
    const { post } = await open()
    const { body: cut } = await post('/v1/tokenize', CHAT)
    const { body } = await post('/v1/completions', { prompt: cut.tokens, ...GREEDY })
    expect(body).toMatchObject({
      object: 'text_completion',
      model: 'tiny',
      choices: [{ index: 0, text: '3 plus 4 is 7.', finish_reason: 'stop', logprobs: null }],
      usage: { prompt_tokens: cut.count },
    })
    expect(body.id).toMatch(/^cmpl-/)
  })

  it('streams the same text, with the usage where it is asked for', async () => {
    const { post } = await open()
    const asked = { prompt: ['An owl', 'A cat'], n: 2, seed: 4, logprobs: 1, echo: true }
    const whole = (await post('/v1/completions', asked)).body
    const answer = await post('/v1/completions', {
      ...asked,
      stream: true,
      stream_options: { include_usage: true },
    })
    const events = eventsOf(answer.text)
    expect(events.at(-1)).toBe('[DONE]')
    const chunks = events.slice(0, -1).map((text) => JSON.parse(text))
    expect(chunks.at(-1)).toMatchObject({ choices: [], usage: whole.usage })
    for (const choice of whole.choices) {
      const own = chunks
        .flatMap((chunk) => chunk.choices)
        .filter(({ index }) => index === choice.index)
      expect(own.map(({ text }) => text).join('')).toBe(choice.text)
      for (const name of ['tokens', 'token_logprobs', 'top_logprobs', 'text_offset']) {
        expect(own.flatMap(({ logprobs }) => logprobs[name])).toEqual(choice.logprobs[name])
      }
      expect(own.at(-1).finish_reason).toBe(choice.finish_reason)
    }
    const unasked = await post('/v1/completions', { ...asked, stream: true })
    expect(unasked.text).not.toContain('usage')
    expect(whole.choices.map(({ index }: { index: number }) => index)).toEqual([0, 1, 2, 3])
    expect(whole.choices[2].text).toMatch(/^A cat/)
  })

  it('is documented whole and as a stream, as chats are', async () => {
    const { get } = await open()
    const { paths } = (await get('/openapi.json')).body
    const typesAt = (path: string) => Object.keys(paths[path].post.responses['200'].content)
    expect(typesAt('/v1/completions')).toEqual(['application/json', 'text/event-stream'])
    expect(typesAt('/v1/chat/completions')).toEqual(typesAt('/v1/completions'))
  })

  it('scores a prompt without adding tokens', async () => {
    const { post } = await open()
    const prompt = 'The sky is blue.'
    const judged = { prompt, echo: true, max_tokens: 0, logprobs: 2 }
    const [choice] = (await post('/v1/completions', judged)).body.choices
    expect([choice.text, choice.finish_reason]).toEqual([prompt, 'length'])
    const { tokens, token_logprobs, top_logprobs, text_offset } = choice.logprobs
    expect(tokens.join('')).toBe(prompt)
    expect([token_logprobs[0], top_logprobs[0]]).toEqual([null, null])
    expect(text_offset).toEqual(
      tokens.map((_: string, place: number) => tokens.slice(0, place).join('').length),
    )
    for (const [place, value] of token_logprobs.entries()) {
      if (place === 0) continue
      expect(value).toBeLessThan(0)
      expect(top_logprobs[place][tokens[place]]).toBe(value)
    }
  })

  it('answers the likeliest of more choices', async () => {
    const { post } = await open()
    const drawn = { prompt: 'An owl', seed: 9, temperature: 1.5, max_tokens: 8, logprobs: 0 }
    const all = (await post('/v1/completions', { ...drawn, n: 6 })).body
    const best = (await post('/v1/completions', { ...drawn, n: 2, best_of: 6 })).body
    const mean = ({ logprobs }: { logprobs: { token_logprobs: number[] } }) =>
      logprobs.token_logprobs.reduce((sum, value) => sum + value, 0) /
      logprobs.token_logprobs.length
    const ranked = [...all.choices].sort((a, b) => mean(b) - mean(a))
    expect(best.choices.map(({ text }: { text: string }) => text)).toEqual(
      ranked.slice(0, 2).map(({ text }) => text),
    )
    expect(best.usage).toEqual(all.usage)
  })

  it('stops at a text or after the tokens, and begins a text without a prompt', async () => {
    const { post } = await open()
    const { body: cut } = await post('/v1/tokenize', CHAT)
    const ask = async (fields: object) => (await post('/v1/completions', fields)).body.choices[0]
    const stopped = await ask({ prompt: cut.tokens, ...GREEDY, stop: ' is' })
    expect([stopped.text, stopped.finish_reason]).toEqual(['3 plus 4', 'stop'])
    const short = await ask({ prompt: cut.tokens, temperature: 0, max_tokens: 2 })
    expect(short.finish_reason).toBe('length')
    expect((await post('/v1/completions', { prompt: '' })).status).toBe(200)
  })

  it.each([
    [{ suffix: 'x' }, 'suffix'],
    [{ n: 2, best_of: 1 }, 'best_of'],
    [{ n: 1, best_of: 2, stream: true }, 'best_of'],
    [{ max_tokens: 0 }, 'max_tokens'],
    [{ prompt: Array(100).fill('a'), n: 100 }, 'prompt'],
    [{ prompt: ['a', 'word '.repeat(9_000)] }, 'prompt[1]'],
    [{ prompt: [70_000] }, 'prompt'],
    [{ logit_bias: { 70000: 1 } }, 'logit_bias'],
  ])('refuses %#', async (fields, param) => {
    const { post } = await open()
    const answer = await post('/v1/completions', { prompt: 'a', ...fields })
    expect([answer.status, answer.body.error.param]).toEqual([400, param])
  })
})
