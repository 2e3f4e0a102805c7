import { type AddressInfo, connect, createServer } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createModelRegistry } from '../../src/inference/models/registry.ts'
import {
  type Behaviour,
  event,
  HELLO_EVENTS,
  json,
  silence,
  startFakeUpstream,
  stream,
} from '../support/fake-upstream.ts'
import { startModelServer, upstreamModel } from '../support/model-server.ts'
import {
  createScriptedBackend,
  HELLO,
  NEVER,
  piece,
  prompt,
  type Step,
  scriptedModels,
} from '../support/scripted-backend.ts'

const MESSAGES = [{ role: 'user', content: 'hi' }]

describe('a client that leaves', () => {
  it.each<[string, boolean, readonly Step[], number]>([
    ['before the first delta of a stream', true, [NEVER], 0],
    ['between prompt and text of a stream', true, [prompt(), NEVER], 1],
    ['in the middle of a stream', true, [prompt(), piece('a'), piece('b'), NEVER], 3],
    ['before anything of a whole answer', false, [NEVER], 0],
    ['in the middle of a whole answer', false, [prompt(), piece('a'), NEVER], 2],
  ])('a disconnected client aborts the backend %s', async (_name, isStream, script, deltaCount) => {
    const backend = createScriptedBackend(script)
    const { chat } = await startModelServer(scriptedModels({ backend }))
    const leave = new AbortController()
    const answer = chat({ messages: MESSAGES, stream: isStream }, { signal: leave.signal })
    const reading = answer.then((response) => response.text())
    while (backend.runningCount() === 0 || backend.pulledCount() < deltaCount) {
      await new Promise(setImmediate)
    }
    leave.abort()
    await expect(reading).rejects.toThrow()
    expect(await backend.aborted).toMatchObject({ code: 'client_closed_request' })
    while (backend.runningCount() > 0) await new Promise(setImmediate)
  })

  it('a disconnected client frees its slot', async () => {
    let callCount = 0
    const backend = createScriptedBackend(() => {
      callCount += 1
      return callCount === 1 ? [prompt(), NEVER] : HELLO
    })
    const { chat } = await startModelServer(scriptedModels({ backend }), { chatQueueMax: 1 })
    const leave = new AbortController()
    await chat({ messages: MESSAGES, stream: true }, { signal: leave.signal })
    leave.abort()
    await backend.aborted
    while (backend.runningCount() > 0) await new Promise(setImmediate)
    expect((await chat({ messages: MESSAGES })).status).toBe(200)
  })

  it('a client that disconnects while it waits for a slot leaves the queue', async () => {
    const { promise: gate, resolve: openGate } = Promise.withResolvers<void>()
    const backend = createScriptedBackend([prompt(), gate, ...HELLO.slice(1)])
    const models = scriptedModels({ backend, concurrentMax: 1 })
    let askedCount = 0
    const getModel: typeof models.getModel = (name) => {
      askedCount += 1
      return models.getModel(name)
    }
    const { chat, app, baseUrl, key } = await startModelServer({ ...models, getModel })
    const running = await chat({ messages: MESSAGES, stream: true })
    const body = JSON.stringify({ messages: MESSAGES })
    const socket = connect({ port: Number(new URL(baseUrl).port), host: '127.0.0.1' })
    socket.write(
      `POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${key}\r\n` +
        `content-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
    )
    while (askedCount < 2) await new Promise(setImmediate)
    socket.destroy()
    const connectionCount = () =>
      new Promise((resolve) => app.server.getConnections((_error, count) => resolve(count)))
    await expect.poll(connectionCount).toBe(1)
    openGate()
    await running.text()
    expect(backend.calls).toHaveLength(1)
  })

  it('a backend that sees the abort only after its first delta is freed', async () => {
    const { promise: gate, resolve: openGate } = Promise.withResolvers<void>()
    const { promise: left, resolve: noteLeft } = Promise.withResolvers<void>()
    const { promise: freed, resolve: noteFreed } = Promise.withResolvers<void>()
    const scripted = createScriptedBackend([])
    async function* complete(_call: unknown, { signal }: { signal: AbortSignal }) {
      signal.addEventListener('abort', () => noteLeft())
      leave.abort()
      try {
        await gate
        yield prompt()
        await NEVER
      } finally {
        noteFreed()
      }
    }
    const leave = new AbortController()
    const { chat } = await startModelServer(scriptedModels({ backend: { ...scripted, complete } }))
    const answer = chat({ messages: MESSAGES, stream: true }, { signal: leave.signal })
    await expect(answer).rejects.toThrow()
    await left
    openGate()
    await freed
  })

  it.for<[string, boolean, Behaviour]>([
    ['before the headers of a stream', true, silence],
    ['before the first event of a stream', true, stream([], 'hang')],
    ['in the middle of a stream', true, stream(HELLO_EVENTS.slice(0, 2), 'hang')],
    ['before the headers of a whole answer', false, silence],
    ['in the middle of a whole answer', false, stream(['{"choi'], 'hang')],
  ])(
    'a disconnected client closes the upstream connection %s',
    async ([, isStream, behaviour], { annotate }) => {
      const upstream = await startFakeUpstream(behaviour)
      const { chat } = await startModelServer(upstreamModel(upstream.baseUrl))
      const leave = new AbortController()
      const answer = chat({ messages: MESSAGES, stream: isStream }, { signal: leave.signal })
      const reading = answer.then((response) => response.text())
      const { closed } = await upstream.arrival(0)
      const leftAt = performance.now()
      leave.abort()
      const refused = expect(reading).rejects.toThrow()
      expect(await closed).toEqual({ isAnswered: false })
      await annotate(`closed after ${(performance.now() - leftAt).toFixed(1)} ms`)
      await refused
    },
  )

  it("a client that disconnects during the upstream's connect leaves the connection to its timeout", async () => {
    const { promise: opened, resolve: noteOpened } = Promise.withResolvers<void>()
    const { promise: closed, resolve: noteClosed } = Promise.withResolvers<void>()
    // Takes the connection and never answers the greeting of TLS.
    const upstream = createServer((socket) => {
      socket.on('error', () => {}).on('close', () => noteClosed())
      socket.once('data', () => noteOpened())
    })
    await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void upstream.close())
    const { port } = upstream.address() as AddressInfo
    const timeoutMs = { connect: 500 }
    const models = upstreamModel(`https://127.0.0.1:${port}/v1`, { timeoutMs })
    const { chat } = await startModelServer(models)
    const leave = new AbortController()
    const answer = chat({ messages: MESSAGES, stream: true }, { signal: leave.signal })
    await opened
    leave.abort()
    await expect(answer).rejects.toThrow()
    await closed
  })

  it('a disconnected client does not affect others that connect to the same upstream', async () => {
    const upstream = await startFakeUpstream(json(200, { choices: [] }))
    const { chat } = await startModelServer(upstreamModel(upstream.baseUrl))
    const leave = new AbortController()
    const left = chat({ messages: MESSAGES }, { signal: leave.signal })
    const stays = Promise.all([1, 2, 3].map(() => chat({ messages: MESSAGES })))
    leave.abort()
    await expect(left).rejects.toThrow()
    expect((await stays).map(({ status }) => status)).toEqual([200, 200, 200])
  })

  it('a client that disconnects while it waits for a slot never reaches the upstream', async () => {
    const upstream = await startFakeUpstream(stream(HELLO_EVENTS, 'hang'))
    const model = upstreamModel(upstream.baseUrl).getModel(null)
    const limited = { ...model, concurrentMax: 1 }
    const { chat } = await startModelServer(createModelRegistry([limited], limited))
    const first = new AbortController()
    const running = await chat({ messages: MESSAGES, stream: true }, { signal: first.signal })
    const second = new AbortController()
    const waits = chat({ messages: MESSAGES, stream: true }, { signal: second.signal })
    // Long enough for the request to stand in the queue; if it does not yet, it never will.
    await new Promise((resolve) => setTimeout(resolve, 50))
    second.abort()
    await expect(waits).rejects.toThrow()
    first.abort()
    await running.text().catch(() => {})
    await upstream.requests[0]?.closed
    upstream.behave(json(200, { choices: [] }))
    expect((await chat({ messages: MESSAGES })).status).toBe(200)
    expect(upstream.requests).toHaveLength(2)
  })

  it('a client that disconnects between two tries ends them', async () => {
    const upstream = await startFakeUpstream(json(429, {}, { 'retry-after': '5' }))
    const { chat } = await startModelServer(upstreamModel(upstream.baseUrl))
    const leave = new AbortController()
    const answer = chat({ messages: MESSAGES }, { signal: leave.signal })
    await (await upstream.arrival(0)).closed
    leave.abort()
    await expect(answer).rejects.toThrow()
    upstream.behave(json(200, { choices: [] }))
    expect((await chat({ messages: MESSAGES })).status).toBe(200)
    expect(upstream.requests).toHaveLength(2)
  })

  it('a half-closed client still gets a slow response', async () => {
    const { promise, resolve } = Promise.withResolvers<void>()
    const backend = createScriptedBackend([promise, ...HELLO])
    const { chat } = await startModelServer(scriptedModels({ backend }))
    const answer = chat({ messages: MESSAGES })
    while (backend.runningCount() === 0) await new Promise(setImmediate)
    for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate)
    resolve()
    expect((await answer).status).toBe(200)
  })

  it('a client that disconnects after the last event leaves the upstream connection reusable', async () => {
    const upstream = await startFakeUpstream(stream([...HELLO_EVENTS, event('[DONE]')]))
    const { chat } = await startModelServer(upstreamModel(upstream.baseUrl))
    for (let at = 0; at < 3; at++) {
      await (await chat({ messages: MESSAGES, stream: true })).text()
      await (await upstream.arrival(at)).closed
      await new Promise(setImmediate)
    }
    expect(upstream.connectionCount()).toBe(1)
  })
})
