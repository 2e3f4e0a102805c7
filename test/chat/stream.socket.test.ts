import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { describe, expect, it } from 'vitest'
import { eventsOf, startModelServer } from '../support/model-server.ts'
import {
  createScriptedBackend,
  finish,
  HELLO,
  NEVER,
  piece,
  prompt,
  type Step,
  scriptedModels,
} from '../support/scripted-backend.ts'

const REQUEST = { messages: [{ role: 'user', content: 'hi' }], stream: true }

async function startScripted(script: readonly Step[], overrides = {}) {
  const backend = createScriptedBackend(script)
  return { ...(await startModelServer(scriptedModels({ backend }), overrides)), backend }
}

/** A bare connection on which a stream was asked for; it never closes by itself. */
function openSocket(baseUrl: string, key: string): Socket {
  const socket = connect({ port: Number(new URL(baseUrl).port), host: '127.0.0.1' })
  const body = JSON.stringify(REQUEST)
  socket.write(
    `POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${key}\r\n` +
      `content-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
  )
  return socket
}

async function streamOf(script: readonly Step[], request: object = {}) {
  const { chat } = await startScripted(script)
  const response = await chat({ ...REQUEST, ...request })
  const events = eventsOf(await response.text())
  // biome-ignore lint/suspicious/noExplicitAny: tests look into chunks of every shape.
  return { response, events, chunks: events.slice(0, -1).map((text): any => JSON.parse(text)) }
}

describe('a stream', () => {
  it('a stream is role, content, finish and [DONE], all with one id, created and model', async () => {
    const { response, events, chunks } = await streamOf(HELLO, { request_id: 'r-1' })
    expect(response.status).toBe(200)
    expect(events.at(-1)).toBe('[DONE]')
    expect(chunks.map(({ choices: [choice] }) => choice.delta)).toEqual([
      { role: 'assistant', content: '' },
      { content: 'Hel' },
      { content: 'lo' },
      {},
    ])
    expect(chunks.at(-1).choices[0].finish_reason).toBe('stop')
    for (const { id, object, created, model } of chunks) {
      expect([id, object, model]).toEqual(['chatcmpl-r-1', 'chat.completion.chunk', 'scripted'])
      expect(created).toBe(chunks[0].created)
    }
  })

  it('a stream has the headers of an event stream that proxies must not buffer', async () => {
    const { response } = await streamOf(HELLO, { request_id: 'r-1' })
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-cache, no-transform',
      'x-accel-buffering': 'no',
      'x-request-id': 'r-1',
    })
    expect(response.headers.has('content-length')).toBe(false)
  })

  it('a stream ends in a usage chunk where requested', async () => {
    const { chunks } = await streamOf(HELLO, { stream_options: { include_usage: true } })
    expect(chunks.at(-1)).toMatchObject({ choices: [], usage: { total_tokens: 5 } })
    const { chunks: all } = await streamOf(HELLO, {
      stream_options: { include_usage: true, continuous_usage_stats: true },
    })
    expect(all.every(({ usage }) => usage.prompt_tokens === 3)).toBe(true)
  })

  it('chunks arrive as the backend yields them', async () => {
    const { promise, resolve } = Promise.withResolvers<void>()
    const { chat } = await startScripted([prompt(), piece('a'), promise, piece('b'), finish()])
    const response = await chat(REQUEST)
    const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader()
    let text = ''
    while (!text.includes('"a"')) text += (await reader.read()).value
    expect(text).not.toContain('"b"')
    resolve()
    for (let next = await reader.read(); !next.done; next = await reader.read()) text += next.value
    expect(eventsOf(text).at(-1)).toBe('[DONE]')
  })

  it('a stream frees its slot when it ends', async () => {
    const { chat, backend } = await startScripted(HELLO, { chatQueueMax: 1 })
    for (let at = 0; at < 3; at++)
      expect((await (await chat(REQUEST)).text()).length).toBeGreaterThan(0)
    expect(backend.runningCount()).toBe(0)
  })

  it('a slow reader slows a stream down', async () => {
    const big = Array.from({ length: 2_000 }, () => piece('x'.repeat(10_000)))
    const { baseUrl, key, backend } = await startScripted([prompt(), ...big, finish()])
    const socket = openSocket(baseUrl, key)
    socket.pause()
    // The count stops once the buffers of the kernel are full.
    let last = -1
    while (backend.pulledCount() !== last || last < 2) {
      last = backend.pulledCount()
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
    expect(last).toBeLessThan(1_900)
    socket.destroy()
    await backend.aborted
  })
})

describe('a failure', () => {
  it('a failure before the first delta is a real status with a JSON body', async () => {
    const { chat } = await startScripted([new Error('boom')])
    const response = await chat(REQUEST)
    expect(response.status).toBe(500)
    expect(await response.json()).toMatchObject({ error: { code: 'internal_error' } })
  })

  it('a failure after the first delta is an error event and then [DONE]', async () => {
    const { response, events } = await streamOf([prompt(), piece('a'), new Error('secret')])
    expect(response.status).toBe(200)
    expect(events.at(-1)).toBe('[DONE]')
    expect(JSON.parse(events.at(-2)!)).toEqual({
      error: {
        message: expect.any(String),
        type: 'server_error',
        param: null,
        code: 'internal_error',
      },
    })
    expect(events.join()).not.toContain('secret')
  })

  it('a stream that ends without a finish_reason fails', async () => {
    const { events } = await streamOf([prompt(), piece('a')])
    expect(JSON.parse(events.at(-2)!)).toMatchObject({ error: { code: 'internal_error' } })
  })
})

describe('a server that shuts down', () => {
  it('a shutdown ends a running stream with an error event, and its keep-alive connection', async () => {
    const { chat, app, backend } = await startScripted([prompt(), piece('a'), NEVER])
    const response = await chat(REQUEST)
    const [text] = await Promise.all([response.text(), app.close()])
    const events = eventsOf(text)
    expect(events.at(-1)).toBe('[DONE]')
    expect(JSON.parse(events.at(-2)!)).toMatchObject({ error: { code: 'server_draining' } })
    expect(await backend.aborted).toMatchObject({ code: 'server_draining' })
    expect(backend.runningCount()).toBe(0)
  })

  it('a shutdown does not wait for the keep-alive connection of a stream that ended late', async () => {
    const scripted = createScriptedBackend([prompt(), NEVER])
    async function* complete(...given: Parameters<typeof scripted.complete>) {
      try {
        yield* scripted.complete(...given)
      } finally {
        // Longer than the server takes to sweep its idle connections.
        await new Promise((resolve) => setTimeout(resolve, 150))
      }
    }
    const { baseUrl, key, app } = await startModelServer(
      scriptedModels({ backend: { ...scripted, complete } }),
    )
    const socket = openSocket(baseUrl, key)
    const closed = once(socket, 'close')
    await once(socket, 'data')
    socket.resume()
    await app.close()
    await closed
  })

  it('a shutdown answers a completion that is not streamed with 503', async () => {
    const { chat, app, backend } = await startScripted([NEVER])
    const answer = chat({ ...REQUEST, stream: false })
    while (backend.runningCount() === 0) await new Promise(setImmediate)
    const [response] = await Promise.all([answer, app.close()])
    expect(response.status).toBe(503)
    expect(await response.json()).toMatchObject({ error: { code: 'server_draining' } })
  })
})
