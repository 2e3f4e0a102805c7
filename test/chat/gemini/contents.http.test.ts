/** Generations in the format of the Gemini API over chats: requests, responses, streams, counts and errors. */
import { describe, expect, it } from 'vitest'
import { ApiError } from '../../../src/errors.ts'
import { buildTestApp } from '../../support/build-test-app.ts'
import { finish, HELLO, piece, prompt } from '../../support/scripted-backend.ts'
import { buildApp } from '../messages/scripted-messages.ts'

const URL = '/v1beta/models/scripted:generateContent'
const STREAM = '/v1beta/models/scripted:streamGenerateContent?alt=sse'
const text = (said: string, role = 'user') => ({ role, parts: [{ text: said }] })
const HI = { contents: [text('hi')] }
const TOOLS = [{ functionDeclarations: [{ name: 'f' }, { name: 'g' }] }]

async function sentChat(body: object) {
  const { post, backend } = await buildApp(HELLO, { drops: true })
  const answer = await post(URL, body)
  expect(answer.body.error).toBeUndefined()
  return { request: backend.calls[0]?.request, answer }
}

describe('a response', () => {
  it('is whole, with cached input in the prompt and the counts of the model', async () => {
    const { post } = await buildApp([prompt(10, 4), piece('Hel'), piece('lo'), finish()])
    const { body, status } = await post(URL, HI)
    expect([status, body]).toEqual([
      200,
      {
        candidates: [
          {
            index: 0,
            content: { role: 'model', parts: [{ text: 'Hello' }] },
            finishReason: 'STOP',
          },
        ],
        usageMetadata: {
          promptTokenCount: 10,
          candidatesTokenCount: 2,
          totalTokenCount: 12,
          cachedContentTokenCount: 4,
        },
        modelVersion: 'scripted',
        responseId: expect.any(String),
      },
    ])
  })

  it('has calls as objects with all digits of their numbers', async () => {
    const toolCalls = [{ index: 0, id: 'a', name: 'f', arguments: '{"n":9007199254740993}' }]
    const { post } = await buildApp([
      prompt(),
      piece('', { toolCalls }),
      finish({ finish_reason: 'tool_calls' }),
    ])
    const answer = await post(URL, { ...HI, tools: TOOLS })
    expect(answer.text).toContain(
      '{"functionCall":{"id":"a","name":"f","args":{"n":9007199254740993}}}',
    )
    expect(answer.body.candidates[0].finishReason).toBe('STOP')
  })

  it.each([
    [true, [{ text: 'why', thought: true }, { text: 'so' }]],
    [false, [{ text: 'so' }]],
  ])('has thoughts where they are asked for: %s', async (includeThoughts, parts) => {
    const { post } = await buildApp([
      prompt(),
      piece('', { reasoning: 'why' }),
      piece('so'),
      finish(),
    ])
    const { body } = await post(URL, {
      ...HI,
      generationConfig: { thinkingConfig: { includeThoughts } },
    })
    expect(body.candidates[0].content.parts).toEqual(parts)
  })

  it.each([
    ['length', 'MAX_TOKENS'],
    ['stop', 'STOP'],
  ] as const)('that ends by %s ends by %s', async (finish_reason, expected) => {
    const { post } = await buildApp([prompt(), piece('a'), finish({ finish_reason })])
    const { body } = await post(URL, HI)
    expect(body.candidates[0].finishReason).toBe(expected)
  })

  it('is the same in parts of a stream, with the end and the usage in the last one', async () => {
    const { post } = await buildApp([prompt(3), piece('Hel'), piece('lo'), finish()])
    const { text: events, headers } = await post(STREAM, HI)
    expect(headers['content-type']).toContain('text/event-stream')
    const parts = events
      .trim()
      .split('\n\n')
      .map((event: string) => JSON.parse(event.slice(6)))
    const said = parts.map(({ candidates }: { candidates: { content: { parts: object[] } }[] }) =>
      candidates.map(({ content }) => content.parts),
    )
    expect(said.flat(2)).toEqual([{ text: 'Hel' }, { text: 'lo' }])
    expect(parts.at(-1)).toMatchObject({
      candidates: [{ finishReason: 'STOP' }],
      usageMetadata: { promptTokenCount: 3, totalTokenCount: 5 },
    })
  })

  it('that breaks off ends with an error, as an event and as a line for libraries that look there', async () => {
    const { post } = await buildApp([
      prompt(),
      piece('Hel'),
      new ApiError('upstream_error', { message: 'told' }),
    ])
    const { text: events } = await post(STREAM, HI)
    const error = '{"error":{"code":502,"message":"told","status":"INTERNAL"}}'
    expect(events.endsWith(`data: ${error}\n\n${error}`)).toBe(true)
  })
})

