/** Every field of a chat request on the tiny model: where it changes the answer, and where it is refused. */
import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { buildApp } from '../../src/app.ts'
import { readConfig } from '../../src/config.ts'
import { type Deps, openDeps } from '../../src/deps.ts'
import type { App } from '../../src/http/app-type.ts'
import { createModelRegistry, type ServedModel } from '../../src/inference/models/registry.ts'
import { createTinyBackend } from '../../src/inference/tiny/backend.ts'
import { TINY_FIELDS } from '../../src/inference/tiny/field-support.ts'
import { SCOPES } from '../../src/schemas/access/key.ts'
import { ChatCompletionRequest } from '../../src/schemas/chat/chat-request.ts'
import { ANSWER, type Answer, type Body, ROWS } from './conformance-rows.ts'

describe('a chat request to the tiny model', () => {
  const backend = createTinyBackend({ queueMax: 64, allowsChatTemplate: true })
  const model: ServedModel = {
    id: 'tiny',
    aliases: ['other-name'],
    ownedBy: 'test',
    created: 0,
    capabilities: { tools: true, prioritySchedulingEnabled: true },
    backend,
    backendModel: 'tiny',
    fallbacks: [],
  }

  let app: App
  let deps: Deps
  let key = ''
  beforeAll(async () => {
    const config = {
      ...readConfig({}),
      dataDir: ':memory:',
      drainTimeoutMs: 50,
      logLevel: 'silent' as const,
    }
    deps = await openDeps(config)
    const rights = { scopes: SCOPES, projects: ['*'] }
    const user = { svc_user_id: 'u', svc_username: 'U' }
    key = (await deps.keys.createKey({ ...user, ...rights })).secret
    app = await buildApp(config, { ...deps, models: createModelRegistry([model], model) })
  })
  afterAll(async () => {
    await app.close()
    await deps.close()
    await backend.close()
  })

  async function ask(body: Body): Promise<Answer> {
    const response = await app.inject({
      method: 'POST',
      url: '/v1/chat/completions',
      headers: { authorization: `Bearer ${key}` },
      payload: { ...ANSWER, ...body },
    })
    const isJson = String(response.headers['content-type']).startsWith('application/json')
    return {
      status: response.statusCode,
      text: response.body,
      body: isJson ? response.json() : null,
    }
  }

  it('has a row for every field', () => {
    expect(Object.keys(ROWS).sort()).toEqual(Object.keys(ChatCompletionRequest.shape).sort())
  })

  for (const [field, row] of Object.entries(ROWS)) {
    const { base = {}, value, check, refused, refusedWith = {} } = row
    if (check !== undefined) {
      it(`§4.3 ${field} does on the tiny model what it says`, async () => {
        // Asked twice, so that the prompt is remembered from the first time.
        await ask(base)
        const plain = await ask(base)
        const given = await ask({ ...base, [field]: value })
        expect(plain.status).toBe(200)
        expect(given.status).toBe(200)
        check(given, plain)
      })
    }
    it(`§4.3 ${field} is refused by name on the tiny model`, async () => {
      const { status, body } = await ask({ ...refusedWith, [field]: refused })
      expect([400, 404]).toContain(status)
      expect(body.error.param).toMatch(new RegExp(`^${field}\\b`))
    })
  }
})

describe('docs/tiny.md', () => {
  it('says of every field what the model does with it', () => {
    const page = readFileSync(new URL('../../docs/tiny.md', import.meta.url), 'utf8')
    const rows = [...page.matchAll(/^\| `(\w+)` \| (\w+) \|/gm)].map(([, field, use]) => [
      field,
      use,
    ])
    expect(Object.fromEntries(rows)).toEqual(TINY_FIELDS)
  })
})
