/** Requests to engines besides chats: their addresses, and models that do not offer them. */
import OpenAI from 'openai'
import { describe, expect, it } from 'vitest'
import { createModelRegistry, type ServedModel } from '../../src/inference/models/registry.ts'
import type { Engine } from '../../src/inference/openai/profiles.ts'
import type { ImageRequest } from '../../src/schemas/chat/services/images.ts'
import type { ModerationRequest } from '../../src/schemas/chat/services/moderations.ts'
import type { DetokenizeRequest, TokenizeRequest } from '../../src/schemas/chat/services/tokens.ts'
import { type Behaviour, json, startFakeUpstream } from '../support/fake-upstream.ts'
import { startModelServer, upstreamModel } from '../support/model-server.ts'
import type { RowsOf } from '../support/rows-of.ts'
import { inTurn } from '../support/upstream-answers.ts'

type Options = Pick<ServedModel, 'offers'> & { readonly engine?: Engine }

/** A server whose models are asked at a scripted engine. */
async function start(behaviour: Behaviour, options: Options) {
  const upstream = await startFakeUpstream(behaviour)
  const { engine = 'generic', offers } = options
  const base = upstreamModel(upstream.baseUrl, { upstreamModel: 'up', engine }).getModel(null)
  const model = { ...base, ...(offers === undefined ? {} : { offers }) }
  const server = await startModelServer(createModelRegistry([model], model))
  const client = new OpenAI({ baseURL: server.baseUrl, apiKey: server.key, maxRetries: 0 })
  const auth = { authorization: `Bearer ${server.key}` }
  return { ...server, client, upstream, auth, bodyAt: bodyOf(upstream) }
}

function bodyOf({ requests }: { readonly requests: readonly { readonly body: string }[] }) {
  return (place = 0) => JSON.parse(requests[place]?.body ?? 'null')
}

const RESULTS = [{ flagged: false, categories: { violence: false } }]
const JUDGED = json(200, { id: 'modr-1', model: 'up', results: RESULTS })
const MADE = json(200, { created: 1, data: [{ b64_json: 'AA==' }] })
const CUT = json(200, { count: 2, max_model_len: 64, tokens: [5, 6] })
const JOINED = json(200, { prompt: 'hi' })

describe('services of engines', () => {
  it('judges for the openai package', async () => {
    const { client, upstream, bodyAt } = await start(JUDGED, { offers: ['moderations'] })
    const made = await client.moderations.create({ model: 'short', input: ['hi'] })
    expect(made.results).toEqual(RESULTS)
    expect(upstream.requests[0]?.url).toBe('/v1/moderations')
    expect(bodyAt()).toEqual({ model: 'up', input: ['hi'] })
  })

  it('makes images for the openai package, whole', async () => {
    const { client, upstream, post } = await start(MADE, { offers: ['images'] })
    const made = await client.images.generate({ model: 'short', prompt: 'an owl', size: 'auto' })
    expect(made.data?.[0]?.b64_json).toBe('AA==')
    expect(upstream.requests[0]?.url).toBe('/v1/images/generations')
    const streamed = await post('/v1/images/generations', { prompt: 'an owl', stream: true })
    expect([streamed.status, streamed.body.error.param]).toEqual([400, 'stream'])
  })

  it('cuts tokens beside the /v1 of vLLM, whatever the address that was asked', async () => {
    const { post, upstream, bodyAt, auth } = await start(inTurn(CUT, CUT, JOINED), {
      engine: 'vllm',
    })
    expect((await post('/v1/tokenize', { prompt: 'hi' })).body.tokens).toEqual([5, 6])
    await post('/tokenize', { messages: [{ role: 'user', content: 'hi' }] }, { headers: auth })
    const { body } = await post('/v1/detokenize', { tokens: [5, 6] })
    expect(body).toEqual({ prompt: 'hi' })
    expect(upstream.requests.map(({ url }) => url)).toEqual([
      '/tokenize',
      '/tokenize',
      '/detokenize',
    ])
    expect(bodyAt(2)).toEqual({ model: 'up', tokens: [5, 6] })
  })

  it('speaks to llama-server in its own words and answers in those of vLLM', async () => {
    const pieces = [
      { id: 5, piece: 'h' },
      { id: 6, piece: [0xc3, 0xa9] },
    ]
    const behaviour: Behaviour = (response, request) => {
      if (request.url === '/v1/models') return json(404, {})(response, request)
      const { with_pieces, tokens } = JSON.parse(request.body)
      const cut = json(200, { tokens: with_pieces === true ? pieces : [5, 6] })
      const joined = json(200, tokens?.length === 1 ? { other: 1 } : { content: 'hé' })
      return (tokens === undefined ? cut : joined)(response, request)
    }
    const { post, upstream } = await start(behaviour, { engine: 'llama-server' })
    const plain = await post('/v1/tokenize', { prompt: 'hé' })
    expect(plain.body).toEqual({ count: 2, max_model_len: null, tokens: [5, 6] })
    const asks = () => upstream.requests.filter(({ url }) => url !== '/v1/models')
    const sentAt = (place: number) => JSON.parse(asks()[place]?.body ?? '')
    expect(sentAt(0)).toEqual({ content: 'hé', add_special: true, with_pieces: false })
    const asked = { prompt: 'hé', return_token_strs: true, add_special_tokens: false }
    const told = await post('/v1/tokenize', asked)
    expect(told.body).toMatchObject({ tokens: [5, 6], token_strs: ['h', 'é'] })
    expect((await post('/v1/detokenize', { tokens: [5, 6] })).body).toEqual({ prompt: 'hé' })
    expect(sentAt(2)).toEqual({ tokens: [5, 6] })
    const broken = await post('/v1/detokenize', { tokens: [5] })
    expect([broken.status, broken.body.error.code]).toEqual([502, 'upstream_invalid_response'])
    const chat = await post('/v1/tokenize', { messages: [{ role: 'user', content: 'hi' }] })
    expect([chat.status, chat.body.error.param]).toEqual([400, 'messages'])
  })

  it('speaks to SGLang with special tokens in texts, and without the texts of tokens', async () => {
    const { post, upstream, bodyAt } = await start(inTurn(CUT, json(200, { text: 'hi' })), {
      engine: 'sglang',
    })
    expect((await post('/v1/tokenize', { model: 'short', prompt: 'hi' })).body.tokens).toEqual([
      5, 6,
    ])
    const { body } = await post('/v1/detokenize', { tokens: [5, 6] })
    expect(body).toEqual({ prompt: 'hi' })
    const refused = await post('/v1/tokenize', { prompt: 'hi', return_token_strs: true })
    expect([refused.status, refused.body.error.param]).toEqual([400, 'return_token_strs'])
    expect(upstream.requests.map(({ url }) => url)).toEqual(['/tokenize', '/detokenize'])
    expect([bodyAt(0), bodyAt(1)]).toEqual([
      { model: 'up', prompt: 'hi' },
      { model: 'up', tokens: [5, 6], skip_special_tokens: false },
    ])
  })

  it.each([
    ['/v1/moderations', { input: 'a' }, 'moderations'],
    ['/v1/images/generations', { prompt: 'a' }, 'images'],
    ['/v1/embeddings', { input: 'a' }, 'embeddings'],
    ['/v1/completions', { prompt: 'a' }, 'completions'],
    ['/v1/tokenize', { prompt: 'a' }, 'tokenize'],
    ['/v1/detokenize', { tokens: [1] }, 'tokenize'],
  ])('%s says what a model offers that cannot be asked it', async (url, body, name) => {
    const { post, upstream } = await start(JUDGED, { offers: ['chat'] })
    const answer = await post(url, body)
    expect([answer.status, answer.body.error.code, answer.body.error.param]).toEqual([
      404,
      'capability_missing',
      'model',
    ])
    expect(answer.body.error.message).toBe(
      `The model \`org/relayed\` does not offer ${name}, only chat. No model of this server does; a model of the models file may, by its \`capabilities\`.`,
    )
    expect(upstream.requests).toEqual([])
  })

  it('names the models that can be asked, and refuses chats of those that offer none', async () => {
    const upstream = await startFakeUpstream(JUDGED)
    const base = upstreamModel(upstream.baseUrl, {}).getModel(null)
    const chat = { ...base, id: 'chat', aliases: [], offers: ['chat'] as const }
    const vectors = { ...base, id: 'vectors', aliases: [], offers: ['embeddings'] as const }
    const { post } = await startModelServer(createModelRegistry([chat, vectors], chat))
    const { body } = await post('/v1/embeddings', { model: 'chat', input: 'a' })
    expect(body.error.message).toContain('Models that do: `vectors`.')
    const messages = [{ role: 'user', content: 'hi' }]
    const refused = await post('/v1/chat/completions', { model: 'vectors', messages })
    expect([refused.status, refused.body.error.code]).toEqual([404, 'capability_missing'])
  })
})

