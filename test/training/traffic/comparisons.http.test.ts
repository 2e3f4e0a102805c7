/** Comparisons of models on held-out prompts: new responses, scored alike. */
import { describe, expect, it } from 'vitest'
import { ApiError } from '../../../src/errors.ts'
import type { CompletionCall } from '../../../src/inference/backend.ts'
import { buildTestApp, type TestApp } from '../../support/build-test-app.ts'
import {
  createScriptedBackend,
  finish,
  NEVER,
  piece,
  prompt,
  type Step,
  scriptedModels,
} from '../../support/scripted-backend.ts'
import { asked, PROJECT, rate, said, trace } from './rated-calls.ts'

const URL = '/v1/preview/comparisons'
const SCORER = {
  kind: 'rule',
  rule: { type: 'contains', path: '$.output.choices[0].message.content', texts: ['owl'] },
}
const SOURCE = { project_id: PROJECT, reward: { feedback_type: 'rating' }, held_out: 0.5 }
const POLL = { timeout: 20_000 }
const ASKING = { ...SOURCE, compare: ['worse', 'better'], scorer: SCORER, samples: 2 }

type Script = (call: CompletionCall) => Iterable<Step>
const say =
  (text: string): Script =>
  () => [prompt(), piece(text), finish()]

async function buildComparedApp(better: Script = say('an owl'), judge: Script = say('{}')) {
  const app = await buildTestApp(
    {},
    {
      models: scriptedModels(
        { id: 'worse', backend: createScriptedBackend(say('a fox')) },
        { id: 'better', backend: createScriptedBackend(better) },
        { id: 'judge', backend: createScriptedBackend(judge) },
      ),
    },
  )
  for (let i = 1; i <= 9; i++) {
    await trace(app, 'x'.repeat(i), asked(`Animal ${i}?`), said('a fox'))
    await rate(app, 'x'.repeat(i), { score: 0 })
  }
  return app
}

async function read({ get }: TestApp, id: string) {
  return (await get(`${URL}/${id}?project_id=${PROJECT}`)).body
}

