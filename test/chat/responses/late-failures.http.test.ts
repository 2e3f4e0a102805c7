/** Streams that fail right after their status was sent. */
import OpenAI from 'openai'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { ApiError } from '../../../src/errors.ts'
import type { InferenceBackend, RelayedDelta } from '../../../src/inference/backend.ts'
import { STATUS_HOLD_MS } from '../../../src/routes/chat/model-exchange.ts'
import { buildTestApp, type TestResponse } from '../../support/build-test-app.ts'
import { createScriptedBackend, type Step, scriptedModels } from '../../support/scripted-backend.ts'
import { walkEvents } from './event-order.ts'
import { findFaults } from './openai-types.ts'

const FAILURE = new ApiError('upstream_error', { message: 'It broke.' })

/** A chunk whose second half does not fit into a response. */
const UNUSABLE: RelayedDelta = {
  type: 'relayed',
  texts: [{ content: 'a' }, { content: { a: 1 } }].map((delta) => {
    const value = { choices: [{ index: 0, delta }] }
    return { json: JSON.stringify(value), value }
  }),
}

/** A backend that waits before it fails. @param noteAsked - called with the request */
type Open = (wait: Promise<void>, noteAsked: () => void) => InferenceBackend

const chat =
  (...steps: Step[]): Open =>
  (wait, noteAsked) =>
    createScriptedBackend(() => {
      noteAsked()
      return [wait, ...steps]
    })

const engine: Open = (wait, noteAsked) => ({
  ...createScriptedBackend([]),
  offers: ['chat', 'responses'],
  // biome-ignore lint/correctness/useYield: it fails before it yields
  async *serve() {
    noteAsked()
    await wait
    throw FAILURE
  },
})

type Events = Parameters<typeof walkEvents>[0]

function parseEvents(text: string): Events {
  const blocks = text.split('\n\n').filter((block) => block.startsWith('event: '))
  return blocks.map((block) => JSON.parse(block.slice(block.indexOf('data: ') + 6)))
}

describe('a streamed response that fails after the status', () => {
  afterEach(() => {
    vi.useRealTimers()
  })

  async function stream(open: Open, holdMs = STATUS_HOLD_MS) {
    const { promise: wait, resolve: fail } = Promise.withResolvers<void>()
    const { promise: asked, resolve: noteAsked } = Promise.withResolvers<void>()
    const backend = open(wait, noteAsked)
    const models = scriptedModels({ backend, ...(backend.offers && { offers: backend.offers }) })
    const test = await buildTestApp({}, { models })
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const answer = test.post('/v1/responses', { input: 'hi', stream: true })
    await asked
    await new Promise(setImmediate)
    await vi.advanceTimersByTimeAsync(holdMs)
    // The store has timers, too.
    vi.useRealTimers()
    fail()
    return { ...test, answer: await answer }
  }

  it.each<[string, Open, string, object[]]>([
    ['a chat', chat(FAILURE), 'It broke.', []],
    ['an engine', engine, 'It broke.', []],
    [
      'a chunk that cannot be used',
      chat(UNUSABLE),
      'The upstream sent content that is neither text nor parts.',
      [{ content: [{ text: 'a' }], status: 'incomplete' }],
    ],
  ])('of %s has all its events, and is stored', async (_name, open, message, output) => {
    const { answer, get } = await stream(open)
    expect(answer.status).toBe(200)
    const events = parseEvents(answer.text)
    expect(walkEvents(events)).toMatchObject(output)
    expect(events.flatMap(findFaults)).toEqual([])
    const last: TestResponse['body'] = events.at(-1)
    expect(last).toMatchObject({
      type: 'response.failed',
      response: { status: 'failed', error: { code: 'server_error', message } },
    })
    expect((await get(`/v1/responses/${last.response.id}`)).body).toEqual(last.response)
    const fetch = async () => new Response(answer.text)
    const client = new OpenAI({ apiKey: 'k', baseURL: 'http://server/v1', fetch })
    const final = await client.responses.stream({ model: 'm', input: 'hi' }).finalResponse()
    expect(final).toMatchObject({ status: 'failed', error: { message } })
  })

  it('has a status when it fails just before that', async () => {
    for (const open of [chat(FAILURE), chat(UNUSABLE), engine]) {
      const { answer } = await stream(open, STATUS_HOLD_MS - 1)
      expect(answer.status).toBe(502)
    }
  })
})
