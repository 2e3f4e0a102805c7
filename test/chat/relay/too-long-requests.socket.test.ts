/** Requests that are too long for their model, and whose fallbacks take longer ones. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { openModelRegistry } from '../../../src/inference/models/registry.ts'
import { createTinyBackend } from '../../../src/inference/tiny/backend.ts'
import { type Behaviour, json, startFakeUpstream } from '../../support/fake-upstream.ts'
import { startModelServer } from '../../support/model-server.ts'
import { makeTempDir } from '../../support/temp-dir.ts'
import { hello } from '../../support/upstream-answers.ts'

const TOO_LONG = json(400, { error: { message: 'the maximum context length is 8 tokens' } })
const LONG = { messages: [{ role: 'user', content: 'word '.repeat(2_500) }] }

/** Serves `small`, `tiny` and `large`; the first two fall back to the last. */
async function start(
  large: Behaviour,
  more: object = { fallback_on: ['context_length_exceeded'] },
) {
  const small = await startFakeUpstream(TOO_LONG)
  const spare = await startFakeUpstream(large)
  const shared = { fallbacks: ['large'], ...more }
  const path = join(makeTempDir(), 'models.json')
  const models = [
    { id: 'small', backend: 'openai', base_url: small.baseUrl, ...shared },
    { id: 'tiny', backend: 'tiny', ...shared },
    { id: 'large', backend: 'openai', base_url: spare.baseUrl },
  ]
  writeFileSync(path, JSON.stringify({ models }))
  const registry = openModelRegistry({
    path,
    isRequired: true,
    readSecret: () => null,
    createTiny: () => createTinyBackend({ queueMax: 10, allowsChatTemplate: false }),
  })
  return { ...(await startModelServer(registry)), small, spare }
}

describe('a request that is too long for its model', () => {
  it.each([
    ['small', false],
    ['small', true],
    ['tiny', false],
    ['tiny', true],
  ])('goes to the fallback of %s that names the refusal (stream: %s)', async (model, stream) => {
    const { chat, spare } = await start(hello)
    const response = await chat({ ...LONG, model, stream })
    expect([response.status, response.headers.get('x-weft-backend')]).toEqual([200, 'large'])
    expect(await response.text()).toContain(stream ? 'Hel' : 'Hello')
    expect(spare.requests).toHaveLength(1)
  })

  it.each(['small', 'tiny'])('is refused where the entry of %s does not name it', async (model) => {
    const { chat, spare } = await start(hello, {})
    const response = await chat({ ...LONG, model })
    const { error } = (await response.json()) as { error: { code: string } }
    expect([response.status, error.code]).toEqual([400, 'context_length_exceeded'])
    expect(spare.requests).toHaveLength(0)
  })

  it('is refused in the words of its model where the fallback refuses it, too', async () => {
    const { chat, spare } = await start(
      json(400, { error: { message: 'maximum context length 9' } }),
    )
    const response = await chat({ ...LONG, model: 'small' })
    const { error } = (await response.json()) as { error: { message: string } }
    expect([response.status, error.message]).toEqual([400, expect.stringContaining('is 8 tokens')])
    expect(spare.requests).toHaveLength(1)
  })
})
