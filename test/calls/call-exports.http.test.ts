import { describe, expect, it } from 'vitest'
import { itRefusesBadRequests } from '../support/bad-requests.ts'
import { buildTestApp, type TestApp } from '../support/build-test-app.ts'
import { ENDED, STARTED } from './call-fixtures.ts'

const PROJECT = 'acme/demo'
const url = '/calls/exports'
const body = { project_id: PROJECT }

async function record(app: TestApp, id: string, { start = {}, end = {} }: Record<string, object>) {
  await app.post('/call/start', { start: { ...STARTED, id, trace_id: 't', ...start } })
  await app.post('/call/end', { end: { ...ENDED, id, ...end } })
}

async function pathOf(app: TestApp, fields: object = {}, options = {}): Promise<string> {
  const response = await app.post(url, { ...body, ...fields }, options)
  expect([response.status, response.body.error]).toEqual([200, undefined])
  return response.body.path
}

const fetched = (app: TestApp, path: string) => app.get(path, { key: null })

describe('POST /calls/exports and the download', () => {
  it('gives the lines of a list as a file, without a key', async () => {
    const app = await buildTestApp()
    await record(app, 'a', {})
    await record(app, 'b', { start: { op_name: 'other' } })
    const filter = { op_names: [STARTED.op_name] }
    const file = await fetched(app, await pathOf(app, { filter, include_costs: true }))
    expect(file.headers['content-disposition']).toBe('attachment; filename="acme-demo-calls.jsonl"')
    expect(file.headers['cache-control']).toBe('no-store')
    const list = await app.post('/calls/stream_query', { ...body, filter, include_costs: true })
    expect(file.text).toBe(list.text)
    expect(file.text).toContain('"id":"a"')
  })

  it('writes CSV with renamed fields, quotes and whole numbers, and without formulas', async () => {
    const app = await buildTestApp()
    const usage = { 'gpt-4o': { prompt_tokens: 1000 }, other: { input_tokens: 2 } }
    await record(app, 'a', {
      start: { inputs: { q: '=1+1', 'a.b': 'x,"y"\nz' } },
      end: { output: { n: 7 }, summary: { usage } },
    })
    await app.post('/call/start', {
      start: { ...STARTED, id: 'b', trace_id: 't', inputs: { q: -5 } },
    })
    const columns = ['id', 'status', 'total_tokens', 'models', 'total_cost']
    const path = await pathOf(app, {
      format: 'csv',
      include_costs: true,
      columns: [...columns, 'inputs.q', 'inputs.a\\.b', 'output', 'ended_at'],
    })
    const file = await fetched(app, path)
    expect(file.headers['content-type']).toBe('text/csv; charset=utf-8')
    const [head, first, ...more] = file.text.split('\r\n')
    expect(head).toBe(`${columns.join()},inputs.q,inputs.a\\.b,output,ended_at`)
    expect(first).toMatch(
      /^a,success,1002,"gpt-4o, other",0\.0025,'=1\+1,"x,""y""\nz","\{""n"":7\}",2026-/,
    )
    expect(more).toEqual(['b,running,,,,-5,,,', ''])
  })

  it('keeps the digits of long numbers in CSV', async () => {
    const app = await buildTestApp()
    const start = JSON.stringify({ ...STARTED, id: 'a', inputs: { n: 'N' } })
    await app.post('/call/start', `{"start":${start.replace('"N"', '12345678901234567890')}}`)
    const file = await fetched(app, await pathOf(app, { format: 'csv', columns: ['inputs.n'] }))
    expect(file.text).toBe('inputs.n\r\n12345678901234567890\r\n')
  })

  it('has a line in CSV for every call, also of one empty column', async () => {
    const app = await buildTestApp()
    await record(app, 'a', { start: { inputs: {} } })
    await record(app, 'b', { start: { inputs: { q: '' } } })
    const file = await fetched(app, await pathOf(app, { format: 'csv', columns: ['inputs.q'] }))
    expect(file.text).toBe('inputs.q\r\n""\r\n""\r\n')
  })

  it('works once', async () => {
    const app = await buildTestApp()
    const path = await pathOf(app)
    expect((await app.app.inject({ method: 'HEAD', url: path })).statusCode).toBe(405)
    expect((await fetched(app, path)).status).toBe(200)
    for (const used of [path, `${url}/none`]) {
      const again = await fetched(app, used)
      expect([again.status, again.body.error.code]).toEqual([404, 'export_not_found'])
    }
  })

  it('gives nothing for a key that was revoked meanwhile', async () => {
    const app = await buildTestApp()
    const key = await app.createKey({ scopes: ['traces:read'], projects: [PROJECT] })
    const path = await pathOf(app, {}, { key })
    const listed = await app.deps.keys.listKeys()
    await app.deps.keys.revokeKey(listed.at(-1)!.id)
    const { status, body: response } = await fetched(app, path)
    expect([status, response.error.code]).toEqual([404, 'export_not_found'])
  })

  it('reads no refs to a project that was taken from the key meanwhile', async () => {
    const app = await buildTestApp()
    const obj = { project_id: 'acme/other', object_id: 'far', val: { n: 1 } }
    const { digest } = (await app.post('/obj/create', { obj })).body
    const far = `weave:///acme/other/object/far:${digest}`
    await record(app, 'a', { start: { inputs: { far } } })
    const key = await app.createKey({ scopes: ['traces:read'], projects: ['acme/*'] })
    const fields = { columns: ['inputs'], expand_columns: ['inputs.far'] }
    const inputsOf = async (path: string) => JSON.parse((await fetched(app, path)).text).inputs
    const before = await inputsOf(await pathOf(app, fields, { key }))
    expect(before).toEqual({ far: { n: 1, _ref: far } })
    const path = await pathOf(app, fields, { key })
    const stored = (await app.deps.keys.listKeys()).at(-1)!
    const settings = { ...stored, projects: [PROJECT] }
    await app.deps.keys.updateKey({ id: stored.id, settings })
    await expect(inputsOf(path)).resolves.toEqual({ far })
  })

  it('refuses what the download would fail with', async () => {
    const app = await buildTestApp()
    for (const [fields, param] of [
      [{ query: { $expr: { $no: [] } } }, 'query.$expr'],
      [{ columns: ['nothing'] }, 'columns[0]'],
      [{ format: 'csv', columns: ['id', 'nothing.here'] }, 'columns[1]'],
      [{ format: 'csv' }, 'columns'],
      [{ expand_columns: ['id'] }, 'expand_columns[0]'],
      [{ format: 'xml' }, 'format'],
      [{ preview_bodies: true }, 'preview_bodies'],
    ] as const) {
      const { status, body: response } = await app.post(url, { ...body, ...fields })
      expect([status, response.error.param]).toEqual([422, param])
    }
    const key = await app.createKey({ projects: ['acme/other'] })
    expect((await app.post(url, body, { key })).body.error.code).toBe('project_forbidden')
  })

  itRefusesBadRequests({ url, body, scope: 'traces:read' })
})
