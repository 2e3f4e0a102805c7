import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { openWeave } from '../../src/imports/weave.ts'
import { inSqlite, PROJECT, withStores } from '../project-files/project-folders.ts'
import { spawnServer, TEST_KEY } from '../support/spawn-server.ts'
import { makeTempDir } from '../support/temp-dir.ts'
import { importInto, importTwice, optionsOf, recordsOf, serveApi } from './importing.ts'

const SOURCE = 'acme/source'
const named = { project_id: SOURCE, id: 'call-1' }
const START = {
  ...named,
  trace_id: 'trace-1',
  thread_id: 'thread-1',
  op_name: 'answer',
  started_at: '2026-05-28T20:26:40.123457Z',
  attributes: { kind: 'llm' },
  inputs: { model: 'gpt-5.4', order: JSON.rawJSON('9007199254740993') },
}
const END = {
  ...named,
  ended_at: '2026-05-28T20:26:41.023457Z',
  output: { a: 'hi' },
  exception: 'late',
  summary: { usage: { 'gpt-5.4': { requests: 1, prompt_tokens: 100, completion_tokens: 20 } } },
}

/** More than a call can have. */
const MANY_MODELS = Object.fromEntries(
  Array.from({ length: 101 }, (_, at) => [`m${at}`, { requests: 1 }]),
)

async function openSource() {
  const { url } = await spawnServer({ WEFT_DATA_DIR: makeTempDir() })
  const authorization = `Basic ${btoa(`api:${TEST_KEY}`)}`
  const send = async (path: string, init: RequestInit) => {
    const headers = { authorization, ...init.headers }
    const response = await fetch(url + path, { method: 'POST', ...init, headers })
    expect(response.status).toBe(200)
    return (await response.json()) as Record<string, string>
  }
  return {
    url,
    send,
    post: (path: string, body: object) =>
      send(path, {
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      }),
  }
}

async function filledServer(): Promise<string> {
  const { url, post } = await openSource()
  await post('/call/start', { start: START })
  await post('/call/end', { end: END })
  await post('/traces/feedback/create', {
    project_id: SOURCE,
    id: 'feedback-1',
    weave_ref: `weave:///${SOURCE}/call/call-1`,
    feedback_type: 'quality',
    payload: { score: 0.5 },
  })
  return url
}

/** A dataset in a table, an op with its source in a file, and a call that refers to both and holds a file. */
async function publishedServer() {
  const { url, send, post } = await openSource()
  const rows = [{ q: JSON.rawJSON('1.0') }, { q: 'größe' }]
  const table = await post('/table/create', { table: { project_id: SOURCE, rows } })
  const form = new FormData()
  form.set('project_id', SOURCE)
  form.set('file', new Blob(['def op(): ...']))
  const file = await send('/file/create', { body: form })
  const publish = async (object_id: string, val: object) => {
    const { digest } = await post('/obj/create', { obj: { project_id: SOURCE, object_id, val } })
    return digest ?? ''
  }
  const bases = { _type: 'Dataset', _class_name: 'Dataset', _bases: ['Object', 'BaseModel'] }
  const dataset = { ...bases, rows: `weave:///${SOURCE}/table/${table.digest}` }
  await publish('asked', { ...dataset, rows: `weave:///${SOURCE}/table/none`, name: 'first' })
  const custom = { _type: 'CustomWeaveType', files: { 'obj.py': file.digest } }
  const digests = {
    dataset: await publish('asked', dataset),
    op: await publish('act', { ...custom, weave_type: { type: 'Op' } }),
  }
  const asked = `weave:///${SOURCE}/object/asked:${digests.dataset}`
  await send('/objs/asked/aliases', {
    method: 'PUT',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ project_id: SOURCE, digest: digests.dataset, aliases: ['best'] }),
  })
  const inputs = {
    example: `${asked}/attr/rows/id/x`,
    held: { ...custom, weave_type: { type: 'F' } },
  }
  await post('/call/start', {
    start: { ...START, op_name: `weave:///${SOURCE}/op/act:${digests.op}`, inputs },
  })
  await post('/feedback/create', {
    project_id: SOURCE,
    id: 'feedback-2',
    weave_ref: asked,
    feedback_type: 'quality',
    payload: { score: 1 },
  })
  return { url, digests, table: table.digest ?? '', file: file.digest ?? '' }
}

