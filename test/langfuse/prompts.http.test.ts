import { describe, expect, it } from 'vitest'
import { buildTestApp } from '../support/build-test-app.ts'

const BASE = '/api/public/v2/prompts'
const project = 'acme/demo'

async function openPrompts() {
  const app = await buildTestApp()
  const key = await app.createKey({ projects: [project] })
  return {
    ...app,
    key,
    create: (body: object) => app.post(BASE, body, { key }),
    read: (name: string, query = '') =>
      app.get(`${BASE}/${encodeURIComponent(name)}${query}`, { key }),
  }
}

describe('prompts of Langfuse’s SDKs', () => {
  it('get a version with each creation, also of the same text', async () => {
    const { create, read } = await openPrompts()
    const body = { name: 'greet', type: 'text', prompt: 'Hi {{name}}', labels: ['production'] }
    expect((await create(body)).body).toMatchObject({
      name: 'greet',
      version: 1,
      type: 'text',
      prompt: 'Hi {{name}}',
      config: {},
      labels: ['production', 'latest'],
      tags: [],
    })
    expect((await create({ ...body, labels: [] })).body).toMatchObject({
      version: 2,
      labels: ['latest'],
    })
    expect((await read('greet')).body.version).toBe(1)
    expect((await read('greet', '?label=latest')).body.version).toBe(2)
    expect((await read('greet', '?version=1')).body.labels).toEqual(['production'])
  })

  it('keep messages, placeholders, configurations and the digits of their numbers', async () => {
    const { post, key, read } = await openPrompts()
    const prompt = [
      { role: 'system', content: 'S' },
      { type: 'placeholder', name: 'history' },
    ]
    const sent = JSON.stringify({
      name: 'team/chat bot',
      type: 'chat',
      prompt,
      config: { t: 0 },
      labels: ['production'],
      commitMessage: 'first',
    })
    await post(BASE, sent.replace('"t":0', '"t":12345678901234567890'), { key })
    const { body, text } = await read('team/chat bot')
    expect(body).toMatchObject({
      name: 'team/chat bot',
      type: 'chat',
      prompt,
      commitMessage: 'first',
    })
    expect(text).toContain('"config":{"t":12345678901234567890}')
  })

  it('are objects with aliases, and read those of the Weave SDKs', async () => {
    const { create, read, post } = await openPrompts()
    await create({ name: 'greet', prompt: 'Hi', labels: ['staging'], tags: ['a'] })
    const object = { project_id: project, object_id: 'greet', digest: 'staging' }
    const { body } = await post('/obj/read', { ...object, include_tags_and_aliases: true })
    expect(body.obj).toMatchObject({
      base_object_class: 'Prompt',
      leaf_object_class: 'StringPrompt',
      val: { content: 'Hi' },
      tags: ['a'],
      aliases: ['latest', 'staging'],
    })
    const val = {
      _type: 'StringPrompt',
      _class_name: 'StringPrompt',
      _bases: ['Prompt', 'Object', 'BaseModel'],
      content: 'W',
      // Leads to another object.
      name: 'Woven',
    }
    await post('/obj/create', { obj: { project_id: project, object_id: 'woven', val } })
    expect((await read('woven', '?label=latest')).body).toMatchObject({
      name: 'woven',
      version: 1,
      prompt: 'W',
    })
  })

  it('move labels to another version', async () => {
    const { create, read, patch, key } = await openPrompts()
    await create({ name: 'p', prompt: '1', labels: ['production'] })
    await create({ name: 'p', prompt: '2' })
    const moved = await patch(
      `${BASE}/p/versions/2`,
      { newLabels: ['production', 'latest'] },
      { key },
    )
    expect(moved.body).toMatchObject({ version: 2, labels: ['production', 'latest'] })
    expect((await read('p')).body.prompt).toBe('2')
    const refused = await patch(`${BASE}/p/versions/2`, { newLabels: ['v1'] }, { key })
    expect(refused).toMatchObject({ status: 422, body: { error: { param: 'newLabels[0]' } } })
  })

  it('are listed with their versions, labels and tags, which later versions keep', async () => {
    const { create, get, key } = await openPrompts()
    await create({ name: 'a', prompt: '1', labels: ['production'], tags: ['x'] })
    await create({ name: 'b', prompt: [] })
    await create({ name: 'a', prompt: '2', config: { n: 1 } })
    const { body } = await get(`${BASE}?limit=1`, { key })
    expect(body.meta).toEqual({ page: 1, limit: 1, totalItems: 2, totalPages: 2 })
    expect(body.data).toMatchObject([
      {
        name: 'a',
        type: 'text',
        versions: [1, 2],
        labels: ['production', 'latest'],
        tags: ['x'],
        lastConfig: { n: 1 },
      },
    ])
    const names = async (query: string) =>
      (await get(`${BASE}?${query}`, { key })).body.data.map(({ name }: { name: string }) => name)
    expect(await names('tag=x')).toEqual(['a'])
    expect(await names('label=production')).toEqual(['a'])
    expect(await names('name=b')).toEqual(['b'])
    expect(await names('fromUpdatedAt=2200-01-01T00:00:00Z')).toEqual([])
  })

  it('are deleted one by one, by label or whole, with entries in the audit list', async () => {
    const app = await openPrompts()
    const { create, read, key } = app
    for (const prompt of ['1', '2', '3'])
      await create({ name: 'p', prompt, labels: [`l${prompt}`] })
    expect((await app.delete(`${BASE}/p?version=1`, { key })).status).toBe(204)
    expect((await app.delete(`${BASE}/p?label=l2`, { key })).status).toBe(204)
    expect((await read('p', '?version=2')).status).toBe(404)
    expect((await read('p', '?version=3')).status).toBe(200)
    expect((await app.delete(`${BASE}/p`, { key })).status).toBe(204)
    const { status, body } = await read('p', '?label=latest')
    expect(status).toBe(404)
    expect(body.message).toBe('There is no prompt "p" with label "latest".')
    const actions = (await app.get('/v1/audit')).body.data.map(
      ({ action }: { action: string }) => action,
    )
    expect(actions.slice(0, 3)).toEqual(['objects.delete', 'objects.delete', 'objects.delete'])
  })

  it('do not take the name of another object, nor read it', async () => {
    const { create, read, post } = await openPrompts()
    await post('/obj/create', { obj: { project_id: project, object_id: 'x', val: 1 } })
    expect(await create({ name: 'x', prompt: 'p' })).toMatchObject({ status: 409 })
    expect((await read('x', '?label=latest')).status).toBe(404)
    const wrong = await create({ name: 'y', type: 'chat', prompt: 'p' })
    expect(wrong).toMatchObject({ status: 422, body: { error: { param: 'prompt' } } })
  })
})
