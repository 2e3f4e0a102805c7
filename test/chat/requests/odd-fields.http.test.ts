import { describe, expect, it } from 'vitest'
import { buildTestApp } from '../../support/build-test-app.ts'
import { createScriptedBackend, HELLO, scriptedModels } from '../../support/scripted-backend.ts'

const URL = '/v1/chat/completions'
const MESSAGES = '"messages":[{"role":"user","content":"hi"}]'

describe('fields that no schema names', () => {
  it('of which tiny knows nothing are named in a header, whole and streamed', async () => {
    const { post } = await buildTestApp()
    const odd = { temprature: 0, 'sé ed': 1, unset: null, max_tokens: 1 }
    for (const stream of [false, true]) {
      const body = { messages: [{ role: 'user', content: 'Hi' }], stream, ...odd }
      const { status, headers } = await post(URL, body)
      expect([status, headers['x-weft-ignored-fields']]).toEqual([200, 'temprature, s%C3%A9%20ed'])
    }
    const known = { messages: [{ role: 'user', content: 'Hi' }], max_tokens: 1, user: 'ada' }
    expect((await post(URL, known)).headers).not.toHaveProperty('x-weft-ignored-fields')
  })

  it('go to other backends and are not named; many and long ones make no long header', async () => {
    const models = scriptedModels({ backend: createScriptedBackend(HELLO) })
    const { post } = await buildTestApp({}, { models })
    const forwarded = await post(URL, `{${MESSAGES},"temprature":0}`)
    expect(forwarded.headers).not.toHaveProperty('x-weft-ignored-fields')
    const tiny = await buildTestApp()
    const many = Object.fromEntries(
      Array.from({ length: 500 }, (_, at) => [`${at}`.padEnd(5_000, 'x'), 1]),
    )
    const messages = [{ role: 'user', content: 'Hi' }]
    const { headers } = await tiny.post(URL, { messages, max_tokens: 1, ...many })
    expect(String(headers['x-weft-ignored-fields']).length).toBeLessThan(1_200)
  })
})

describe('64-bit integers', () => {
  it.each([
    ['"seed":9223372036854776000', 200],
    ['"seed":-9223372036854776000', 200],
    ['"seed":9223372036854776001', 400],
    ['"seed":-9223372036854776001', 400],
    ['"seed":9.223372036854776e18', 200],
    ['"seed":9.223372036854776001e18', 400],
    ['"seed":9223372036854776001,"seed":1', 200],
    ['"seed":1,"seed":9223372036854776001', 400],
    ['"truncate_prompt_tokens":9223372036854776000', 200],
    ['"truncate_prompt_tokens":9223372036854776001', 400],
    ['"truncate_prompt_tokens":0', 200],
    ['"truncate_prompt_tokens":-2', 400],
  ])('just outside of their range are not taken for the bound: %s', async (field, expected) => {
    const models = scriptedModels({ backend: createScriptedBackend(HELLO) })
    const { post } = await buildTestApp({}, { models })
    const { status, body } = await post(URL, `{${MESSAGES},${field}}`)
    expect([status, body.error?.code ?? null]).toEqual([
      expected,
      expected === 200 ? null : 'invalid_value',
    ])
  })
})
