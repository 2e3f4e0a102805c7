import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { openWeave } from '../../src/imports/weave.ts'
import { spawnServer, TEST_KEY } from '../support/spawn-server.ts'
import { makeTempDir } from '../support/temp-dir.ts'
import { importInto, importTwice, optionsOf, recordsOf } from './importing.ts'

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

async function filledServer(): Promise<string> {
  const server = await spawnServer({ WEFT_DATA_DIR: makeTempDir() })
  const post = async (path: string, body: object) => {
    const response = await fetch(server.url + path, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        authorization: `Basic ${btoa(`api:${TEST_KEY}`)}`,
      },
      body: JSON.stringify(body),
    })
    expect(response.status).toBe(200)
  }
  await post('/call/start', { start: START })
  await post('/call/end', { end: END })
  await post('/traces/feedback/create', {
    project_id: SOURCE,
    id: 'feedback-1',
    weave_ref: `weave:///${SOURCE}/call/call-1`,
    feedback_type: 'quality',
    payload: { score: 0.5 },
  })
  return server.url
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

  it('needs the project of the source, and a file that is there', () => {
    expect(() => openWeave(optionsOf('http://127.0.0.1:1'))).toThrow(/--name must be/)
    expect(() => openWeave(optionsOf('/nowhere/calls.jsonl'))).toThrow(/is missing/)
  })
})
