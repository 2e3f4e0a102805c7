import OpenAI from 'openai'
import { describe, expect, it } from 'vitest'
import { startModelServer } from '../support/model-server.ts'
import {
  createScriptedBackend,
  finish,
  HELLO,
  logprob,
  NEVER,
  piece,
  prompt,
  type Step,
  scriptedModels,
} from '../support/scripted-backend.ts'

const MESSAGES = [{ role: 'user' as const, content: 'hi' }]
const REQUEST = { model: 'org/scripted', messages: MESSAGES }

async function startClient(script: readonly Step[] = HELLO, options: { apiKey?: string } = {}) {
  const backend = createScriptedBackend(script)
  const server = await startModelServer(scriptedModels({ backend, id: 'org/scripted' }))
  const { baseUrl, key } = server
  return {
    backend,
    client: new OpenAI({ baseURL: baseUrl, apiKey: key, maxRetries: 0, ...options }),
  }
}

describe('the openai package, unmodified', () => {
  it('gets a completion with its request id', async () => {
    const { client } = await startClient()
    const answer = await client.chat.completions.create({ ...REQUEST, logprobs: true })
    expect(answer.choices[0]?.message).toMatchObject({ role: 'assistant', content: 'Hello' })
    expect(answer.usage?.total_tokens).toBe(5)
    expect(answer.id).toBe(`chatcmpl-${answer._request_id}`)
  })

  it('iterates a stream', async () => {
    const { client } = await startClient()
    const stream = await client.chat.completions.create({
      ...REQUEST,
      stream: true,
      stream_options: { include_usage: true },
    })
    let text = ''
    let total = 0
    for await (const chunk of stream) {
      text += chunk.choices[0]?.delta.content ?? ''
      total = chunk.usage?.total_tokens ?? total
    }
    expect([text, total]).toEqual(['Hello', 5])
  })

  it('adds up a stream of two choices with its own helper', async () => {
    const { client } = await startClient([
      prompt(),
      piece('a', { logprobs: [logprob('a', -1)] }),
      piece('b', { index: 1 }),
      finish({ index: 1, finish_reason: 'length' }),
      finish(),
    ])
    const stream = client.chat.completions.stream({ ...REQUEST, n: 2, logprobs: true })
    const answer = await stream.finalChatCompletion()
    expect(
      answer.choices.map(({ message, finish_reason }) => [message.content, finish_reason]),
    ).toEqual([
      ['a', 'stop'],
      ['b', 'length'],
    ])
    expect(answer.choices[0]?.logprobs?.content).toEqual([logprob('a', -1)])
  })

  it('throws at a stream that breaks', async () => {
    const { client } = await startClient([prompt(), piece('a'), new Error('boom')])
    const stream = await client.chat.completions.create({ ...REQUEST, stream: true })
    const read = async () => {
      for await (const _ of stream);
    }
    await expect(read()).rejects.toMatchObject({ code: 'internal_error' })
  })

  it('lists and retrieves models, also with a slash in the id', async () => {
    const { client } = await startClient()
    const ids = []
    for await (const model of client.models.list()) ids.push(model.id)
    expect(ids).toEqual(['org/scripted'])
    expect(await client.models.retrieve('org/scripted')).toMatchObject({ id: 'org/scripted' })
    await expect(client.models.retrieve('org/nope')).rejects.toBeInstanceOf(OpenAI.NotFoundError)
  })

  it('gets AuthenticationError for a wrong key', async () => {
    const { client } = await startClient(HELLO, { apiKey: 'wk_nope' })
    const failure = client.chat.completions.create(REQUEST)
    await expect(failure).rejects.toBeInstanceOf(OpenAI.AuthenticationError)
    await expect(failure).rejects.toMatchObject({ code: 'invalid_api_key' })
  })

  it('gets NotFoundError for an unknown model', async () => {
    const { client } = await startClient()
    const failure = client.chat.completions.create({ ...REQUEST, model: 'nope' })
    await expect(failure).rejects.toBeInstanceOf(OpenAI.NotFoundError)
    await expect(failure).rejects.toMatchObject({ code: 'model_not_found', param: 'model' })
  })

  it('gets BadRequestError with the parameter at fault', async () => {
    const { client } = await startClient()
    const failure = client.chat.completions.create({ ...REQUEST, temperature: 9, stream: true })
    await expect(failure).rejects.toBeInstanceOf(OpenAI.BadRequestError)
    await expect(failure).rejects.toMatchObject({ code: 'invalid_value', param: 'temperature' })
  })

  it('aborts the backend when it leaves a stream', async () => {
    const { client, backend } = await startClient([prompt(), piece('a'), NEVER])
    const stream = await client.chat.completions.create({ ...REQUEST, stream: true })
    for await (const chunk of stream) {
      if (chunk.choices[0]?.delta.content === 'a') break
    }
    expect(await backend.aborted).toMatchObject({ code: 'client_closed_request' })
  })
})
