/** Requests that a provider's content filter refuses, or whose completion it ends, and their fallbacks. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { openModelRegistry } from '../../src/inference/models/registry.ts'
import { buildTestApp } from '../support/build-test-app.ts'
import { type Behaviour, event, json, startFakeUpstream, stream } from '../support/fake-upstream.ts'
import { makeTempDir } from '../support/temp-dir.ts'
import { answerOf, hello, streamOf } from '../support/upstream-answers.ts'

const NAMED = { fallback_on: ['content_filter'] }
const REFUSED = json(400, {
  error: { message: 'The response was filtered', type: null, code: 'content_filter' },
})
const ENDED = json(200, answerOf({ content: 'I' }, 'content_filter'))
const ROLE = { role: 'assistant', content: '' }

/** Serves `strict` and its fallback `spare`. */
async function start(strict: Behaviour, spare: Behaviour, more: object = NAMED) {
  const upstreams = [await startFakeUpstream(strict), await startFakeUpstream(spare)] as const
  const path = join(makeTempDir(), 'models.json')
  const [first, second] = upstreams.map(({ baseUrl }) => ({ backend: 'openai', base_url: baseUrl }))
  const models = [
    { ...first, id: 'strict', fallbacks: ['spare'], ...more },
    { ...second, id: 'spare' },
  ]
  writeFileSync(path, JSON.stringify({ models }))
  const registry = openModelRegistry({
    path,
    isRequired: true,
    readSecret: () => null,
    createTiny: () => {
      throw new Error('not served')
    },
  })
  onTestFinished(() => registry.close())
  const { post } = await buildTestApp({}, { models: registry })
  const chat = (isStream = false) =>
    post('/v1/chat/completions', {
      model: 'strict',
      messages: [{ role: 'user', content: 'Hi' }],
      stream: isStream,
    })
  return { chat, spare: upstreams[1] }
}

describe('a completion that a content filter refuses or ends', () => {
  it.each<[string, Behaviour, boolean]>([
    ['refused request', REFUSED, false],
    ['refused request of a stream', REFUSED, true],
    ['refusal inside a stream', stream([event({ error: { code: 'content_filter' } })]), true],
    ['whole completion', ENDED, false],
    ['stream without a part of the response', streamOf([ROLE], 'content_filter'), true],
  ])('goes to the fallback where the entry names it: a %s', async (_name, strict, isStream) => {
    const { chat } = await start(strict, hello)
    const { status, headers, text } = await chat(isStream)
    expect([status, headers['x-weft-backend']]).toEqual([200, 'spare'])
    expect(text).toContain('Hel')
    expect(text).not.toContain('content_filter')
  })

  it('stays where the stream has begun', async () => {
    const { chat, spare } = await start(streamOf([ROLE, { content: 'I' }], 'content_filter'), hello)
    const { status, text } = await chat(true)
    expect([status, text.match(/"role"/g)]).toEqual([200, ['"role"']])
    expect(text).toContain('"finish_reason":"content_filter"')
    expect(spare.requests).toHaveLength(0)
  })

  it('stays where the entry does not name it', async () => {
    const ended = await start(ENDED, hello, {})
    expect((await ended.chat()).body.choices[0].finish_reason).toBe('content_filter')
    const refused = await start(REFUSED, hello, {})
    const { status, body } = await refused.chat()
    expect([status, body.error.code, body.error.message]).toEqual([
      400,
      'content_filter',
      'The response was filtered',
    ])
    expect([ended.spare.requests, refused.spare.requests]).toEqual([[], []])
  })

  it('is what the last fallback returns, or the refusal of the asked model where that fails', async () => {
    const ended = await start(ENDED, ENDED)
    const { body, headers } = await ended.chat()
    expect([body.choices[0].finish_reason, headers['x-weft-backend']]).toEqual([
      'content_filter',
      'spare',
    ])
    const failed = await start(ENDED, json(400, { error: { message: 'no' } }))
    expect(await failed.chat()).toMatchObject({
      status: 400,
      body: { error: { code: 'content_filter' } },
    })
  })
})