const MODERATIONS: RowsOf<ModerationRequest> = {
  input: [['a', ['a'], [{ type: 'text', text: 'a' }]], []],
  model: [['short', null], 5],
}
const IMAGES: RowsOf<ImageRequest> = {
  prompt: [['a'], ''],
  model: [['short', null], 5],
  n: [[1, 16], 17],
  size: [['1024x1024'], ''],
  quality: [['high'], 5],
  response_format: [['b64_json'], 5],
  stream: [[false], true],
  user: [['u'], 5],
}
const TOKENIZE: RowsOf<TokenizeRequest> = {
  model: [['short', null], 5],
  prompt: [['', 'a'], 5],
  messages: [[[{ role: 'user', content: 'a' }]], 5],
  add_special_tokens: [[true], 1],
  return_token_strs: [[true], 1],
  add_generation_prompt: [[true], 1],
  continue_final_message: [[true], 1],
  tools: [[null], 5],
  chat_template_kwargs: [[{ a: 1 }], 5],
}
const DETOKENIZE: RowsOf<DetokenizeRequest> = {
  model: [['short', null], 5],
  tokens: [[[], [1, 2]], [-1]],
}

/** The least body, what answers it, and the rows, of each address. */
const TABLES = [
  ['/v1/moderations', { input: 'a' }, JUDGED, MODERATIONS],
  ['/v1/images/generations', { prompt: 'a' }, MADE, IMAGES],
  ['/v1/tokenize', { prompt: 'a' }, CUT, TOKENIZE],
  ['/v1/detokenize', { tokens: [1] }, JOINED, DETOKENIZE],
] as const

describe.each(TABLES)('%s', (url, least, behaviour, rows) => {
  it('passes every field on as it came, and checks it', async () => {
    const { post, bodyAt } = await start(behaviour, {
      offers: ['moderations', 'images', 'tokenize'],
    })
    let count = 0
    for (const [name, [passing, refused]] of Object.entries(rows)) {
      for (const value of passing) {
        const body = { ...least, [name]: value, engine_knows: [1] }
        expect([name, (await post(url, body)).status]).toEqual([name, 200])
        expect(bodyAt(count++)).toEqual({ ...body, model: 'up' })
      }
      const { status, body } = await post(url, { ...least, [name]: refused })
      expect([status, body.error.param.split('[')[0]]).toEqual([400, name])
    }
  })
})
