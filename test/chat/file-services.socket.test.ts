/** Requests with files and answers with audio, passed on within limits. */
import OpenAI, { toFile } from 'openai'
import { describe, expect, it } from 'vitest'
import { createModelRegistry, type ServedModel } from '../../src/inference/models/registry.ts'
import type {
  SpeechRequest,
  TranscriptionForm,
  TranslationForm,
} from '../../src/schemas/chat/services/audio.ts'
import type { ImageEditForm, ImageVariationForm } from '../../src/schemas/chat/services/images.ts'
import { type Behaviour, event, html, json, startFakeUpstream } from '../support/fake-upstream.ts'
import { startModelServer, upstreamModel } from '../support/model-server.ts'
import type { RowsOf } from '../support/rows-of.ts'

const PROJECT = 'acme/demo'
const ALL = ['speech', 'transcriptions', 'translations', 'image_edits', 'image_variations'] as const
const AUDIO = Buffer.from([0xff, 0xfb, 0x90, 0x00, 0xfe])

async function start(
  behaviour: Behaviour,
  offers: ServedModel['offers'] = ALL,
  limits: object = {},
) {
  const upstream = await startFakeUpstream(behaviour)
  const base = upstreamModel(upstream.baseUrl, { upstreamModel: 'up' }).getModel(null)
  const model = { ...base, ...(offers ? { offers } : {}) }
  const server = await startModelServer(createModelRegistry([model], model), limits)
  const client = new OpenAI({
    baseURL: server.baseUrl,
    apiKey: server.key,
    maxRetries: 0,
    defaultHeaders: { 'OpenAI-Project': PROJECT },
  })
  async function readCall(id: string | null) {
    await expect.poll(() => server.deps.calls.findCall(PROJECT, String(id))).not.toBeNull()
    return (await server.post('/call/read', { project_id: PROJECT, id })).body.call
  }
  /** A form as it is, over a socket. */
  async function send(path: string, form: FormData, headers: Record<string, string> = {}) {
    const authorization = `Bearer ${server.key}`
    const init = { method: 'POST', headers: { authorization, ...headers }, body: form }
    const response = await fetch(`${server.baseUrl}${path}`, init)
    return { status: response.status, body: JSON.parse((await response.text()) || 'null') }
  }
  return { ...server, client, upstream, readCall, send }
}

/** Answers with bytes in pieces. */
function bytes(
  contentType: string,
  pieces: readonly Buffer[],
  end: 'end' | 'cut' = 'end',
): Behaviour {
  return async (response) => {
    response.writeHead(200, { 'content-type': contentType })
    for (const piece of pieces) {
      await new Promise<void>((resolve) => response.write(piece, () => setImmediate(resolve)))
    }
    if (end === 'end') response.end()
    else response.destroy()
  }
}

/** The parts of a form as the upstream got it: heads and texts. */
function partsOf({
  headers,
  body,
}: {
  readonly headers: Record<string, unknown>
  readonly body: string
}) {
  const boundary = /boundary=(.+)$/.exec(String(headers['content-type']))?.[1]
  const parts = body.split(`--${boundary}`).slice(1, -1)
  return parts.map((part) => {
    const [head = '', ...rest] = part.slice(2, -2).split('\r\n\r\n')
    return [head, rest.join('\r\n\r\n')]
  })
}

const SPOKEN = json(200, {
  text: 'hello',
  usage: { type: 'tokens', input_tokens: 4, output_tokens: 2, total_tokens: 6 },
})
const MADE = json(200, { created: 1, data: [{ b64_json: 'AA==' }] })

