import { once } from 'node:events'
import { type AddressInfo, connect } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import { buildTestApp } from '../support/build-test-app.ts'
import {
  createScriptedBackend,
  piece,
  prompt,
  type Step,
  scriptedModels,
} from '../support/scripted-backend.ts'

const CHAT = '/v1/chat/completions'
const ASKED = JSON.stringify({ messages: [{ role: 'user', content: 'Hi' }], stream: true })
const NEVER = new Promise<never>(() => undefined)
const REFUSED = 'weft_refusals_total{code="client_closed_request"} 1'

function counted(status: string): string {
  return `weft_http_request_duration_seconds_count{route="${CHAT}",method="POST",status="${status}"} 1`
}

/** Sends a completion over a connection of its own. */
async function sendChat(script: readonly Step[], body: string, length = body.length) {
  const backend = createScriptedBackend(script)
  const models = scriptedModels({ backend })
  const { app, get, key } = await buildTestApp({}, { models })
  await app.listen({ port: 0, host: '127.0.0.1' })
  const socket = connect((app.server.address() as AddressInfo).port, '127.0.0.1')
  onTestFinished(() => void socket.destroy())
  const head = [`POST ${CHAT} HTTP/1.1`, 'host: x', `authorization: Bearer ${key}`]
  const lines = [...head, 'content-type: application/json', `content-length: ${length}`, '', body]
  await new Promise((resolve) => socket.write(lines.join('\r\n'), resolve))
  /** What was counted, without the scrapes. */
  const counts = async () => {
    const { text } = await get('/metrics', { headers: { authorization: `Bearer ${key}` } })
    return text
      .split('\n')
      .filter((line) => /^weft_(?:http_request_duration_seconds_count|refusals_total)/.test(line))
      .filter((line) => !line.includes('"/metrics"'))
  }
  return { backend, socket, counts }
}

describe('an answer whose client disconnects before its end is counted once', () => {
  it('with its own status if it had begun', async () => {
    const { socket, counts } = await sendChat([prompt(), piece('Hello'), NEVER], ASKED)
    await once(socket, 'data')
    socket.destroy()
    await expect.poll(counts).toEqual([counted('2xx')])
  })

  it('as refused if it had not begun', async () => {
    const { backend, socket, counts } = await sendChat([NEVER], ASKED)
    await expect.poll(backend.runningCount).toBe(1)
    socket.destroy()
    await expect.poll(counts).toEqual([counted('4xx'), REFUSED])
  })

  it('as refused when the body was not complete', async () => {
    const { socket, counts } = await sendChat([], '{"mess', 100)
    socket.destroy()
    await expect.poll(counts).toEqual([counted('4xx'), REFUSED])
  })
})
