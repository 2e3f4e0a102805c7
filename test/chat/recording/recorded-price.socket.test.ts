import { describe, expect, it } from 'vitest'
import {
  type Behaviour,
  chunk,
  DONE,
  event,
  HELLO_EVENTS,
  json,
  startFakeUpstream,
  stream,
} from '../../support/fake-upstream.ts'
import { startModelServer, upstreamModel } from '../../support/model-server.ts'
import { answerOf } from '../../support/upstream-answers.ts'

const PROJECT = 'acme/demo'
const USAGE = { prompt_tokens: 3, completion_tokens: 1, total_tokens: 4 }

/** The usage that is recorded of a completion. */
async function recordedUsage(behaviour: Behaviour, request: object = {}) {
  const upstream = await startFakeUpstream(behaviour)
  const server = await startModelServer(upstreamModel(upstream.baseUrl, { upstreamModel: 'up' }))
  const messages = [{ role: 'user', content: 'hi' }]
  const headers = { 'Compat-Project': PROJECT }
  const response = await server.chat({ model: 'short', messages, ...request }, { headers })
  await response.text()
  const id = String(response.headers.get('x-weft-call-id'))
  await expect.poll(() => server.deps.calls.findCall(PROJECT, id)).not.toBeNull()
  const call = await server.deps.calls.findCall(PROJECT, id)
  return call?.summary.usage
}

describe('the usage of a relayed completion', () => {
  it('has the cost and the tier that the upstream reports', async () => {
    const usage = { ...USAGE, cost: 0.00012 }
    const answer = { ...answerOf({ content: 'Hello' }), usage, service_tier: 'priority' }
    expect(await recordedUsage(json(200, answer))).toEqual({
      'org/relayed': { ...usage, service_tier: 'priority' },
    })
  })

  it('has those of a stream', async () => {
    const usage = { ...USAGE, cost: 0.00012 }
    const last = chunk([], { usage, service_tier: 'flex' })
    const behaviour = stream([...HELLO_EVENTS, event(last), DONE])
    expect(await recordedUsage(behaviour, { stream: true })).toEqual({
      'org/relayed': { ...usage, service_tier: 'flex' },
    })
  })

  it('has the cost that a proxy reports in a header', async () => {
    const answer = { ...answerOf({ content: 'Hello' }), usage: USAGE }
    const behaviour = json(200, answer, { 'x-litellm-response-cost': '3.45e-05' })
    expect(await recordedUsage(behaviour)).toEqual({
      'org/relayed': { ...USAGE, response_cost: '3.45e-05' },
    })
  })

  it('has no name of the upstream where no listed provider serves the model', async () => {
    const answer = { ...answerOf({ content: 'Hello' }), usage: USAGE }
    expect(await recordedUsage(json(200, answer))).toEqual({ 'org/relayed': USAGE })
  })
})
