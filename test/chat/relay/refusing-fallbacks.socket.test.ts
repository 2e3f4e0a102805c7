import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { openModelRegistry } from '../../../src/inference/models/registry.ts'
import { createTinyBackend } from '../../../src/inference/tiny/backend.ts'
import { type Behaviour, json, startFakeUpstream } from '../../support/fake-upstream.ts'
import { startModelServer } from '../../support/model-server.ts'
import { makeTempDir } from '../../support/temp-dir.ts'

const PROJECT = 'acme/demo'
const USAGE = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 }
const CHAT = {
  choices: [{ index: 0, message: { role: 'assistant', content: 'x' }, finish_reason: 'stop' }],
  usage: USAGE,
}
const EMBEDDING = { data: [{ index: 0, embedding: [1] }], usage: USAGE }

/** Requests that only the embedded model itself recognizes as unsupported. */
const REQUESTS: [string, string, object][] = [
  [
    'a picture',
    '/chat/completions',
    {
      messages: [
        {
          role: 'user',
          content: [{ type: 'image_url', image_url: { url: 'data:image/png;base64,AA==' } }],
        },
      ],
    },
  ],
  [
    'a long text',
    '/chat/completions',
    { messages: [{ role: 'user', content: 'word '.repeat(2_500) }] },
  ],
  ['a dimension', '/embeddings', { input: 'hi', dimensions: 1024 }],
  [
    'a picture of a response',
    '/responses',
    {
      input: [
        {
          role: 'user',
          content: [{ type: 'input_image', image_url: 'data:image/png;base64,AA==' }],
        },
      ],
    },
  ],
]

/** Nobody listens there. */
const NOBODY = { base_url: 'http://127.0.0.1:1/v1' }

/** Serves `chain`, the second of whose upstreams is the last to fail, and `up/ok`, whose upstream behaves as given. */
async function start(fallbacks: readonly string[], behaviour: Behaviour = json(500, {})) {
  const down = await startFakeUpstream(json(500, {}))
  const spare = await startFakeUpstream(behaviour)
  const path = join(makeTempDir(), 'models.json')
  const models = [
    { id: 'chain', backend: 'openai', upstreams: [NOBODY, { base_url: down.baseUrl }], fallbacks },
    { id: 'tiny', backend: 'tiny', fallbacks: ['up/ok'] },
    { id: 'up/ok', backend: 'openai', base_url: spare.baseUrl },
  ]
  writeFileSync(path, JSON.stringify({ models }))
  const createTiny = () => createTinyBackend({ queueMax: 8 })
  const registry = openModelRegistry({ path, isRequired: true, readSecret: () => null, createTiny })
  const server = await startModelServer(registry)
  async function ask(url: string, body: object) {
    const response = await fetch(`${server.baseUrl}${url}`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${server.key}`,
        'content-type': 'application/json',
        'Compat-Project': PROJECT,
      },
      body: JSON.stringify({ model: 'chain', ...body }),
    })
    const text = await response.text()
    const id = String(response.headers.get('x-weft-call-id'))
    await expect.poll(() => server.deps.calls.findCall(PROJECT, id)).not.toBeNull()
    const call = await server.deps.calls.findCall(PROJECT, id)
    return { status: response.status, headers: response.headers, text, call }
  }
  return { ask, spare, render: server.deps.metrics.render }
}

describe('a fallback that refuses what it cannot honour', () => {
  it.each(REQUESTS)('leaves it to the next one: %s', async (_name, url, body) => {
    const answer = url === '/embeddings' ? EMBEDDING : CHAT
    const { ask } = await start(['tiny', 'up/ok'], json(200, answer))
    const { status, headers, call } = await ask(url, body)
    expect([status, headers.get('x-weft-backend')]).toEqual([200, 'up/ok'])
    expect(call?.attributes).toMatchObject({ model: 'up/ok', fallback_of: 'chain' })
  })

  it.each(REQUESTS)(
    'never answers in place of the model that is down: %s',
    async (_name, url, body) => {
      const { ask, render } = await start(['tiny'])
      const { status, headers, text, call } = await ask(url, body)
      expect([status, headers.get('x-weft-backend')]).toEqual([502, 'chain#2'])
      expect(text).toContain('upstream_error')
      expect(call?.attributes).toMatchObject({ model: 'chain' })
      expect(call?.attributes).not.toHaveProperty('fallback_of')
      expect(call?.exception).toContain('The upstream failed with status 500.')
      expect(await render()).toContain(
        'weft_completions_total{model="chain",outcome="upstream_error"} 1',
      )
    },
  )
})

describe('a request that is refused by the model asked', () => {
  it.each(REQUESTS)('is repeated nowhere: %s', async (_name, url, body) => {
    const { ask, spare } = await start(['up/ok'], json(200, CHAT))
    const { status } = await ask(url, { ...body, model: 'tiny' })
    expect(status).toBe(400)
    expect(spare.requests).toHaveLength(0)
  })
})
