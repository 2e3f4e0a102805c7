import { once } from 'node:events'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import {
  createEventStream,
  DONE_EVENT,
  KEEP_ALIVE,
  renderEvent,
} from '../../src/http/stream/sse.ts'
import { KEEP_ALIVE_MS, STATUS_HOLD_MS } from '../../src/routes/chat/model-exchange.ts'
import { buildTestApp } from '../support/build-test-app.ts'
import {
  createScriptedBackend,
  HELLO,
  type Step,
  scriptedModels,
} from '../support/scripted-backend.ts'

describe('renderEvent', () => {
  it.each([
    ['{"a":1}', 'data: {"a":1}\n\n'],
    ['{\n"a":1\r\n}', 'data: {\ndata: "a":1\ndata: }\n\n'],
  ])('renders %j', (json, event) => {
    expect(renderEvent(json)).toBe(event)
  })
})

describe('time in a stream', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  })
  afterEach(() => {
    vi.restoreAllMocks()
    vi.useRealTimers()
  })

  it('pauses of a stream are filled with comments', async () => {
    const setting = vi.spyOn(globalThis, 'setTimeout')
    const clearing = vi.spyOn(globalThis, 'clearTimeout')
    const { promise, resolve } = Promise.withResolvers<void>()
    async function* texts() {
      yield ['1']
      await promise
      yield ['2', '3']
    }
    const source = texts()
    const events = createEventStream(source, {
      first: source.next(),
      opensWithComment: false,
      keepAliveMs: 101,
      renderFailure: () => null,
    })
    let text = ''
    events.on('data', (piece) => {
      text += piece
    })
    await vi.waitUntil(() => text === 'data: 1\n\n')
    await vi.advanceTimersByTimeAsync(202)
    expect(text).toBe(`data: 1\n\n${KEEP_ALIVE}${KEEP_ALIVE}`)
    resolve()
    await once(events, 'end')
    expect(text).toBe(`data: 1\n\n${KEEP_ALIVE}${KEEP_ALIVE}data: 2\n\ndata: 3\n\n${DONE_EVENT}`)
    // Counting all timers would count those of other things in this process.
    const silence = setting.mock.calls.findIndex(([, ms]) => ms === 101)
    expect(clearing).toHaveBeenCalledWith(setting.mock.results[silence]?.value)
  })

  async function streamSlowly(script: (wait: Promise<void>) => Step[]) {
    const { promise, resolve } = Promise.withResolvers<void>()
    const backend = createScriptedBackend(script(promise))
    const { post } = await buildTestApp({}, { models: scriptedModels({ backend }) })
    const body = { messages: [{ role: 'user', content: 'hi' }], stream: true }
    const answer = post('/v1/chat/completions', body)
    while (backend.runningCount() === 0) await new Promise(setImmediate)
    return { answer, resolve }
  }

  it('a late first delta is preceded by the status and a comment', async () => {
    const { answer, resolve } = await streamSlowly((wait) => [wait, ...HELLO])
    await vi.advanceTimersByTimeAsync(STATUS_HOLD_MS)
    await vi.advanceTimersByTimeAsync(KEEP_ALIVE_MS)
    resolve()
    const { status, text } = await answer
    expect(status).toBe(200)
    expect(text.startsWith(`${KEEP_ALIVE}${KEEP_ALIVE}data: {`)).toBe(true)
    expect(text.endsWith(DONE_EVENT)).toBe(true)
  })

  it('a failure after the status is an event', async () => {
    const { answer, resolve } = await streamSlowly((wait) => [wait, new Error('boom')])
    await vi.advanceTimersByTimeAsync(STATUS_HOLD_MS)
    resolve()
    const { status, text } = await answer
    expect(status).toBe(200)
    expect(text).toMatch(/^: keep-alive\n\ndata: \{"error":\{.*"internal_error"/)
  })

  it('a failure just before the status is sent is a real status', async () => {
    const { answer, resolve } = await streamSlowly((wait) => [wait, new Error('boom')])
    await vi.advanceTimersByTimeAsync(STATUS_HOLD_MS - 1)
    resolve()
    expect((await answer).status).toBe(500)
  })
})
