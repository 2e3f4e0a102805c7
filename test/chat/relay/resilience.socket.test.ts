import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import type { ErrorCode } from '../../../src/errors.ts'
import { createModelRegistry, openModelRegistry } from '../../../src/inference/models/registry.ts'
import {
  RETRIED_CODES,
  type RetryPolicy,
  USUAL_RETRIES,
} from '../../../src/inference/openai/upstream/targets.ts'
import {
  type Behaviour,
  DONE,
  event,
  HELLO_EVENTS,
  html,
  json,
  reset,
  silence,
  startFakeUpstream,
  stream,
} from '../../support/fake-upstream.ts'
import { startModelServer, upstreamModel } from '../../support/model-server.ts'
import { createScriptedBackend, HELLO } from '../../support/scripted-backend.ts'
import { makeTempDir } from '../../support/temp-dir.ts'

const MESSAGES = [{ role: 'user', content: 'hi' }]
const ANSWER = { choices: [{ index: 0, message: { content: 'x' }, finish_reason: 'stop' }] }

/** Nobody listens there. */
const NOBODY = 'http://127.0.0.1:1/v1'

/** Plays the behaviours one after another; the last one goes on. */
function inTurn(...behaviours: Behaviour[]): Behaviour {
  let at = 0
  return (response, request) => {
    const behaviour = behaviours[Math.min(at, behaviours.length - 1)]
    at += 1
    return behaviour?.(response, request)
  }
}

async function start(...behaviours: Behaviour[]) {
  return startRetrying(USUAL_RETRIES, ...behaviours)
}

async function startRetrying(retries: RetryPolicy, ...behaviours: Behaviour[]) {
  const upstream = await startFakeUpstream(inTurn(...behaviours))
  return { ...(await startModelServer(upstreamModel(upstream.baseUrl, { retries }))), upstream }
}

describe.each([false, true])('an upstream that fails for a moment, stream %s', (isStream) => {
  const fine = isStream ? stream([...HELLO_EVENTS, DONE]) : json(200, ANSWER)
  const request = { messages: MESSAGES, stream: isStream }

  it.each<[string, Behaviour]>([
    ['answers 503', json(503, {})],
    ['answers 429 with a short Retry-After', json(429, {}, { 'retry-after': '0' })],
    ['answers 200 with an error that says 503', json(200, { error: { code: 503 } })],
  ])('and %s is asked again before the answer has begun', async (_name, failure) => {
    const { chat, upstream } = await start(failure, failure, fine)
    const response = await chat(request)
    expect(response.status).toBe(200)
    expect(await response.text()).not.toContain('error')
    expect(upstream.requests).toHaveLength(3)
  })

  it.each<[string, Behaviour, string, number]>([
    ['answers 503 for good', json(503, {}), 'upstream_error', 3],
  ])('and %s ends after three tries, and clients are told', async (_name, failure, code, tries) => {
    const { chat, upstream } = await start(failure)
    const response = await chat(request)
    expect(await response.json()).toMatchObject({ error: { code } })
    expect(response.headers.get('x-should-retry')).toBe('false')
    expect(upstream.requests).toHaveLength(tries)
  })

  it.each<[string, Behaviour, number]>([
    ['a reset before headers', reset, 502],
    ['500', json(500, {}), 502],
    ['502', html(502), 502],
    ['504', json(504, {}), 502],
    ['400', json(400, { error: { message: 'x' } }), 400],
    ['401', json(401, {}), 502],
    ['429 with a long Retry-After', json(429, {}, { 'retry-after': '6' }), 429],
    ['429 without Retry-After', json(429, {}), 429],
    ['200 with an error', json(200, { error: { code: 500 } }), 502],
    ['200 with a fault of the request', json(200, { error: { code: 400 } }), 400],
  ])('is not asked again after %s', async (_name, failure, status) => {
    const { chat, upstream } = await start(failure, fine)
    const response = await chat(request)
    expect(response.status).toBe(status)
    expect(response.headers.has('x-should-retry')).toBe(false)
    expect(upstream.requests).toHaveLength(1)
  })
})

