/** Thinking that a package of the AI SDK has sealed, in messages that pass to an engine as they came. */
import { describe, expect, it } from 'vitest'
import { renderContinuation } from '../../../src/domain/chat/continuation.ts'
import { createModelRegistry } from '../../../src/inference/models/registry.ts'
import { answerMessage, anthropicModel } from '../../support/anthropic-model.ts'
import { buildTestApp } from '../../support/build-test-app.ts'
import { json, startFakeUpstream } from '../../support/fake-upstream.ts'

const SEALED = renderContinuation({ amazonBedrock: { signature: 's' } })
const THOUGHTS = [
  { type: 'thinking', thinking: 'why', signature: SEALED },
  { type: 'redacted_thinking', data: SEALED },
]
const assistant = (content: readonly object[]) => ({ role: 'assistant', content })

/** A conversation whose assistant begins with these thoughts, and once says nothing else. */
function render(thoughts: readonly object[], model: string): string {
  const own = { type: 'thinking', thinking: 'own', signature: 'sig' }
  const call = { type: 'tool_use', id: 't', name: 'f', input: { a: 1 } }
  const messages = [
    { role: 'user', content: 'hi' },
    assistant([...thoughts, own, call]),
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't' }] },
    ...(thoughts.length === 0 ? [] : [assistant(thoughts)]),
  ]
  const body = JSON.stringify({ model, max_tokens: 16, messages })
  return body.replace('"a":1', '"a":9007199254740993')
}

describe('sealed thinking', () => {
  it.each([
    ['a message', '/v1/messages', answerMessage()],
    ['a count of its tokens', '/v1/messages/count_tokens', json(200, { input_tokens: 42 })],
  ])('is left out of %s, and nothing else is', async (_, path, behaviour) => {
    const upstream = await startFakeUpstream(behaviour)
    const model = anthropicModel(upstream.baseUrl)
    const test = await buildTestApp({}, { models: createModelRegistry([model], model) })
    expect((await test.post(path, render(THOUGHTS, 'claude'))).status).toBe(200)
    expect(upstream.requests[0]?.body).toBe(render([], 'claude-up'))
    await model.backend.close()
  })
})
