import { describe, expect, it } from 'vitest'
import {
  type Behaviour,
  DONE,
  HELLO_EVENTS,
  json,
  silence,
  startFakeUpstream,
} from '../support/fake-upstream.ts'
import { startModelServer, upstreamModel } from '../support/model-server.ts'
import {
  createScriptedBackend,
  NEVER,
  prompt,
  scriptedModels,
} from '../support/scripted-backend.ts'

const MESSAGES = [{ role: 'user', content: 'hi' }]
const ANSWER = { choices: [{ index: 0, message: { content: 'x' }, finish_reason: 'stop' }] }
const IMPATIENT = { 'x-stainless-timeout': '0' }

async function start(...behaviours: Behaviour[]) {
  const upstreams = await Promise.all(behaviours.map((behaviour) => startFakeUpstream(behaviour)))
  const urls = upstreams.map(({ baseUrl }) => baseUrl)
  return { ...(await startModelServer(upstreamModel(urls))), upstreams }
}

/** Delays a behaviour by 1.5 s, until the impatient clients of these tests have given up. */
function late(behaviour: Behaviour): Behaviour {
  return async (response, request) => {
    await new Promise((resolve) => setTimeout(resolve, 1_500))
    return behaviour(response, request)
  }
}

describe.each([false, true])('the timeout of the client, stream %s', (isStream) => {
  const request = { messages: MESSAGES, stream: isStream }

  it("the client's timeout ends the work of the upstream", async () => {
    const { chat, upstreams } = await start(silence)
    const headers = isStream ? { 'x-stainless-read-timeout': '0.3' } : IMPATIENT
    const response = await chat(request, { headers })
    expect(response.status).toBe(504)
    expect(await response.json()).toMatchObject({ error: { code: 'upstream_timeout' } })
    expect(await upstreams[0]?.requests[0]?.closed).toEqual({ isAnswered: false })
  })

  it.each(['', 'soon', '-1', '1e3', '9999999'])(
    'a client timeout of %j is ignored',
    async (value) => {
      const { chat } = await start(json(400, {}))
      const response = await chat(request, { headers: { 'x-stainless-timeout': value } })
      expect(response.status).toBe(400)
    },
  )

  it('an expired client timeout does not count against the upstream', async () => {
    const { chat, upstreams } = await start(silence, json(400, {}))
    await chat(request, { headers: IMPATIENT })
    upstreams[0]?.behave(json(400, {}))
    for (let at = 0; at < 2; at++) await chat(request)
    expect(upstreams.map(({ requests }) => requests.length)).toEqual([2, 1])
  })
})

describe('the timeout of the client', () => {
  it("the server's timeout never ends before the client's, which is sent in whole seconds", async () => {
    const { chat } = await start(late(json(200, ANSWER)))
    const response = await chat({ messages: MESSAGES }, { headers: { 'x-stainless-timeout': '1' } })
    expect(response.status).toBe(200)
  })

  it("the client's timeout does not limit a stream that has begun", async () => {
    const { chat } = await start(async (response, request) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write(HELLO_EVENTS[0])
      await late(() => {})(response, request)
      response.end([...HELLO_EVENTS.slice(1), DONE].join(''))
    })
    const response = await chat({ messages: MESSAGES, stream: true }, { headers: IMPATIENT })
    expect(await response.text()).toBe([...HELLO_EVENTS, DONE].join(''))
  })

  it("the client's timeout counts while a completion waits for its slot", async () => {
    const backend = createScriptedBackend([prompt(), NEVER])
    const { chat } = await startModelServer(scriptedModels({ backend, concurrentMax: 1 }))
    const leave = new AbortController()
    const running = await chat({ messages: MESSAGES, stream: true }, { signal: leave.signal })
    const response = await chat({ messages: MESSAGES }, { headers: IMPATIENT })
    expect(response.status).toBe(504)
    expect(backend.calls).toHaveLength(1)
    leave.abort()
    await running.text().catch(() => {})
  })
})