describe('speech', () => {
  it('speech is streamed as audio and recorded by its size', async () => {
    const { client, upstream, readCall } = await start(bytes('audio/mpeg', [AUDIO, AUDIO]))
    const sent = { model: 'short', voice: 'alloy', input: 'Hello' } as const
    const made = await client.audio.speech.create(sent)
    expect(Buffer.from(await made.arrayBuffer())).toEqual(Buffer.concat([AUDIO, AUDIO]))
    expect(made.headers.get('content-type')).toBe('audio/mpeg')
    expect(made.headers.get('x-content-type-options')).toBe('nosniff')
    expect(upstream.requests[0]).toMatchObject({ url: '/v1/audio/speech' })
    expect(JSON.parse(upstream.requests[0]?.body ?? '')).toEqual({ ...sent, model: 'up' })
    const call = await readCall(made.headers.get('x-weft-call-id'))
    expect(call).toMatchObject({
      op_name: 'speech',
      inputs: sent,
      output: { content_type: 'audio/mpeg', bytes: 10 },
    })
  })

  it('truncated speech does not appear complete, and its call has the reason', async () => {
    const { client, readCall } = await start(bytes('audio/mpeg', [AUDIO], 'cut'))
    const made = await client.audio.speech.create({ model: 'short', voice: 'a', input: 'a' })
    await expect(made.arrayBuffer()).rejects.toThrow()
    const call = await readCall(made.headers.get('x-weft-call-id'))
    expect(call.exception).toMatch(/^upstream_error/)
  })

  it('speech fails when the engine sends HTML, JSON or nothing', async () => {
    for (const behaviour of [html(200), json(200, { text: 'a' }), bytes('audio/mpeg', [])]) {
      const { post } = await start(behaviour)
      const { status, body } = await post('/v1/audio/speech', { input: 'a' })
      expect([status, body.error.code]).toEqual([502, 'upstream_invalid_response'])
    }
  })

  it('speech frees its slot when its client disconnects', async () => {
    const endless: Behaviour = async (response) => {
      response.writeHead(200, { 'content-type': 'audio/mpeg' })
      response.write(AUDIO)
    }
    const { baseUrl, key, upstream, client } = await start(endless, ALL, { chatQueueMax: 1 })
    const abort = new AbortController()
    const asked = await fetch(`${baseUrl}/audio/speech`, {
      method: 'POST',
      body: '{"input":"a"}',
      signal: abort.signal,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    })
    await asked.body?.getReader().read()
    abort.abort()
    expect(await upstream.requests[0]?.closed).toEqual({ isAnswered: false })
    upstream.behave(bytes('audio/mpeg', [AUDIO]))
    const next = { model: 'short', voice: 'a', input: 'b' }
    await expect.poll(async () => (await client.audio.speech.create(next)).status).toBe(200)
  })
})

describe('transcriptions and translations', () => {
  it("the file of a transcription reaches the engine unchanged, under the engine's model name", async () => {
    const { client, upstream, readCall } = await start(SPOKEN)
    const file = await toFile(AUDIO, 'a "b".mp3', { type: 'audio/mpeg' })
    const { data, response } = await client.audio.transcriptions
      .create({
        file,
        model: 'short',
        language: 'en',
        timestamp_granularities: ['word', 'segment'],
      })
      .withResponse()
    expect(data.text).toBe('hello')
    expect(upstream.requests[0]?.url).toBe('/v1/audio/transcriptions')
    const parts = partsOf(upstream.requests[0]!)
    expect(parts).toContainEqual(['content-disposition: form-data; name="model"', 'up'])
    expect(parts).toContainEqual(['content-disposition: form-data; name="language"', 'en'])
    const lists = parts.filter(([head]) => head?.includes('timestamp_granularities[]'))
    expect(lists.map(([, value]) => value)).toEqual(['word', 'segment'])
    const [head] = parts.find(([one]) => one?.includes('filename')) ?? []
    expect(head).toBe(
      'content-disposition: form-data; name="file"; filename="a %22b%22.mp3"\r\ncontent-type: audio/mpeg',
    )
    const call = await readCall(response.headers.get('x-weft-call-id'))
    expect(call.inputs).toMatchObject({ language: 'en', files: [{ field: 'file', bytes: 5 }] })
    expect(call.output.text).toBe('hello')
    expect(call.summary.usage['org/relayed']).toMatchObject({ total_tokens: 6 })
  })

  it('transcriptions are returned as text or events as the engine sends them', async () => {
    const file = await toFile(AUDIO, 'a.mp3')
    const plain = await start(bytes('text/plain; charset=utf-8', [Buffer.from('hello')]))
    const { data, response } = await plain.client.audio.translations
      .create({ file, model: 'short', response_format: 'text' })
      .withResponse()
    expect(data).toBe('hello')
    const call = await plain.readCall(response.headers.get('x-weft-call-id'))
    expect(call.output).toMatchObject({ content_type: 'text/plain', text: 'hello' })
    const done = { type: 'transcript.text.done', text: 'hello' }
    const events = await start(bytes('text/event-stream', [Buffer.from(event(done))]))
    const stream = await events.client.audio.transcriptions.create({
      file,
      model: 'short',
      stream: true,
    })
    for await (const one of stream) expect(one).toEqual(done)
  })

  it('a transcription in events has the usage of the last event that reports one', async () => {
    const usage = { input_tokens: 4, output_tokens: 2, total_tokens: 6 }
    const told = [
      { usage: { prompt_tokens: 4, completion_tokens: 1 } },
      { type: 'transcript.text.done', text: 'usage', usage },
    ]
    const sent = Buffer.from(told.map(event).join(''))
    const { get, client, readCall } = await start(bytes('text/event-stream', [sent]))
    const asked = { file: await toFile(AUDIO, 'a.mp3'), model: 'short', stream: true } as const
    const { data, response } = await client.audio.transcriptions.create(asked).withResponse()
    for await (const _one of data);
    const { summary } = await readCall(response.headers.get('x-weft-call-id'))
    expect(summary.usage['org/relayed']).toMatchObject(usage)
    const { text } = await get('/metrics')
    expect(text).toMatch(/^weft_completion_tokens_total{.*direction="in".*} 4$/m)
    expect(text).toMatch(/^weft_completion_tokens_total{.*direction="out".*} 2$/m)
  })

  it.each([
    [{ error: { message: 'no words in it', code: 422 } }, /^validation_failed: .*no words in it/],
    [{ type: 'error', message: 'out of memory' }, /^upstream_error/],
  ])(
    'a transcription whose events end with an error is passed to its end and recorded as failed',
    async (told, exception) => {
      const sent = ['{"delta":"hel"}', JSON.stringify(told)].map((data) => `data: ${data}\n\n`)
      const { baseUrl, key, readCall } = await start(
        bytes(
          'text/event-stream',
          sent.map((text) => Buffer.from(text)),
        ),
      )
      const form = new FormData()
      form.append('file', new Blob([AUDIO]), 'a.mp3')
      form.append('stream', 'true')
      const headers = { authorization: `Bearer ${key}`, 'openai-project': PROJECT }
      const url = `${baseUrl}/audio/transcriptions`
      const response = await fetch(url, { method: 'POST', headers, body: form })
      expect(await response.text()).toBe(sent.join(''))
      const call = await readCall(response.headers.get('x-weft-call-id'))
      expect(call.exception).toMatch(exception)
      expect(call.output.text).toBe(sent.join(''))
    },
  )
})

