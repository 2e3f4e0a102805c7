import { describe, expect, it } from 'vitest'
import { buildTestApp, type TestApp } from '../support/build-test-app.ts'
import { callTool } from './call-tool.ts'

const project_id = 'acme/demo'
const at = `/v2/${project_id}`

/** Records a finished run with one example. */
async function addRun(app: TestApp, output: string, score: number): Promise<string> {
  const post = async (path: string, body: object) => (await app.post(at + path, body)).body
  const evaluation = `weave:///${project_id}/object/e:v0`
  const model = `weave:///${project_id}/object/m:v0`
  const scorer = `weave:///${project_id}/object/exact:v0`
  const run = (await post('/evaluation_runs', { evaluation, model })).evaluation_run_id
  const inputs = { question: 'q' }
  const sent = { model, inputs, output, evaluation_run_id: run }
  const { prediction_id } = await post('/predictions', sent)
  await post('/scores', { prediction_id, scorer, value: score, evaluation_run_id: run })
  await post(`/predictions/${prediction_id}/finish`, {})
  await post(`/evaluation_runs/${run}/finish`, { summary: {} })
  return run
}

describe('the tools for evaluations', () => {
  it('list runs, the newest first, with their summary', async () => {
    const app = await buildTestApp()
    const ids = [await addRun(app, 'a', 0), await addRun(app, 'b', 1)]
    const { evaluations } = await callTool(app, 'list_evaluations', { project_id })
    expect(evaluations.map(({ id }: { id: string }) => id)).toEqual(ids.toReversed())
    expect(evaluations[0]).toMatchObject({
      evaluation: `weave:///${project_id}/object/e:v0`,
      exception: null,
      output: { exact: { mean: 1 } },
    })
    const page = await callTool(app, 'list_evaluations', { project_id, limit: 1 })
    expect(page.next).toContain('offset 1')
  })

  it('read a run by example, with the scores summed up', async () => {
    const app = await buildTestApp()
    const evaluation_id = await addRun(app, 'a'.repeat(50), 0.5)
    const read = await callTool(app, 'read_evaluation', { project_id, evaluation_id })
    expect(read.summary.scorer_stats).toMatchObject([{ scorer_key: 'exact', numeric_mean: 0.5 }])
    expect(read.examples).toMatchObject([
      { example: { question: 'q' }, trials: [{ output: 'a'.repeat(50), scores: { exact: 0.5 } }] },
    ])
    const cut = { project_id, evaluation_id, body_chars: 30 }
    const { examples } = await callTool(app, 'read_evaluation', cut)
    expect(examples[0].trials[0].output).toContain('[cut after 30 of 52 characters]')
    const end = await callTool(app, 'read_evaluation', { project_id, evaluation_id, offset: 1 })
    expect(end.examples).toEqual([])
  })

  it('refuse a call that is no run', async () => {
    const app = await buildTestApp()
    const none = await callTool(app, 'read_evaluation', { project_id, evaluation_id: 'none' })
    expect(none).toContain('call_not_found (evaluation_id)')
  })
})

describe('the tools for prompts', () => {
  async function openPrompt() {
    const app = await buildTestApp()
    const val = {
      _type: 'StringPrompt',
      _class_name: 'StringPrompt',
      _bases: ['Prompt', 'Object', 'BaseModel'],
      content: 'Say {word}',
    }
    await app.post('/obj/create', { obj: { project_id, object_id: 'p', val } })
    await app.put('/objs/p/aliases', { project_id, digest: 'v0', aliases: ['production'] })
    return app
  }

  it('read a version by any of its names', async () => {
    const app = await openPrompt()
    for (const version of ['latest', 'v0', 'production']) {
      const read = await callTool(app, 'read_prompt', { project_id, object_id: 'p', version })
      expect(read).toMatchObject({
        version_index: 0,
        aliases: ['latest', 'production'],
        val: { content: 'Say {word}' },
      })
    }
    await app.post('/obj/create', { obj: { project_id, object_id: 'x', val: 1 } })
    const other = await callTool(app, 'read_prompt', { project_id, object_id: 'x' })
    expect(other).toContain('object_not_found')
  })

  it('run one as a completion that is recorded, bounded in tokens', async () => {
    const app = await openPrompt()
    const sent = { project_id, object_id: 'p', version: 'production', model: 'tiny' }
    const ran = await callTool(app, 'run_prompt', {
      ...sent,
      template_vars: { word: 'hello' },
      text: 'now',
      max_tokens: 4,
    })
    expect(ran).toMatchObject({ model: 'tiny', message: { role: 'assistant' } })
    expect(ran.usage.completion_tokens).toBeLessThanOrEqual(4)
    const readInputs = async () =>
      (await app.post('/call/read', { project_id, id: ran.call_id })).body.call?.inputs
    await expect.poll(readInputs).toMatchObject({
      max_tokens: 4,
      messages: [
        { role: 'user', content: 'Say hello' },
        { role: 'user', content: 'now' },
      ],
    })
    expect(await callTool(app, 'run_prompt', { ...sent, max_tokens: 5000 })).toContain('max_tokens')
    expect(await callTool(app, 'run_prompt', { ...sent, model: 'none' })).toContain(
      'model_not_found',
    )
  })

  it('run one only with the right to complete, and to read', async () => {
    const app = await openPrompt()
    const sent = { project_id, object_id: 'p', model: 'tiny' }
    for (const scope of ['traces:read', 'inference'] as const) {
      const key = await app.createKey({ scopes: [scope] })
      expect(await callTool(app, 'run_prompt', sent, { key })).toContain('scope_missing')
    }
  })
})
