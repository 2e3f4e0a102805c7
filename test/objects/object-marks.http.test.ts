import { describe, expect, it } from 'vitest'
import { buildTestApp, type TestApp } from '../support/build-test-app.ts'
import { objectOf, PROJECT } from './object-fixtures.ts'

const PUBLISHED = { project_id: PROJECT, object_id: 'thing' }

/** An app with an object of two versions. */
async function publish(): Promise<TestApp & { readonly v0: string; readonly v1: string }> {
  const test = await buildTestApp()
  const [v0, v1] = [1, 2].map((a) => test.post('/obj/create', objectOf({ val: { a } })))
  const digests = [(await v0)?.body.digest, (await v1)?.body.digest]
  return { ...test, v0: digests[0], v1: digests[1] }
}

async function readMarks({ post }: Pick<TestApp, 'post'>, digest: string) {
  const { body } = await post('/obj/read', {
    ...PUBLISHED,
    digest,
    include_tags_and_aliases: true,
  })
  return body.error ? body.error.code : { tags: body.obj.tags, aliases: body.obj.aliases }
}

describe.each(['', '/traces'])('tags of versions below %s/', (root) => {
  it('are put on one version, sorted, each once, and taken away', async () => {
    const app = await publish()
    const url = `${root}/objs/thing/versions/${app.v0}/tags`
    const add = (tags: string[]) => app.put(url, { project_id: PROJECT, tags })
    expect((await add(['b', 'under review', 'b'])).body).toEqual({})
    expect((await add(['a', 'b', 'latest', 'v2'])).status).toBe(200)
    expect(await readMarks(app, 'v0')).toEqual({
      tags: ['a', 'b', 'latest', 'under review', 'v2'],
      aliases: [],
    })
    expect(await readMarks(app, 'v1')).toEqual({ tags: [], aliases: ['latest'] })
    const gone = { project_id: PROJECT, tags: ['b', 'latest', 'v2', 'never'] }
    expect((await app.post(`${url}/remove`, gone)).body).toEqual({})
    expect((await readMarks(app, 'v0')).tags).toEqual(['a', 'under review'])
    const listed = await app.get(`${root}/tags?project_id=${PROJECT}`)
    expect(listed.body).toEqual({ tags: ['a', 'under review'] })
  })

  it('responds with object_not_found for a version that is unknown or deleted', async () => {
    const app = await publish()
    const body = { project_id: PROJECT, tags: ['t'] }
    await app.post('/obj/delete', { ...PUBLISHED, digests: ['v0'] })
    for (const path of ['thing/versions/v0', 'thing/versions/v7', 'other/versions/latest']) {
      const { status, body: response } = await app.put(`${root}/objs/${path}/tags`, body)
      expect([path, status, response.error.code]).toEqual([path, 404, 'object_not_found'])
    }
    expect((await app.get(`${root}/tags?project_id=${PROJECT}`)).body.tags).toEqual([])
  })

  it.each(['', ' lead', 'two  spaces', 'my.tag', 'a'.repeat(257), 1])(
    'refuses the tag %j',
    async (tag) => {
      const { put } = await buildTestApp()
      const body = { project_id: PROJECT, tags: ['good', tag] }
      const { status, body: response } = await put(`${root}/objs/thing/versions/v0/tags`, body)
      expect([status, response.error.code, response.error.param]).toEqual([
        422,
        'validation_failed',
        'tags[1]',
      ])
    },
  )

  it('filter lists of versions together with aliases', async () => {
    const app = await publish()
    await app.post('/obj/create', objectOf({ object_id: 'other' }))
    const tag = (version: string, tags: string[]) =>
      app.put(`${root}/objs/${version}/tags`, { project_id: PROJECT, tags })
    await tag('thing/versions/v0', ['red', 'blue'])
    await tag('other/versions/v0', ['red'])
    const body = { project_id: PROJECT, digest: 'v0', aliases: ['stable'] }
    await app.put(`${root}/objs/thing/aliases`, body)
    const list = async (filter: object) => {
      const { body: found } = await app.post(`${root}/objs/query`, { project_id: PROJECT, filter })
      return found.objs.map((obj: { object_id: string; version_index: number }) =>
        [obj.object_id, obj.version_index].join(':'),
      )
    }
    expect(await list({ tags: ['red'] })).toEqual(['thing:0', 'other:0'])
    expect(await list({ tags: ['blue', 'none'] })).toEqual(['thing:0'])
    expect(await list({ tags: ['none'] })).toEqual([])
    expect(await list({ aliases: ['stable'] })).toEqual(['thing:0'])
    expect(await list({ aliases: ['latest', 'stable'] })).toEqual(['thing:0', 'thing:1', 'other:0'])
    expect(await list({ aliases: ['stable'], tags: ['red'] })).toEqual(['thing:0'])
    expect(await list({ aliases: ['stable'], latest_only: true })).toEqual([])
    expect(await list({ tags: [], aliases: [] })).toHaveLength(3)
  })
})