describe('POST /v1/preview/comparisons', () => {
  it('asks all models the held-out prompts, and compares their rewards with the first', async () => {
    const app = await buildComparedApp()
    const begun = await app.post(URL, ASKING)
    expect(begun.status, begun.text).toBe(200)
    const { id, prompts, requests, stats } = begun.body
    expect(prompts).toBe(stats.held_out_groups)
    expect(prompts).toBeGreaterThan(1)
    expect(requests).toBe(prompts * 4)
    await expect.poll(async () => (await read(app, id)).state).toBe('complete')
    const { result, completed, error } = await read(app, id)
    expect([completed, error]).toEqual([requests, null])
    expect(result).toMatchObject({
      prompts,
      samples: 2,
      failures: [],
      models: [
        { model: 'worse', responses: prompts * 2, failed: 0, mean_reward: 0, difference: null },
        { model: 'better', mean_reward: 1, difference: { mean: 1, low: 1, high: 1, prompts } },
      ],
    })
    const lines = async () =>
      (
        await app.post('/calls/stream_query', {
          project_id: PROJECT,
          filter: { trace_ids: [id] },
        })
      ).text
        .split('\n')
        .filter(Boolean)
    await expect.poll(async () => (await lines()).length).toBe(requests)
    const heldOut = await app.post('/v1/preview/trajectory-groups/from-calls', {
      ...SOURCE,
      part: 'held_out',
    })
    const texts = (value: unknown) => JSON.stringify(value).match(/Animal \d/g)
    expect([...new Set(texts(await lines()))].sort()).toEqual(
      texts(heldOut.body.trajectory_groups)?.sort(),
    )
  })

  it('lists those that have ended, the newest first, and no others', async () => {
    const app = await buildComparedApp()
    const list = async () => (await app.get(`${URL}?project_id=${PROJECT}`)).body.comparisons
    expect(await list()).toEqual([])
    const ids: string[] = []
    for (let i = 0; i < 2; i++) {
      const { id } = (await app.post(URL, ASKING)).body
      await expect.poll(async () => (await read(app, id)).state, POLL).toBe('complete')
      ids.unshift(id)
    }
    expect((await list()).map(({ id }: { id: string }) => id)).toEqual(ids)
    expect((await list())[0]).toMatchObject({ models: ['worse', 'better'], state: 'complete' })
    expect((await app.get(`${URL}?project_id=acme/other`)).body.comparisons).toEqual([])
  })

  it('asks a scorer that failed again, and not the model', async () => {
    let [asked, judged] = [0, 0]
    const app = await buildComparedApp(
      () => {
        asked += 1
        return [prompt(), piece('an owl'), finish()]
      },
      ({ request }) => {
        if (!JSON.stringify(request).includes('an owl'))
          return [prompt(), piece('{"score": 0}'), finish()]
        judged += 1
        if (judged === 1) throw new ApiError('upstream_overloaded')
        return [prompt(), piece('{"score": 1}'), finish()]
      },
    )
    const scorer = {
      kind: 'judge',
      model: 'judge',
      messages: [{ role: 'user', content: 'Rate {output}.' }],
      output_schema: { type: 'object' },
    }
    const { id, prompts } = (await app.post(URL, { ...ASKING, scorer })).body
    await expect.poll(async () => (await read(app, id)).state, POLL).toBe('complete')
    expect((await read(app, id)).result).toMatchObject({
      failures: [],
      models: [{}, { failed: 0 }],
    })
    expect([asked, judged]).toEqual([prompts * 2, prompts * 2 + 1])
  })

  it('asks one model by a name, whatever the name serves meanwhile', async () => {
    let app: TestApp
    let removed: Promise<unknown> | null = null
    const named = `/v1/preview/aliases/helper?project_id=${PROJECT}`
    app = await buildComparedApp(function* () {
      removed ??= app.delete(named)
      yield removed
      yield* [prompt(), piece('an owl'), finish()]
    })
    await app.put('/v1/preview/aliases/helper', { project_id: PROJECT, target: 'better' })
    const { id } = (await app.post(URL, { ...ASKING, compare: ['worse', 'helper'] })).body
    await expect.poll(async () => (await read(app, id)).state, POLL).toBe('complete')
    const { result } = await read(app, id)
    expect(result).toMatchObject({ failures: [], models: [{}, { model: 'helper', failed: 0 }] })
  })

  it('takes the scorer of an evaluator, and says what failed', async () => {
    const app = await buildComparedApp(() => {
      throw new Error('broken')
    })
    const evaluator = { project_id: PROJECT, name: 'owls', scorer: SCORER }
    const { id: evaluator_id } = (await app.post('/evaluators', evaluator)).body
    const { scorer: _, ...asking } = ASKING
    const { id } = (await app.post(URL, { ...asking, evaluator_id, samples: 1 })).body
    await expect.poll(async () => (await read(app, id)).state).toBe('complete')
    const { result } = await read(app, id)
    expect(result.models[1]).toMatchObject({
      responses: 0,
      mean_reward: null,
      difference: { prompts: 0, mean: null },
    })
    expect(result.failures[0]).toMatch(/internal_error/)
    const foreign = await app.post(URL, { ...asking, evaluator_id: 'none' })
    expect(foreign.body.error.code).toBe('evaluator_not_found')
  })

  it('is cancelled as evaluations are', async () => {
    const app = await buildComparedApp(() => [NEVER])
    const { id } = (await app.post(URL, ASKING)).body
    expect((await read(app, id)).state).toBe('running')
    const named = { project_id: PROJECT, call_id: id }
    expect((await app.post('/evaluations/cancel', named)).body).toEqual({ cancelled: true })
    expect((await read(app, id)).state).toBe('cancelled')
  })

  it.each([
    ['held_out', { held_out: 0 }],
    ['compare', { compare: ['worse'] }],
    ['scorer', { scorer: null }],
    ['evaluator_id', { evaluator_id: 'x' }],
    ['scorer.rule.path', { scorer: { kind: 'rule', rule: { ...SCORER.rule, path: 'x' } } }],
    ['samples', { samples: 0 }],
    ['held_out', { filter: { op_names: ['none'] } }],
  ])('an invalid %s is refused by its path', async (param, fields) => {
    const { status, body } = await (await buildComparedApp()).post(URL, { ...ASKING, ...fields })
    expect([status, body.error?.param]).toEqual([422, param])
  })

  it('needs all scopes, the project, and models that exist', async () => {
    const app = await buildComparedApp()
    for (const rights of [
      { scopes: ['training', 'traces:read', 'traces:write'] as const },
      { scopes: ['training', 'traces:read', 'inference'] as const },
      { projects: ['acme/other'] },
    ]) {
      const { status } = await app.post(URL, ASKING, { key: await app.createKey(rights) })
      expect(status).toBe(403)
    }
    const unknown = await app.post(URL, { ...ASKING, compare: ['worse', 'none'] })
    expect(unknown.body.error.code).toBe('model_not_found')
    for (const [code, rights] of [
      ['scope_missing', { scopes: ['training'] as const }],
      ['project_forbidden', { projects: ['acme/other'] }],
    ] as const) {
      const key = await app.createKey(rights)
      const { body } = await app.get(`${URL}?project_id=${PROJECT}`, { key })
      expect(body.error.code).toBe(code)
    }
    const missing = await app.get(`${URL}/none?project_id=${PROJECT}`)
    expect(missing.body.error.code).toBe('comparison_not_found')
  })
})
