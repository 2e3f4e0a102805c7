import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { createServer, getCACertificates, setDefaultCACertificates } from 'node:tls'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createConnect } from '../../../src/inference/openai/connector.ts'
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

async function start(behaviour: Behaviour) {
  const secure = { key: LOCALHOST_KEY, cert: LOCALHOST_CERTIFICATE }
  const upstream = await startFakeUpstream(behaviour, secure)
  return { upstream, ...(await startModelServer(upstreamModel(upstream.baseUrl))) }
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

  it('is greeted with the session of an earlier connection', async () => {
    trust(LOCALHOST_CERTIFICATE)
    const areReused: boolean[] = []
    const server = createServer({ key: LOCALHOST_KEY, cert: LOCALHOST_CERTIFICATE }, (socket) => {
      areReused.push(socket.isSessionReused())
      socket.on('error', () => {}).write('hello')
    }).listen(0)
    onTestFinished(() => void server.close())
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    const connect = createConnect(new URL(`https://localhost:${port}`), 5_000)
    for (let time = 0; time < 2; time++) {
      let text = ''
      const onBytes = (bytes: Buffer) => {
        text += bytes
      }
      const socket = connect(onBytes, (error) => expect(error).toBeNull())
      await expect.poll(() => text).toBe('hello')
      socket.destroy()
    }
    expect(areReused).toEqual([false, true])
  })

  it('is not talked to under a certificate that nobody trusts', async () => {
    const { upstream, chat } = await start(json(200, ANSWER))
    const response = await chat(REQUEST)
    expect(response.status).toBe(502)
    expect(await response.json()).toMatchObject({ error: { code: 'upstream_unreachable' } })
    expect(upstream.requests).toEqual([])
  })
})
