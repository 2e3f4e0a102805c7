import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { describe, expect, it, onTestFinished } from 'vitest'
import {
  type Behaviour,
  DONE,
  HELLO_EVENTS,
  json,
  startFakeUpstream,
  stream,
} from '../../support/fake-upstream.ts'
import { LOCALHOST_CERTIFICATE, LOCALHOST_KEY } from '../../support/localhost-certificate.ts'
import { startModelServer, upstreamModel } from '../../support/model-server.ts'

const REQUEST = { model: 'org/relayed', messages: [{ role: 'user', content: 'hi' }] }
const ANSWER = {
  id: 'up',
  object: 'chat.completion',
  created: 1,
  model: 'up',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hello' }, finish_reason: 'stop' }],
}

async function start(behaviour: Behaviour, { ca = null as string | null } = {}) {
  const secure = { key: LOCALHOST_KEY, cert: LOCALHOST_CERTIFICATE }
  const upstream = await startFakeUpstream(behaviour, secure)
  return { upstream, ...(await startModelServer(upstreamModel(upstream.baseUrl, { ca }))) }
}

function trust(certificate: string): void {
  const before = getCACertificates('default')
  setDefaultCACertificates([...before, certificate])
  onTestFinished(() => setDefaultCACertificates(before))
}

describe('an upstream over TLS', () => {
  it('answers whole and in a stream, over one connection', async () => {
    trust(LOCALHOST_CERTIFICATE)
    const { upstream, chat } = await start(json(200, ANSWER))
    const whole = await chat(REQUEST)
    expect([whole.status, await whole.json()]).toEqual([200, ANSWER])
    upstream.behave(stream([...HELLO_EVENTS, DONE]))
    const streamed = await chat({ ...REQUEST, stream: true })
    expect(await streamed.text()).toBe([...HELLO_EVENTS, DONE].join(''))
    expect(upstream.connectionCount()).toBe(1)
  })

  it('is trusted under a certificate of its own where its CA is given, and there only', async () => {
    const { upstream, chat } = await start(json(200, ANSWER), { ca: LOCALHOST_CERTIFICATE })
    expect((await chat(REQUEST)).status).toBe(200)
    const other = await startModelServer(upstreamModel(upstream.baseUrl))
    expect((await other.chat(REQUEST)).status).toBe(502)
    expect(upstream.requests).toHaveLength(1)
  })

  it('is refused with an untrusted certificate', async () => {
    const { upstream, chat } = await start(json(200, ANSWER))
    const response = await chat(REQUEST)
    expect(response.status).toBe(502)
    expect(await response.json()).toMatchObject({ error: { code: 'upstream_unreachable' } })
    expect(upstream.requests).toEqual([])
  })
})
