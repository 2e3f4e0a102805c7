import { describe, expect, it } from 'vitest'
import { newObjectOf } from '../../src/domain/objects/object-kinds.ts'
import { buildTestApp, type TestApp } from '../support/build-test-app.ts'
import { MODEL_VAL, OP_VAL, objectOf, PROJECT, postForm } from './object-fixtures.ts'

const TIME = expect.stringMatching(/^\d{4}-.*Z$/)
const DIGEST = expect.stringMatching(/^[A-Za-z0-9]{43}$/)
const DATASET = `weave:///${PROJECT}/object/data:abc`
const DATASET_CLASSES = {
  _type: 'Dataset',
  _class_name: 'Dataset',
  _bases: ['Object', 'BaseModel'],
}
const SCORER = `weave:///${PROJECT}/object/scorer:abc`
const SOURCE = 'import weave\n\n@weave.op\ndef add(a, b):\n    return a + b  # ä\n'

/** A kind, a body that makes one, the name of what it makes, and what it says when it is read. */
const KINDS = [
  ['ops', { name: 'Add Up', source_code: SOURCE }, 'add_up', { code: SOURCE }],
  [
    'datasets',
    { name: 'My/Data', description: 'Rows.', rows: [{ n: 1.0 }, { n: 2 }] },
    'my_data',
    {
      name: 'My/Data',
      description: 'Rows.',
      rows: expect.stringMatching(/^weave:\/\/\/acme\/demo\/table\/[0-9a-f]{64}$/),
    },
  ],
  [
    'models',
    { name: 'Bot', source_code: SOURCE, attributes: { temperature: 0.5, big: 1 } },
    'bot',
    {
      name: 'Bot',
      description: null,
      source_code: SOURCE,
      attributes: { temperature: 0.5, big: 1 },
    },
  ],
  [
    'scorers',
    { name: 'Stars', description: 'Counts stars.', op_source_code: SOURCE },
    'stars',
    {
      name: 'Stars',
      description: 'Counts stars.',
      score_op: expect.stringMatching(/^weave:\/\/\/acme\/demo\/op\/stars_score:[A-Za-z0-9]{43}$/),
    },
  ],
  [
    'evaluations',
    { name: 'Exam', dataset: DATASET, scorers: [SCORER], trials: 3, eval_attributes: { of: 'us' } },
    'exam',
    {
      name: 'Exam',
      description: null,
      dataset: DATASET,
      scorers: [SCORER],
      trials: 3,
      evaluation_name: null,
      evaluate_op: null,
      predict_and_score_op: null,
      summarize_op: null,
    },
  ],
] as const

const REF_FIELDS: Readonly<Record<string, string>> = {
  models: 'model_ref',
  scorers: 'scorer',
  evaluations: 'evaluation_ref',
}

function linesOf(text: string) {
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line))
}

async function listed({ get }: Pick<TestApp, 'get'>, url: string) {
  const { status, text } = await get(url)
  expect([url, status]).toEqual([url, 200])
  return linesOf(text)
}

describe.each(['', '/traces'])('objects by kind below %s/', (root) => {
  it.each(KINDS)('%s are published, read, listed and deleted', async (path, body, id, said) => {
    const { post, get, delete: remove } = await buildTestApp()
    const url = `${root}/v2/${PROJECT}/${path}`
    const first = await post(url, body)
    const { digest } = first.body
    const refField = REF_FIELDS[path]
    const ref = refField ? { [refField]: `weave:///${PROJECT}/object/${id}:${digest}` } : {}
    const made = { digest: DIGEST, object_id: id, version_index: 0 }
    expect(first.body).toEqual({ ...made, ...ref })
    expect((await post(url, body)).body).toEqual(first.body)
    const second = await post(url, { ...body, ...changeOf(path) })
    expect(second.body).toMatchObject({ object_id: id, version_index: 1 })

    const version = { digest, object_id: id, version_index: 0, created_at: TIME, ...said }
    for (const name of [digest, 'v0']) {
      expect((await get(`${url}/${id}/versions/${name}`)).body).toEqual(version)
    }
    const own = (versions: { object_id: string; version_index: number }[]) =>
      versions.filter(({ object_id }) => object_id === id)
    const all = own(await listed({ get }, url))
    expect(all[0]).toEqual(version)
    expect(all.map(({ version_index }) => version_index)).toEqual([0, 1])
    expect(await listed({ get }, `${url}?limit=1&offset=1`)).toHaveLength(1)
    expect(await listed({ get }, `${url}?limit=0`)).toEqual([])

    expect((await remove(`${url}/${id}?digests=${digest}&digests=v0`)).body).toEqual({
      num_deleted: 1,
    })
    expect((await remove(`${url}/${id}`)).body).toEqual({ num_deleted: 1 })
    for (const response of [
      await remove(`${url}/${id}`),
      await get(`${url}/${id}/versions/latest`),
      await get(`${url}/${id}/versions/v7`),
    ]) {
      expect([response.status, response.body.error.code]).toEqual([404, 'object_not_found'])
    }
  })
})

