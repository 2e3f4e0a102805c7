/** Names by which a project serves models: set, shared with a candidate, rolled back. */
import { describe, expect, it } from 'vitest'
import { buildTestApp, type TestApp } from '../support/build-test-app.ts'
import {
  createScriptedBackend,
  finish,
  piece,
  prompt,
  scriptedModels,
} from '../support/scripted-backend.ts'

const PROJECT = 'acme/demo'
const URL = '/v1/preview/aliases'

const buildAliasApp = () => {
  const say = (text: string) => createScriptedBackend(() => [prompt(), piece(text), finish()])
  return buildTestApp(
    {},
    {
      models: scriptedModels(
        { id: 'first', backend: say('first') },
        { id: 'second', backend: say('second') },
        { id: 'third', backend: say('third') },
      ),
    },
  )
}

const set = ({ put }: TestApp, fields: object, name = 'helper', options = {}) =>
  put(`${URL}/${name}`, { project_id: PROJECT, target: 'first', ...fields }, options)

const ask = async ({ post }: TestApp, fields: object = {}, model = 'helper') =>
  post(
    '/v1/chat/completions',
    { model, messages: [{ role: 'user', content: 'Hi' }], ...fields },
    { headers: { 'openai-project': PROJECT } },
  )

const said = async (app: TestApp, fields: object = {}) =>
  (await ask(app, fields)).body.choices[0].message.content