describe.each([false, true])(
  'a failure that the model lets be tried again, stream %s',
  (isStream) => {
    const fine = isStream ? stream([...HELLO_EVENTS, DONE]) : json(200, ANSWER)
    const request = { messages: MESSAGES, stream: isStream }
    const limited = json(429, {}, { 'retry-after': '6' })

    it.each<[string, ErrorCode, Behaviour]>([
      ['a reset before headers', 'upstream_unreachable', reset],
      ['500', 'upstream_error', json(500, {})],
      ['504', 'upstream_error', html(504)],
      ['200 with an error', 'upstream_error', json(200, { error: { code: 500 } })],
      ['a body that is no completion', 'upstream_invalid_response', json(200, [])],
      ['429 without Retry-After', 'upstream_rate_limited', json(429, {})],
    ])('is asked again after %s if %s is named', async (_name, code, failure) => {
      const { chat, upstream } = await startRetrying(
        { ...USUAL_RETRIES, codes: [code] },
        failure,
        fine,
      )
      const response = await chat(request)
      expect(response.status).toBe(200)
      expect(await response.text()).not.toContain('error')
      expect(upstream.requests).toHaveLength(2)
    })

    it('is not asked again after other failures, those of a request, and waits that are too long', async () => {
      const others = RETRIED_CODES.filter((code) => code !== 'upstream_error')
      const faults = [json(500, {}), json(501, { error: { message: 'x' } }), limited]
      const codes = [others, RETRIED_CODES, RETRIED_CODES]
      for (const [index, failure] of faults.entries()) {
        const policy = { ...USUAL_RETRIES, withinMs: 5_000, codes: codes[index] ?? [] }
        const { chat, upstream } = await startRetrying(policy, failure, fine)
        expect((await chat(request)).status).toBeGreaterThan(400)
        expect(upstream.requests).toHaveLength(1)
      }
    })

    it('is asked again elsewhere at once after a long Retry-After, and after a timeout', async () => {
      for (const failure of [limited, silence]) {
        const upstreams = [await startFakeUpstream(failure), await startFakeUpstream(fine)]
        const retries = { ...USUAL_RETRIES, codes: RETRIED_CODES }
        const timeoutMs = { first_byte: 50, total: 500 }
        const baseUrls = upstreams.map(({ baseUrl }) => baseUrl)
        const { chat } = await startModelServer(upstreamModel(baseUrls, { retries, timeoutMs }))
        expect((await chat(request)).status).toBe(200)
        expect(upstreams.map(({ requests }) => requests.length)).toEqual([1, 1])
      }
    })
  },
)

/** The registry of a models file with this model. */
function openModels(model: object) {
  const path = join(makeTempDir(), 'models.json')
  writeFileSync(path, JSON.stringify({ models: [model] }))
  const createTiny = () => createScriptedBackend([])
  return openModelRegistry({ path, isRequired: true, readSecret: () => null, createTiny })
}

describe('fields of the models file', () => {
  it.each(['openai', 'anthropic'])(
    'retries set how often %s is asked, and after which failures',
    async (backend) => {
      const upstream = await startFakeUpstream(json(500, {}))
      const retries = { max: 4, within_ms: 60_000, on: ['upstream_error'] }
      const models = openModels({ id: 'retried', backend, base_url: upstream.baseUrl, retries })
      const { chat } = await startModelServer(models)
      const response = await chat({ messages: MESSAGES })
      expect([response.status, response.headers.get('x-should-retry')]).toEqual([502, 'false'])
      expect(upstream.requests).toHaveLength(5)
    },
  )

  it('balance latency sends requests to the upstream that was faster', async () => {
    const slow: Behaviour = async (response, request) => {
      await setTimeout(300)
      await json(200, ANSWER)(response, request)
    }
    const upstreams = [await startFakeUpstream(slow), await startFakeUpstream(json(200, ANSWER))]
    const addresses = upstreams.map(({ baseUrl }) => ({ base_url: baseUrl }))
    const entry = { id: 'fast', backend: 'openai', upstreams: addresses, balance: 'latency' }
    const models = openModels(entry)
    const { chat } = await startModelServer(models)
    for (let count = 0; count < 8; count++) await chat({ messages: MESSAGES })
    expect(upstreams[1]?.requests.length).toBeGreaterThan(5)
    const [first, second] = models.getModel(null).backend.describeUpstreams?.('whole') ?? []
    expect(first?.responseMs).toBeGreaterThan(second?.responseMs ?? Infinity)
    expect([first?.rank, second?.rank, first?.firstEventMs]).toEqual([1, 0, null])
  })
})