function changeOf(path: string): object {
  if (path === 'ops') return { source_code: 'changed' }
  return path === 'datasets' ? { rows: [{ n: 3 }] } : { description: 'changed' }
}

describe('objects by kind', () => {
  it('are objects like any other, with classes and contents', async () => {
    const { post } = await buildTestApp()
    for (const [path, body] of KINDS) await post(`/v2/${PROJECT}/${path}`, body)
    const { body } = await post('/objs/query', { project_id: PROJECT })
    const shown = body.objs.map((obj: Record<string, unknown>) =>
      [obj.object_id, obj.kind, obj.base_object_class].join(' '),
    )
    expect(shown).toEqual([
      ...['add_up op ', 'my_data object Dataset', 'bot object Model', 'stars_score op '],
      ...['stars object Scorer', 'exam object Evaluation'],
    ])
    const rows = body.objs[1].val.rows
    const read = await post('/refs/read_batch', { refs: [rows, `${rows}/index/1/key/n`] })
    expect(read.text).toBe('{"vals":[[{"n":1},{"n":2}],2]}')
    expect(body.objs[5].val).toMatchObject({ of: 'us', trials: 3, _class_name: 'Evaluation' })
  })

  it('keep the digits of numbers and the names of what a user sends', async () => {
    const { post, get } = await buildTestApp()
    const url = `/traces/v2/${PROJECT}/models`
    const text =
      '{"name":"m","source_code":"","attributes":{"n":12345678901234567890,"wb_user_id":1.5}}'
    const made = await post(url, text)
    const { text: read } = await get(`${url}/m/versions/${made.body.digest}`)
    expect(read).toContain('"attributes":{"n":12345678901234567890,"wb_user_id":1.5}')
  })

  it('have names that can be read, of whatever letters they are made', async () => {
    const app = await buildTestApp()
    const base = `/v2/${PROJECT}`
    const read = async (path: string, id: string) =>
      (await app.get(`${base}/${path}/${encodeURIComponent(id)}/versions/v0`)).status
    for (const name of ['İ'.repeat(128), `a${'𝒳'.repeat(63)}`, 'b'.repeat(128)]) {
      const made = await app.post(`${base}/scorers`, { name, op_source_code: SOURCE })
      const { object_id, scorer } = made.body
      expect([name, await read('scorers', object_id)]).toEqual([name, 200])
      const { vals } = (await app.post('/refs/read_batch', { refs: [scorer] })).body
      const [, op] = /op\/(.*):/.exec(vals[0].score) ?? []
      expect([name, await read('ops', op ?? '')]).toEqual([name, 200])
    }
  })

  it('are found when clients published them, even with missing members', async () => {
    const app = await buildTestApp()
    await app.post('/obj/create', objectOf({ object_id: 'bare', val: OP_VAL }))
    await app.post('/obj/create', objectOf({ object_id: 'sub', val: MODEL_VAL }))
    const [op] = await listed(app, `/v2/${PROJECT}/ops`)
    expect([op.object_id, op.code]).toEqual(['bare', ''])
    const [model] = await listed(app, `/v2/${PROJECT}/models`)
    expect(model).toMatchObject({ object_id: 'sub', name: 'm', source_code: '', attributes: {} })
  })

  it('are refused with a source that is too long, and otherwise show it from wherever it came', async () => {
    const app = await buildTestApp()
    for (const [file, expected] of [
      ['x'.repeat(4 * 1024 * 1024), 200],
      ['x'.repeat(4 * 1024 * 1024 + 1), 422],
    ] as const) {
      const { body } = await postForm(app, '/file/create', { project_id: PROJECT, file })
      const val = { ...OP_VAL, files: { 'obj.py': body.digest } }
      const made = await app.post('/obj/create', objectOf({ object_id: 'long', val }))
      const read = await app.get(`/v2/${PROJECT}/ops/long/versions/${made.body.digest}`)
      expect([read.status, read.body.error?.param ?? read.body.code]).toEqual([
        expected,
        expected === 200 ? file : 'digest',
      ])
    }
    // A list shows all versions.
    await app.post('/obj/create', objectOf({ object_id: 'bare', val: OP_VAL }))
    const [whole, ...rest] = await listed(app, `/v2/${PROJECT}/ops`)
    expect(whole.code).toHaveLength(4 * 1024 * 1024)
    expect(rest).toMatchObject([
      { object_id: 'long', version_index: 1, code: '' },
      { object_id: 'bare', code: '' },
    ])
  })

  it('of one kind are not read or deleted as another', async () => {
    const { post, get, delete: remove } = await buildTestApp()
    await post(`/v2/${PROJECT}/ops`, { name: 'x', source_code: '' })
    for (const response of [
      await get(`/v2/${PROJECT}/models/x/versions/v0`),
      await remove(`/v2/${PROJECT}/models/x`),
      await remove(`/v2/${PROJECT}/models/x?digests=v0`),
    ]) {
      expect([response.status, response.body.error.code]).toEqual([404, 'object_not_found'])
    }
    expect((await get(`/v2/${PROJECT}/ops/x/versions/v0?eager=true`)).status).toBe(200)
  })

  it('with more versions than one list shows are deleted by name and all at once', async () => {
    const { deps, post, delete: remove } = await buildTestApp()
    const url = `/v2/${PROJECT}/datasets/long`
    const named = { project_id: PROJECT, object_id: 'long', svc_user_id: 'u-1', created_at_us: 1 }
    const versions = Array.from({ length: 10_003 }, (_, n) =>
      newObjectOf({ ...DATASET_CLASSES, n }, named),
    )
    for (let at = 0; at < versions.length; at += 500) {
      const part = versions.slice(at, at + 500)
      await Promise.all(part.map((version) => deps.objects.createObject(version)))
    }
    const last = versions.at(-1)?.digest
    expect((await remove(`${url}?digests=${last}&digests=latest`)).body).toEqual({ num_deleted: 1 })
    const again = await remove(`${url}?digests=v0&digests=${last}`)
    expect([again.status, again.body.error.param]).toEqual([404, 'digests[1]'])
    expect((await remove(url)).body).toEqual({ num_deleted: 10_002 })
    expect((await post('/objs/query', { project_id: PROJECT })).body.objs).toEqual([])
  })

  it('refuse bad fields by their path, and store nothing', async () => {
    const { post } = await buildTestApp()
    const bad = [
      ['ops', { name: 1 }, 'name'],
      ['ops', { source_code: 'a'.repeat(1024 * 1024 + 1) }, 'source_code'],
      ['datasets', { rows: [1] }, 'rows[0]'],
      ['datasets', {}, 'rows'],
      ['models', { name: 'm' }, 'source_code'],
      ['models', { name: 'm', source_code: '', attributes: { _type: 'X' } }, 'attributes._type'],
      ['scorers', { name: '', op_source_code: '' }, 'name'],
      ['evaluations', { name: 'e', dataset: 'none' }, 'dataset'],
      ['evaluations', { name: 'e', dataset: DATASET, trials: 0 }, 'trials'],
      [
        'evaluations',
        { name: 'e', dataset: DATASET, eval_attributes: { trials: 2 } },
        'eval_attributes.trials',
      ],
      ['evaluations', { name: 'e', dataset: DATASET, more: 1 }, 'more'],
    ] as const
    for (const [path, body, param] of bad) {
      const { status, body: response } = await post(`/v2/${PROJECT}/${path}`, body)
      expect([path, status, response.error.code, response.error.param]).toEqual([
        ...[path, 422, 'validation_failed', param],
      ])
    }
    expect((await post('/objs/query', { project_id: PROJECT })).body.objs).toEqual([])
  })

  it('need their scope and the project', async () => {
    const app = await buildTestApp()
    const elsewhere = await app.createKey({ projects: ['acme/other'] })
    const [readOnly, writeOnly] = [
      await app.createKey({ scopes: ['traces:read'] }),
      await app.createKey({ scopes: ['traces:write'] }),
    ]
    for (const [path, body, id] of KINDS) {
      const url = `/v2/${PROJECT}/${path}`
      const requests = [
        (key: string | null) => app.post(url, body, { key }),
        (key: string | null) => app.delete(`${url}/${id}`, { key }),
        (key: string | null) => app.get(url, { key }),
        (key: string | null) => app.get(`${url}/${id}/versions/v0`, { key }),
      ]
      for (const [at, send] of requests.entries()) {
        const codes = []
        for (const key of [null, at < 2 ? readOnly : writeOnly, elsewhere]) {
          codes.push((await send(key)).body?.error?.code)
        }
        expect([url, at, ...codes]).toEqual([
          ...[url, at, 'missing_api_key', 'scope_missing', 'project_forbidden'],
        ])
      }
    }
  })
})