describe('edited images', () => {
  it('files of an image edit are passed in the order of the form', async () => {
    const { client, upstream } = await start(MADE)
    const image = [await toFile(AUDIO, 'a.png'), await toFile(AUDIO, 'b.png')]
    const made = await client.images.edit({ image, prompt: 'a hat', model: 'short' })
    expect(made.data?.[0]?.b64_json).toBe('AA==')
    expect(upstream.requests[0]?.url).toBe('/v1/images/edits')
    const names = partsOf(upstream.requests[0]!).flatMap(
      ([head]) => /filename="(.+?)"/.exec(head!)?.[1] ?? [],
    )
    expect(names).toEqual(['a.png', 'b.png'])
    await client.images.createVariation({ image: image[0]!, model: 'short' })
    expect(upstream.requests[1]?.url).toBe('/v1/images/variations')
  })
})

describe('forms', () => {
  const formOf = (fields: Record<string, string>, file: string | null = 'file') => {
    const form = new FormData()
    for (const [name, value] of Object.entries(fields)) form.append(name, value)
    if (file !== null) form.append(file, new Blob([AUDIO]), 'a.bin')
    return form
  }

  it('forms are refused with a message where the model does not offer the service', async () => {
    const { send, post, upstream } = await start(SPOKEN, ['chat'])
    const asks = [
      ['/audio/transcriptions', 'transcriptions', 'file'],
      ['/audio/translations', 'translations', 'file'],
      ['/images/edits', 'image_edits', 'image'],
      ['/images/variations', 'image_variations', 'image'],
    ] as const
    for (const [path, name, file] of asks) {
      const { status, body } = await send(path, formOf({ prompt: 'a' }, file))
      expect([status, body.error.code]).toEqual([404, 'capability_missing'])
      expect(body.error.message).toContain(`does not offer ${name}, only chat.`)
    }
    const { status, body } = await post('/v1/audio/speech', { input: 'a' })
    expect([status, body.error.code]).toEqual([404, 'capability_missing'])
    expect(upstream.requests.filter(({ url }) => url !== '/v1/models')).toEqual([])
  })

  it('invalid forms, forms without a file and too large ones are refused', async () => {
    const { send, post, baseUrl, key } = await start(SPOKEN, ALL, { bodyBytesMax: 4096 })
    const missing = await send('/audio/transcriptions', formOf({}, null))
    expect([missing.status, missing.body.error.param]).toEqual([400, 'file'])
    const streamed = await send('/images/edits', formOf({ prompt: 'a', stream: 'true' }, 'image'))
    expect([streamed.status, streamed.body.error.param]).toEqual([400, 'stream'])
    expect((await post('/v1/audio/transcriptions', { file: 'a' })).status).toBe(415)
    const large = formOf({})
    large.append('file', new Blob([Buffer.alloc(5000)]), 'b')
    expect((await send('/audio/transcriptions', large)).status).toBe(413)
    const url = `${baseUrl}/audio/transcriptions`
    const headers = {
      authorization: `Bearer ${key}`,
      'content-type': 'multipart/form-data; boundary=b',
    }
    const head = '--b\r\ncontent-disposition: form-data; name="file"; filename="a"\r\n\r\n'
    const text = '--b\r\ncontent-disposition: form-data; name="prompt"\r\n\r\n'
    // Streams, without a content-length that would announce it.
    for (const part of [`${head}${'x'.repeat(5000)}`, `${text}${'€'.repeat(1500)}`]) {
      const { body } = new Response(`${part}\r\n--b--\r\n`)
      const response = await fetch(url, { method: 'POST', duplex: 'half' as const, headers, body })
      expect(response.status).toBe(413)
      expect(await response.text()).toContain('more than 4096 bytes')
    }
    const broken = await fetch(url, { method: 'POST', headers, body: `${head}x` })
    expect([400, 499]).toContain(broken.status)
    for (const nameless of ['form-data', 'form-data; filename="b"']) {
      const body = `${head}x\r\n--b\r\ncontent-disposition: ${nameless}\r\n\r\nx\r\n--b--\r\n`
      const response = await fetch(url, { method: 'POST', headers, body })
      expect([response.status, await response.json()]).toMatchObject([
        400,
        { error: { code: 'invalid_multipart', message: 'A part of the form has no name.' } },
      ])
    }
  })

  const TRANSCRIPTIONS: RowsOf<TranscriptionForm> = {
    model: [['short'], 'x'.repeat(513)],
    prompt: [['a'], 'x'.repeat(1_048_577)],
    response_format: [['json'], ''],
    temperature: [['0.5'], ''],
    user: [['u'], 'x'.repeat(1_025)],
    language: [['en'], 'x'.repeat(65)],
    stream: [['false'], '1'],
    'timestamp_granularities[]': [['word'], ''],
    'include[]': [['logprobs'], ''],
    chunking_strategy: [['auto'], 'x'.repeat(1_048_577)],
  }
  const { model, prompt, response_format, temperature, user } = TRANSCRIPTIONS
  const TRANSLATIONS: RowsOf<TranslationForm> = {
    model,
    prompt,
    response_format,
    temperature,
    user,
  }
  const VARIATIONS: RowsOf<ImageVariationForm> = {
    model,
    user,
    response_format: [['b64_json'], ''],
    n: [['2'], ''],
    size: [['256x256'], ''],
  }
  const EDITS: RowsOf<ImageEditForm> = {
    ...VARIATIONS,
    prompt: [['a'], ''],
    quality: [['high'], ''],
    background: [['opaque'], ''],
    input_fidelity: [['high'], ''],
    output_format: [['png'], ''],
    stream: [['false'], '1'],
  }

  it.each([
    ['/audio/transcriptions', 'file', SPOKEN, TRANSCRIPTIONS],
    ['/audio/translations', 'file', SPOKEN, TRANSLATIONS],
    ['/images/edits', 'image', MADE, EDITS],
    ['/images/variations', 'image', MADE, VARIATIONS],
  ] as const)('%s passes every field on, and checks it', async (path, file, behaviour, rows) => {
    const { send, upstream } = await start(behaviour)
    const least: Record<string, string> = path === '/images/edits' ? { prompt: 'a' } : {}
    for (const [name, [passing, refused]] of Object.entries(rows)) {
      for (const value of passing as string[]) {
        const { status } = await send(
          path,
          formOf({ ...least, [name]: value, engine_knows: '1' }, file),
        )
        expect([name, status]).toEqual([name, 200])
        const parts = partsOf(upstream.requests.at(-1)!)
        const told = name === 'model' ? 'up' : value
        expect(parts).toContainEqual([`content-disposition: form-data; name="${name}"`, told])
        expect(parts).toContainEqual(['content-disposition: form-data; name="engine_knows"', '1'])
      }
      const { status, body } = await send(
        path,
        formOf({ ...least, [name]: refused as string }, file),
      )
      expect([name, status, body.error.param.includes(name)]).toEqual([name, 400, true])
    }
  })

  it('/audio/speech passes every field on, and checks it', async () => {
    const rows: RowsOf<SpeechRequest> = {
      input: [['a'], ''],
      model: [['short', null], 5],
      voice: [['alloy', { id: 'v' }], 5],
      instructions: [['softly'], 5],
      response_format: [['mp3'], ''],
      speed: [[1.5], 17],
      stream_format: [['audio'], ''],
      user: [['u'], 5],
    }
    const { post, upstream } = await start(bytes('audio/mpeg', [AUDIO]))
    for (const [name, [passing, refused]] of Object.entries(rows)) {
      for (const value of passing) {
        const body = { input: 'b', [name]: value, engine_knows: [1] }
        expect([name, (await post('/v1/audio/speech', body)).status]).toEqual([name, 200])
        expect(JSON.parse(upstream.requests.at(-1)?.body ?? '')).toEqual({ ...body, model: 'up' })
      }
      const { status, body } = await post('/v1/audio/speech', { input: 'b', [name]: refused })
      expect([name, status, body.error.param.split('.')[0]]).toEqual([name, 400, name])
    }
  })
})