describe.each(['', '/traces'])('aliases below %s/', (root) => {
  const set = ({ put }: TestApp, digest: string, aliases: unknown[]) =>
    put(`${root}/objs/thing/aliases`, { project_id: PROJECT, digest, aliases })

  it('lead to one version wherever one is named, and move', async () => {
    const app = await publish()
    expect((await set(app, app.v0, ['prod', 'has spaces', 'my-deploy.v2'])).body).toEqual({})
    expect((await readMarks(app, 'prod')).aliases).toEqual(['has spaces', 'my-deploy.v2', 'prod'])
    expect((await readMarks(app, 'has spaces')).aliases).toHaveLength(3)
    const ref = `weave:///${PROJECT}/object/thing:prod/attr/a`
    const readRef = async () => (await app.post(`${root}/refs/read_batch`, { refs: [ref] })).body
    expect(await readRef()).toEqual({ vals: [1] })
    await set(app, 'latest', ['prod'])
    expect((await readMarks(app, 'v1')).aliases).toEqual(['latest', 'prod'])
    expect((await readMarks(app, 'v0')).aliases).toEqual(['has spaces', 'my-deploy.v2'])
    expect(await readRef()).toEqual({ vals: [2] })
    const listed = await app.get(`${root}/aliases?project_id=${PROJECT}`)
    expect(listed.body).toEqual({ aliases: ['has spaces', 'my-deploy.v2', 'prod'] })
  })

  it('are taken away, unknown ones too, and lead nowhere then', async () => {
    const app = await publish()
    await set(app, 'v0', ['prod', 'kept'])
    const body = { project_id: PROJECT, aliases: ['prod', 'never'] }
    expect((await app.post(`${root}/objs/thing/aliases/remove`, body)).body).toEqual({})
    expect(await readMarks(app, 'prod')).toBe('object_not_found')
    expect((await readMarks(app, 'kept')).aliases).toEqual(['kept'])
  })

  it('never hide a digest, and delete and come back with their version', async () => {
    const app = await publish()
    await set(app, 'v1', [app.v0, 'prod'])
    expect((await app.post('/obj/read', { ...PUBLISHED, digest: app.v0 })).body.obj).toMatchObject({
      version_index: 0,
    })
    await app.post('/obj/delete', { ...PUBLISHED, digests: ['prod'] })
    expect(await readMarks(app, 'prod')).toBe('object_not_found')
    expect((await app.get(`${root}/aliases?project_id=${PROJECT}`)).body.aliases).toEqual([])
    expect((await set(app, 'v1', ['more'])).body.error.code).toBe('object_not_found')
    await app.post('/obj/create', objectOf({ val: { a: 2 } }))
    expect((await readMarks(app, 'prod')).aliases).toContain('prod')
  })

  it.each(['latest', 'v0', 'v123', 'a/b', 'a:b', '', '   ', '\t', 'a'.repeat(129)])(
    'refuses the alias %j',
    async (alias) => {
      const { status, body } = await set(await buildTestApp(), 'v0', [alias])
      expect([status, body.error.code, body.error.param]).toEqual([
        422,
        'validation_failed',
        'aliases[0]',
      ])
    },
  )
})

describe('the routes of tags and aliases', () => {
  const project_id = PROJECT
  const routes = [
    ['PUT', '/objs/thing/versions/v0/tags', { project_id, tags: ['t'] }, 'traces:read'],
    ['POST', '/objs/thing/versions/v0/tags/remove', { project_id, tags: ['t'] }, 'traces:read'],
    ['PUT', '/objs/thing/aliases', { project_id, digest: 'v0', aliases: ['a'] }, 'traces:read'],
    ['POST', '/objs/thing/aliases/remove', { project_id, aliases: ['a'] }, 'traces:read'],
    ['GET', `/tags?project_id=${PROJECT}`, undefined, 'traces:write'],
    ['GET', `/aliases?project_id=${PROJECT}`, undefined, 'traces:write'],
  ] as const

  it('need their scope and the project', async () => {
    const app = await publish()
    const send = (method: string, url: string, body: unknown, key: string | null) =>
      method === 'GET'
        ? app.get(url, { key })
        : method === 'PUT'
          ? app.put(url, body, { key })
          : app.post(url, body, { key })
    const elsewhere = await app.createKey({ projects: ['acme/other'] })
    for (const [method, url, body, otherScope] of routes) {
      const unscoped = await app.createKey({ scopes: [otherScope] })
      const codes = []
      for (const key of [null, unscoped, elsewhere]) {
        codes.push((await send(method, url, body, key)).body.error?.code)
      }
      expect([url, ...codes]).toEqual([
        url,
        'missing_api_key',
        'scope_missing',
        'project_forbidden',
      ])
      expect((await send(method, url, body, app.key)).status).toBe(200)
    }
  })

  it('refuse more than 100 names at once and 1,000 of one object', async () => {
    const app = await publish()
    const namesOf = (round: number, count: number) =>
      Array.from({ length: count }, (_, n) => `n-${round}-${n}`)
    for (const [path, field, more] of [
      ['/objs/thing/versions/v0/tags', 'tags', {}],
      ['/objs/thing/aliases', 'aliases', { digest: 'v0' }],
    ] as const) {
      const put = async (names: string[]) =>
        (await app.put(path, { project_id, ...more, [field]: names })).body.error?.param
      expect(await put(namesOf(0, 101))).toBe(field)
      for (let round = 0; round < 10; round += 1)
        expect(await put(namesOf(round, 100))).toBe(undefined)
      expect(await put(['one-more'])).toBe(field)
      expect(await put(namesOf(3, 1))).toBe(undefined)
      const marks = await readMarks(app, 'v0')
      expect(marks[field]).toHaveLength(1000)
    }
  })
})