describe('PUT /v1/preview/aliases/{name}', () => {
  it('serves a model by the name, another one after a change, and the earlier one after one call', async () => {
    const app = await buildAliasApp()
    expect((await ask(app)).body.error.code).toBe('model_not_found')
    expect((await set(app, {})).body).toMatchObject({
      target: 'first',
      earlier: [],
      candidate: null,
    })
    expect(await said(app)).toBe('first')
    await set(app, { target: 'second' })
    const third = await set(app, { target: 'third', candidate: { model: 'first', percent: 100 } })
    expect(third.body.earlier).toEqual(['second', 'first'])
    const back = await app.post(`${URL}/helper/roll-back`, { project_id: PROJECT })
    expect(back.body).toMatchObject({ target: 'second', earlier: ['first'], candidate: null })
    expect(await said(app)).toBe('second')
    await app.post(`${URL}/helper/roll-back`, { project_id: PROJECT })
    const none = await app.post(`${URL}/helper/roll-back`, { project_id: PROJECT })
    expect([none.status, none.body.error.param]).toEqual([422, 'name'])
    const audit = await app.get('/v1/audit?action=alias.update')
    expect(audit.body.data).toHaveLength(5)
    expect((await app.delete(`${URL}/helper?project_id=${PROJECT}`)).body).toEqual({
      deleted: true,
    })
    expect((await ask(app)).body.error.code).toBe('model_not_found')
  })

  it('a candidate gets its share of the end users, each always the same model', async () => {
    const app = await buildAliasApp()
    await set(app, { candidate: { model: 'second', percent: 30 } })
    const users = Array.from({ length: 200 }, (_, index) => `user-${index}`)
    const first = await Promise.all(users.map((user) => said(app, { user })))
    expect(await Promise.all(users.map((user) => said(app, { user })))).toEqual(first)
    const share = first.filter((text) => text === 'second').length / users.length
    expect(share).toBeGreaterThan(0.2)
    expect(share).toBeLessThan(0.4)
    await set(app, { candidate: { model: 'second', percent: 60 } })
    const more = await Promise.all(users.map((user) => said(app, { user })))
    expect(more.filter((text, index) => first[index] === 'second' && text === 'first')).toEqual([])
    await set(app, { candidate: { model: 'second', percent: 0 } })
    expect(await said(app, { user: users[first.indexOf('second')] })).toBe('first')
  })

  it.each([
    ['/v1/chat/completions', (chat: object) => chat],
    ['/v1/messages', (chat: object) => ({ ...chat, max_tokens: 9 })],
    [
      '/v1/responses',
      ({ messages: input, ...chat }: { messages: object[] }) => ({ ...chat, input }),
    ],
    ['/completions/create', (inputs: object) => ({ project_id: PROJECT, inputs })],
  ])('%s chooses by the conversation', async (path, toBody) => {
    const app = await buildAliasApp()
    await set(app, { candidate: { model: 'second', percent: 50 } })
    const chosen = new Set<string>()
    for (let i = 0; i < 12; i++) {
      const chat = { model: 'helper', messages: [{ role: 'user', content: `Question ${i}` }] }
      const headers = { 'openai-project': PROJECT }
      const { status, text } = await app.post(path, toBody(chat), { headers })
      expect(status, text).toBe(200)
      for (const name of ['first', 'second']) if (text.includes(name)) chosen.add(name)
    }
    expect([...chosen].sort()).toEqual(['first', 'second'])
  })

  it('without an end user the turns of a conversation get the same model', async () => {
    const app = await buildAliasApp()
    await set(app, { candidate: { model: 'second', percent: 50 } })
    const chosen = new Set<string>()
    for (let i = 0; i < 12; i++) {
      const messages = [
        { role: 'system', content: 'Be kind.' },
        { role: 'user', content: `Question ${i}` },
      ]
      const text = await said(app, { messages })
      const next = [
        ...messages,
        { role: 'assistant', content: text },
        { role: 'user', content: 'And?' },
      ]
      expect(await said(app, { messages: next })).toBe(text)
      chosen.add(text)
    }
    expect([...chosen].sort()).toEqual(['first', 'second'])
  })

  it('the recorded call says which model the name has chosen', async () => {
    const app = await buildAliasApp()
    await set(app, { candidate: { model: 'second', percent: 100 } })
    const response = await ask(app)
    expect(response.body.model).toBe('second')
    const id = response.headers['x-weft-call-id']
    const read = async () => (await app.post('/call/read', { project_id: PROJECT, id })).body.call
    await expect.poll(read).toMatchObject({
      attributes: { model: 'second', alias: 'helper', alias_arm: 'candidate' },
      inputs: { model: 'helper' },
    })
  })

  it('a trained model is served by its step under its own name', async () => {
    const app = await buildTestApp()
    const model = { entity: 'acme', project: 'demo', name: 'owl', base_model: 'tiny' }
    await app.post('/v1/preview/models', model)
    expect((await set(app, { target: 'owl:step0' }, 'owl')).status).toBe(200)
    const response = await ask(app, { max_tokens: 1 }, 'owl')
    expect(response.body.model).toBe('owl:step0')
    const named = await app.post('/v1/chat/completions', {
      model: `weave:///${PROJECT}/owl`,
      max_tokens: 1,
      messages: [{ role: 'user', content: 'Hi' }],
    })
    expect(named.body.model).toBe('owl:step0')
    // A name of a project names no other.
    expect((await set(app, { target: 'owl' }, 'bird')).status).toBe(200)
    expect((await set(app, { target: 'bird' }, 'nest')).body.error.code).toBe('model_not_found')
  })

  it('lists names, also among the models of the project', async () => {
    const app = await buildAliasApp()
    await set(app, {})
    const listed = await app.get(`${URL}?project_id=${PROJECT}`)
    expect(listed.body.aliases).toMatchObject([{ name: 'helper', target: 'first' }])
    const headers = { 'openai-project': PROJECT }
    const models = await app.get('/v1/models', { headers })
    expect(models.body.data.at(-1)).toMatchObject({ id: 'helper', root: 'first', owned_by: 'acme' })
    expect((await app.get('/v1/models/helper', { headers })).body.root).toBe('first')
  })

  it.each([
    ['name', 'first', {}],
    ['name', '-x', {}],
    ['candidate.percent', 'helper', { candidate: { model: 'second', percent: 101 } }],
    ['target', 'helper', { target: '' }],
  ])('an invalid %s is refused by its path', async (param, name, fields) => {
    const { status, body } = await set(await buildAliasApp(), fields, name)
    expect([status, body.error?.param]).toEqual([422, param])
  })

  it('needs the scopes, the project, models that exist, and a key that may use them', async () => {
    const app = await buildAliasApp()
    for (const rights of [
      { scopes: ['inference'] as const },
      { scopes: ['training'] as const },
      { projects: ['acme/other'] },
    ]) {
      const { status } = await set(app, {}, 'helper', { key: await app.createKey(rights) })
      expect(status).toBe(403)
    }
    for (const fields of [{ target: 'none' }, { candidate: { model: 'none', percent: 1 } }]) {
      expect((await set(app, fields)).body.error.code).toBe('model_not_found')
    }
    const back = await app.post(`${URL}/none/roll-back`, { project_id: PROJECT })
    expect(back.body.error.code).toBe('alias_not_found')
  })
})