describe('a stream that fails before its first event', () => {
  const fine = stream([...HELLO_EVENTS, DONE])
  const request = { messages: MESSAGES, stream: true }
  const saying = (code: number) => stream([': ping\n\n', event({ error: { code } }), DONE])

  it.each<[string, Behaviour]>([['says 503', saying(503)]])(
    'because it %s is asked for again',
    async (_name, failure) => {
      const { chat, upstream } = await start(failure, failure, fine)
      const response = await chat(request)
      expect(await response.text()).toBe([...HELLO_EVENTS, DONE].join(''))
      expect(upstream.requests).toHaveLength(3)
    },
  )

  it('for good has a real status after three tries', async () => {
    const { chat, upstream } = await start(saying(503))
    const response = await chat(request)
    expect([response.status, response.headers.get('x-should-retry')]).toEqual([502, 'false'])
    expect(upstream.requests).toHaveLength(3)
  })

  it.each<[string, Behaviour, number]>([
    ['says 500', saying(500), 502],
    ['says 429', saying(429), 429],
    ['says 400', saying(400), 400],
    ['ends', stream([]), 502],
    ['is cut', stream([': ping\n\n'], 'cut'), 502],
  ])('because it %s is not asked for again', async (_name, failure, status) => {
    const { chat, upstream } = await start(failure, fine)
    expect((await chat(request)).status).toBe(status)
    expect(upstream.requests).toHaveLength(1)
  })

  it('is not asked for again once an event was sent', async () => {
    const { chat, upstream } = await start(
      stream([HELLO_EVENTS[0]!, event({ error: { code: 503 } })]),
      fine,
    )
    expect(await (await chat(request)).text()).toContain('upstream_error')
    expect(upstream.requests).toHaveLength(1)
  })
})

describe('several upstreams of one model', () => {
  async function startTwo(first: Behaviour, second: Behaviour, { isFirstDown = false } = {}) {
    const upstreams = [await startFakeUpstream(first), await startFakeUpstream(second)]
    const [up = '', other = ''] = upstreams.map(({ baseUrl }) => baseUrl)
    const server = await startModelServer(upstreamModel([isFirstDown ? NOBODY : up, other]))
    const counts = () => upstreams.map(({ requests }) => requests.length)
    return { ...server, upstreams, counts }
  }

  it('share the requests, and the answer names the one that was asked', async () => {
    const { chat, counts } = await startTwo(json(200, ANSWER), json(200, ANSWER))
    const names = []
    for (let at = 0; at < 4; at++) {
      names.push((await chat({ messages: MESSAGES })).headers.get('x-weft-backend'))
    }
    expect(counts()).toEqual([2, 2])
    expect(names.sort()).toEqual([
      'org/relayed#1',
      'org/relayed#1',
      'org/relayed#2',
      'org/relayed#2',
    ])
  })

  it('stand in for one that is down', async () => {
    const { chat } = await startTwo(silence, json(200, ANSWER), { isFirstDown: true })
    for (let at = 0; at < 5; at++) {
      const response = await chat({ messages: MESSAGES })
      expect(response.status).toBe(200)
      expect(response.headers.get('x-weft-backend')).toBe('org/relayed#2')
    }
  })

  it.each<[string, Behaviour]>([
    ['answers 503', json(503, {})],
    ['answers 200 with an error', json(200, { error: { code: 503 } })],
  ])('stand in for one that %s, which is then left alone', async (_name, failure) => {
    const { chat, counts } = await startTwo(failure, json(200, ANSWER))
    for (let at = 0; at < 5; at++) {
      const response = await chat({ messages: MESSAGES })
      expect(response.status).toBe(200)
      expect(response.headers.get('x-weft-backend')).toBe('org/relayed#2')
    }
    expect(counts()[0]).toBe(1)
  })

  it.each([401, 403])(
    'stand in for one that refuses the key with %s, after that',
    async (status) => {
      const { chat, counts } = await startTwo(json(status, {}), json(200, ANSWER))
      const refused = await chat({ messages: MESSAGES })
      expect(await refused.json()).toMatchObject({ error: { code: 'upstream_auth' } })
      for (let at = 0; at < 4; at++) expect((await chat({ messages: MESSAGES })).status).toBe(200)
      expect(counts()).toEqual([1, 4])
    },
  )

  it('are asked for the listing until one answers', async () => {
    const models = { data: [{ id: 'org/relayed', max_model_len: 4096 }] }
    const { deps, upstreams } = await startTwo(reset, json(200, models))
    const find = () => deps.models.getEntry('org/relayed')
    await expect.poll(find).toMatchObject({ max_model_len: 4096 })
    expect(upstreams.map(({ requests }) => requests.map(({ url }) => url))).toEqual([
      ['/v1/models'],
      ['/v1/models'],
    ])
  })

  it('get the next request while one is still busy', async () => {
    const { chat, upstreams } = await startTwo(silence, json(200, ANSWER))
    const leave = new AbortController()
    const stuck = chat({ messages: MESSAGES }, { signal: leave.signal })
    await upstreams[0]?.arrival(0)
    for (let at = 0; at < 3; at++) expect((await chat({ messages: MESSAGES })).status).toBe(200)
    expect(upstreams[0]?.requests).toHaveLength(1)
    leave.abort()
    await expect(stuck).rejects.toThrow()
  })
})

