import { describe, expect, it } from 'vitest'
import { ApiError } from '../../../src/errors.ts'
import { buildTestApp } from '../../support/build-test-app.ts'
import {
  createScriptedBackend,
  HELLO,
  type Step,
  scriptedModels,
} from '../../support/scripted-backend.ts'

const URL = '/v1/responses'

async function buildApp(script: readonly Step[]) {
  const backend = createScriptedBackend(script)
  return buildTestApp({}, { models: scriptedModels({ backend }) })
}

describe('refusals of a model', () => {
  it.each([
    ['messages[1].content[0]', 'input'],
    ['max_completion_tokens', 'max_output_tokens'],
    ['max_tokens', 'max_output_tokens'],
    ['tools[0].function.parameters', 'tools[0].parameters'],
    ['top_k', 'top_k'],
  ])('that name %s are told of %s', async (param, expected) => {
    const { post } = await buildApp([new ApiError('invalid_value', { param })])
    for (const stream of [false, true]) {
      const { status, body } = await post(URL, { input: 'hi', stream })
      expect([status, body.error.param]).toEqual([400, expected])
    }
  })

  it.each([
    ['logprobs', 'It does not support logprobs.', 'It does not support include.'],
    [
      'use_beam_search',
      'use_beam_search cannot be combined with response_format.',
      'use_beam_search cannot be combined with text.format.',
    ],
    [
      'max_completion_tokens',
      'max_completion_tokens must be more than min_tokens, max_tokens too',
      'max_output_tokens must be more than min_tokens, max_output_tokens too',
    ],
    ['model', 'The model `max_tokens` has no tools.', 'The model `max_tokens` has no tools.'],
  ])('that are about %s name fields as they were sent: %s', async (param, message, expected) => {
    const { post } = await buildApp([new ApiError('invalid_value', { param, message })])
    const { body } = await post(URL, { input: 'hi' })
    expect(body.error.message).toBe(expected)
  })

  it.each([
    { tools: [{ type: 'custom', name: 'code' }] },
    { tools: [{ type: 'local_shell' }] },
    { tools: [{ type: 'web_search' }] },
    { input: [{ type: 'custom_tool_call', call_id: 'c', name: 'code', input: 'x' }] },
  ])('of what chats are not asked for say who takes it: %j', async (refused) => {
    const { post } = await buildApp(HELLO)
    const { status, body } = await post(URL, { input: 'hi', ...refused })
    expect([status, body.error.code]).toEqual([400, 'unsupported_value'])
    expect(body.error.message).toMatch(/only for models whose engine makes responses itself/)
  })

  it('of the embedded model speak of no messages where none were sent', async () => {
    const { post } = await buildTestApp()
    for (const refused of [
      { input: 'long '.repeat(20_000) },
      { input: 'hi', reasoning: { effort: 'xhigh' } },
      { input: [{ role: 'user', content: [{ type: 'input_image', image_url: 'data:,x' }] }] },
    ]) {
      const { status, body } = await post(URL, refused)
      expect(status).toBe(400)
      expect(body.error.message).not.toMatch(/messages|max_(?:completion_)?tokens|reasoning_effort/)
    }
  })
})

describe('failures', () => {
  it('of the store end a stream in an event of the error, not in one of its end', async () => {
    const test = await buildApp(HELLO)
    test.deps.responses.insertResponse = async () => {
      throw new ApiError('store_unavailable')
    }
    const { status, text } = await test.post(URL, { input: 'hi', stream: true })
    expect(status).toBe(200)
    expect(text).not.toContain('response.completed')
    const [name, data] = text.trimEnd().split('\n').slice(-2)
    expect(name).toBe('event: error')
    expect(JSON.parse(data?.replace('data: ', '') ?? '')).toMatchObject({
      type: 'error',
      code: 'store_unavailable',
      param: null,
    })
    const whole = await test.post(URL, { input: 'hi' })
    expect([whole.status, whole.body.error.code]).toEqual([503, 'store_unavailable'])
  })
})