describe('a request', () => {
  it('becomes a chat, with its settings and schemas', async () => {
    const parameters = {
      type: 'OBJECT',
      properties: {
        type: { type: 'STRING', nullable: true },
        list: { type: 'ARRAY', items: { type: 'INTEGER' }, minItems: '1' },
      },
      propertyOrdering: ['type'],
    }
    const { request } = await sentChat({
      systemInstruction: { parts: [{ text: 'be brief' }] },
      contents: [text('hi')],
      tools: [{ functionDeclarations: [{ name: 'f', description: 'd', parameters }] }],
      toolConfig: { functionCallingConfig: { mode: 'ANY' } },
      generationConfig: {
        temperature: 0.5,
        topP: 0.9,
        topK: 5,
        seed: 1,
        maxOutputTokens: 9,
        stopSequences: ['X'],
        thinkingConfig: { thinkingLevel: 'HIGH' },
        responseMimeType: 'application/json',
        responseSchema: { type: 'STRING' },
      },
      safetySettings: [],
    })
    expect(request).toEqual({
      model: 'scripted',
      temperature: 0.5,
      top_p: 0.9,
      top_k: 5,
      seed: 1,
      max_completion_tokens: 9,
      stop: ['X'],
      reasoning_effort: 'high',
      messages: [
        { role: 'system', content: 'be brief' },
        { role: 'user', content: 'hi' },
      ],
      tools: [
        {
          type: 'function',
          function: {
            name: 'f',
            description: 'd',
            parameters: {
              type: 'object',
              properties: {
                type: { type: ['string', 'null'] },
                list: { type: 'array', items: { type: 'integer' }, minItems: 1 },
              },
            },
          },
        },
      ],
      tool_choice: 'required',
      response_format: {
        type: 'json_schema',
        json_schema: { name: 'response', schema: { type: 'string' } },
      },
    })
  })

  it('has results of tools by id or by name, and files', async () => {
    const call = (name: string, id?: string) => ({ functionCall: { name, args: { a: 1 }, id } })
    const result = (name: string, response: object, id?: string) => ({
      functionResponse: { name, response, id },
    })
    const { request } = await sentChat({
      contents: [
        text('hi'),
        { role: 'model', parts: [{ text: 'ok' }, call('f'), call('f'), call('g', 'x')] },
        {
          role: 'user',
          parts: [
            result('g', { output: 'G' }, 'x'),
            result('f', { n: 1 }),
            result('f', { error: 'no' }),
          ],
        },
        { parts: [{ inlineData: { mimeType: 'image/png', data: 'a-_b' } }] },
      ],
    })
    const args = '{"a":1}'
    const called = (id: string, name: string) => ({
      id,
      type: 'function',
      function: { name, arguments: args },
    })
    expect(request?.messages.slice(1)).toEqual([
      {
        role: 'assistant',
        content: 'ok',
        tool_calls: [called('call_1', 'f'), called('call_2', 'f'), called('x', 'g')],
      },
      { role: 'tool', tool_call_id: 'x', content: 'G' },
      { role: 'tool', tool_call_id: 'call_1', content: '{"n":1}' },
      { role: 'tool', tool_call_id: 'call_2', content: '{"error":"no"}' },
      {
        role: 'user',
        content: [{ type: 'image_url', image_url: { url: 'data:image/png;base64,a+/b' } }],
      },
    ])
  })

  it('may have names in snake_case, but for those of the user', async () => {
    const schema = { type: 'object', properties: { an_a: { type: 'string' } } }
    const { request } = await sentChat({
      system_instruction: { parts: [{ text: 'be brief' }] },
      contents: [text('hi'), { parts: [{ inline_data: { mime_type: 'image/png', data: 'aa' } }] }],
      tools: [{ functionDeclarations: [{ name: 'f', parameters_json_schema: schema }] }],
      generation_config: { max_output_tokens: 5 },
    })
    expect(request).toMatchObject({
      max_completion_tokens: 5,
      messages: [{ role: 'system' }, { role: 'user' }, { content: [{ type: 'image_url' }] }],
      tools: [{ function: { name: 'f', parameters: schema } }],
    })
  })

  it('sends only the functions that may be called', async () => {
    const functionCallingConfig = { mode: 'ANY', allowedFunctionNames: ['g'] }
    const { request } = await sentChat({
      ...HI,
      tools: TOOLS,
      toolConfig: { functionCallingConfig },
    })
    expect(request?.tools?.map((tool) => tool.function?.name)).toEqual(['g'])
  })

  it.each([
    ['an unknown field', { ...HI, nonsense: {} }, 'nonsense'],
    ['an unknown setting', { ...HI, generationConfig: { nope: 1 } }, 'generationConfig.nope'],
    ['a tool that the vendor runs', { ...HI, tools: [{ googleSearch: {} }] }, 'tools.googleSearch'],
    ['cached contents', { ...HI, cachedContent: 'c' }, 'cachedContent'],
    ['images', { ...HI, generationConfig: { responseModalities: ['IMAGE'] } }, 'TEXT'],
    ['code', { contents: [{ parts: [{ executableCode: {} }] }] }, 'executableCode'],
    ['an address', { contents: [{ parts: [{ fileData: { fileUri: 'x:y' } }] }] }, 'fileData'],
  ])('with %s is refused by name, or goes on without it', async (_, body, name) => {
    const { post, backend } = await buildApp()
    const { status, body: refusal } = await post(URL, body)
    expect([status, refusal.error.status]).toEqual([400, 'INVALID_ARGUMENT'])
    expect(backend.calls).toHaveLength(0)
    const { answer } = await sentChat(body)
    expect(answer.headers['x-weft-dropped-fields']).toContain(name === 'TEXT' ? 'Modalities' : name)
  })

  it('takes the key of x-goog-api-key, and ids with slashes', async () => {
    const { app, key } = await buildTestApp()
    const address = (name: string) =>
      ({ method: 'POST', url: `/v1beta/models/${name}`, payload: HI }) as const
    const headers = { 'x-goog-api-key': key }
    const known = await app.inject({ ...address('tiny:countTokens'), headers })
    expect(known.json()).toEqual({ totalTokens: expect.any(Number) })
    const unknown = await app.inject({ ...address('org/name:x:generateContent'), headers })
    expect(unknown.json().error).toMatchObject({ code: 404, status: 'NOT_FOUND' })
    expect(unknown.json().error.message).toContain('org/name:x')
    const other = await app.inject({ ...address('tiny:other'), headers })
    expect(other.json().error.message).toContain(':streamGenerateContent')
    const wrong = await app.inject({
      ...address('tiny:countTokens'),
      headers: { 'x-goog-api-key': 'no' },
    })
    expect(wrong.json().error).toMatchObject({ code: 401, status: 'UNAUTHENTICATED' })
  })

  it.each(['generateContent', 'countTokens', 'streamGenerateContent?alt=sse'])(
    'is the same below /v1, which newer clients ask, for %s',
    async (method) => {
      const { post } = await buildApp(HELLO)
      const newer = await post(`/v1/models/scripted:${method}`, HI)
      const older = await post(`/v1beta/models/scripted:${method}`, HI)
      const withoutId = ({ status, text: said }: { status: number; text: string }) => ({
        status,
        said: said.replaceAll(/"responseId":"[^"]*"/g, ''),
      })
      expect(withoutId(newer)).toEqual(withoutId(older))
      expect(newer.status).toBe(method === 'countTokens' ? 404 : 200)
    },
  )

  it('for a stream needs alt=sse', async () => {
    const { post } = await buildApp()
    const { body } = await post(STREAM.replace('?alt=sse', ''), HI)
    expect(body.error).toMatchObject({ code: 400, message: expect.stringContaining('sse') })
  })

  it('that is limited names the delay as Google does', async () => {
    const { post } = await buildApp([new ApiError('upstream_rate_limited', { retryAfterS: 2 })])
    const { status, body } = await post(URL, HI)
    expect([status, body.error.status, body.error.details[0].retryDelay]).toEqual([
      429,
      'RESOURCE_EXHAUSTED',
      '2s',
    ])
  })
})