describe('fallbacks', () => {
  async function startWithFallback(behaviour: Behaviour, fields = {}) {
    const upstream = await startFakeUpstream(behaviour)
    const relayed = upstreamModel(upstream.baseUrl).getModel(null)
    const backend = createScriptedBackend(HELLO, fields)
    const spare = { ...relayed, id: 'spare', aliases: [], backend, upstreamCount: 1 }
    const models = [{ ...relayed, fallbacks: ['spare'] }, spare]
    return { ...(await startModelServer(createModelRegistry(models, models[0]!))), backend }
  }

  it.each<[boolean, Behaviour]>([
    [false, reset],
    [true, reset],
    [false, json(200, { error: { code: 500 } })],
    [true, stream([event({ error: { code: 500 } }), DONE])],
  ])('answer for a model that is down, stream %s', async (isStream, failure) => {
    const { chat, deps } = await startWithFallback(failure)
    const headers = { 'Compat-Project': 'acme/demo' }
    const response = await chat({ messages: MESSAGES, stream: isStream }, { headers })
    expect(response.status).toBe(200)
    expect(response.headers.get('x-weft-backend')).toBe('spare')
    await response.text()
    const id = String(response.headers.get('x-weft-call-id'))
    await expect
      .poll(() => deps.calls.findCall('acme/demo', id))
      .toMatchObject({
        attributes: { model: 'spare', fallback_of: 'org/relayed' },
        summary: { usage: { spare: { total_tokens: 5 } } },
        exception: null,
      })
  })

  it('are not asked for what they cannot answer', async () => {
    const { chat, backend } = await startWithFallback(reset, { top_k: 'rejected' })
    const response = await chat({ messages: MESSAGES, top_k: 5 })
    expect(response.status).toBe(502)
    expect(backend.calls).toEqual([])
  })

  it('are not asked once a stream has begun', async () => {
    const { chat, backend } = await startWithFallback(stream(HELLO_EVENTS.slice(0, 1), 'cut'))
    const response = await chat({ messages: MESSAGES, stream: true })
    expect(await response.text()).toContain('upstream_error')
    expect(backend.calls).toEqual([])
  })
})

describe('the headers of an answer', () => {
  it.each([false, true])(
    'name the model and the time spent in the server, stream %s',
    async (isStream) => {
      const { chat } = await start(isStream ? stream([...HELLO_EVENTS, DONE]) : json(200, ANSWER))
      const { headers } = await chat({ messages: MESSAGES, stream: isStream })
      expect(headers.get('x-weft-backend')).toBe('org/relayed')
      expect(headers.get('x-weft-overhead-ms')).toMatch(/^\d+\.\d{3}$/)
    },
  )
})