describe('weft import --from weave', () => {
  it('reads calls and feedback of another Weft, and changes nothing the second time', async () => {
    const options = {
      ...optionsOf(await filledServer(), { WANDB_API_KEY: TEST_KEY }),
      sourceName: SOURCE,
    }
    const { report, records } = await importTwice(openWeave, options)
    expect(report).toMatchObject({ counts: { calls: 1, feedback: 1 }, left: {} })
    const { project_id: _project, ...start } = START
    const { project_id: _same, ...end } = END
    const inputs = { model: 'gpt-5.4', order: Number('9007199254740993') }
    expect(records.calls).toMatchObject([{ ...start, ...end, inputs }])
    expect(records.files['/calls.jsonl']).toBeDefined()
    expect(JSON.stringify(records.files)).toContain('9007199254740993')
    expect(records.feedback).toMatchObject([
      {
        id: 'feedback-1',
        weave_ref: 'weave:///acme/demo/call/call-1',
        feedback_type: 'quality',
        payload: { score: 0.5 },
      },
    ])
  })

  it('reads objects with their tables, rows and files, to which the refs of calls and feedback lead', async () => {
    const { url, digests, table, file } = await publishedServer()
    const options = { ...optionsOf(url, { WANDB_API_KEY: TEST_KEY }), sourceName: SOURCE }
    const { report, records } = await importTwice(openWeave, options)
    const counts = { calls: 1, feedback: 1, datasets: 0, rows: 2, objects: 3, files: 2 }
    expect(report).toEqual({
      counts,
      left: { 'tables that are missing there, or have another digest here': 1 },
    })
    const versions = records.objects.map(({ object_id, version_index }) => [
      object_id,
      version_index,
    ])
    expect(versions).toEqual([
      ['asked', 0],
      ['asked', 1],
      ['act', 0],
    ])
    const [, dataset, op] = records.objects
    expect(dataset?.val).toMatchObject({ rows: `weave:///${PROJECT}/table/${table}` })
    expect(dataset?.digest).not.toBe(digests.dataset)
    // The content of the op names no project, so that its digest is the same.
    expect(op).toMatchObject({ digest: digests.op, kind: 'op' })
    expect(records.rows).toEqual([{ q: 1 }, { q: 'größe' }])
    expect(JSON.stringify(records.files)).toContain('1.0')
    expect(records.calls).toMatchObject([
      {
        op_name: `weave:///${PROJECT}/op/act:${digests.op}`,
        inputs: { example: `weave:///${PROJECT}/object/asked:${digests.dataset}/attr/rows/id/x` },
      },
    ])
    expect(records.feedback).toMatchObject([
      { weave_ref: `weave:///${PROJECT}/object/asked:${digests.dataset}` },
    ])
    expect(JSON.stringify(records.files)).toContain('def op(): ...')
    expect(JSON.stringify(records.files)).toContain(file)
    const dataDir = makeTempDir()
    await importInto(dataDir, openWeave(options))
    await withStores(inSqlite(dataDir), async ({ objects }) => {
      for (const name of [digests.dataset, 'best', 'v1', 'latest']) {
        const found = await objects.findObject(PROJECT, 'asked', name)
        expect(found?.digest).toBe(dataset?.digest)
      }
    })
  })

  it('reads calls out of a file of JSON lines, and counts those that cannot be stored', async () => {
    const path = join(makeTempDir(), 'calls.jsonl')
    const lines = [
      { ...START, ...END },
      { id: 'call-2' },
      { ...START, id: ' call-3' },
      { ...START, id: 'call-4', thread_id: 'x'.repeat(129) },
      { ...START, ...END, id: 'call-5', summary: { usage: MANY_MODELS } },
    ].map((call) => JSON.stringify(call))
    writeFileSync(path, `${lines.join('\n')}\n`)
    const dataDir = makeTempDir()
    const { counts, left } = await importInto(dataDir, openWeave(optionsOf(path)))
    expect(counts.calls).toBe(1)
    expect(left).toEqual({
      'calls whose id, time or another field cannot be stored': 3,
      'calls: end.summary.usage must have at most 100 models': 1,
    })
    expect((await recordsOf(dataDir)).calls).toMatchObject([{ id: 'call-1', exception: 'late' }])
  })

  it('pages objects in an order that holds for those which were created together', async () => {
    const { url, requests } = await serveApi({ 'POST /objs/query': { objs: [] } })
    const source = openWeave({ ...optionsOf(url), sourceName: SOURCE })
    const objects = source.stages.find(({ name }) => name === 'objects')
    for await (const page of objects?.pages(null) ?? []) expect(page).toEqual({ cursor: '' })
    const sort_by = ['created_at', 'object_id'].map((field) => ({ field, direction: 'asc' }))
    expect(requests).toMatchObject([{ body: { sort_by } }])
  })

  it('needs the project of the source, and a file that is there', () => {
    expect(() => openWeave(optionsOf('http://127.0.0.1:1'))).toThrow(/--name must be/)
    expect(() => openWeave(optionsOf('/nowhere/calls.jsonl'))).toThrow(/is missing/)
  })
})
