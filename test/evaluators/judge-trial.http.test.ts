import { describe, expect, it } from 'vitest'
import type { CompletionCall } from '../../src/inference/backend.ts'
import {
  createScriptedBackend,
  finish,
  piece,
  prompt,
  scriptedModels,
} from '../support/scripted-backend.ts'
import { buildEvaluatorApp, project_id } from './evaluator-app.ts'

/** A draft that looks for the word `good`; the current version passes everything. */
function respond({ request }: CompletionCall) {
  const text = String(request.messages[0]?.content)
  if (text.includes('broken')) return [prompt(), piece('no JSON'), finish()]
  const passed = text.startsWith('All') || text.includes('good')
  return [prompt(), piece(`{"score":${passed ? 1 : 0}}`), finish()]
}

const judgeOf = (content: string) => ({
  kind: 'judge',
  model: 'scripted',
  messages: [{ role: 'user', content }],
  output_schema: { type: 'object' },
})

async function build() {
  const backend = createScriptedBackend(respond)
  const app = await buildEvaluatorApp({ models: scriptedModels({ backend }) })
  await app.post('/cost/create', {
    project_id,
    costs: { scripted: { prompt_token_cost: 0.001, completion_token_cost: 0.002 } },
  })
  const { id, ref } = await app.create({ scorer: judgeOf('All {output}'), name: 'fine' })
  const rated = [
    ['a', 'good', '👍'],
    ['b', 'bad', '👎'],
    ['c', 'good', '👍'],
    ['d', 'bad', '👍'],
  ] as const
  const about = (call: string) => `weave:///${project_id}/call/${call}`
  for (const [call, output, emoji] of rated) {
    await app.storeCall({ id: call }, { output })
    const body = { project_id, weave_ref: about(call), feedback_type: 'wandb.reaction.1' }
    await app.post('/traces/feedback/create', { ...body, payload: { emoji } })
  }
  await app.post('/traces/feedback/create', {
    project_id,
    weave_ref: about('a'),
    feedback_type: 'wandb.runnable.fine',
    runnable_ref: ref,
    payload: { output: { score: 1 } },
  })
  const types = { feedback_types: ['wandb.reaction.1'] }
  const tryDraft = (content: string, more: object = {}, way = '', options: object = {}) => {
    const body = { project_id, scorer: judgeOf(content), ...types, ...more }
    return app.post(`/evaluators/${id}/trial${way}`, body, options)
  }
  // biome-ignore lint/suspicious/noExplicitAny: lines of every shape.
  const linesOf = (text: string): any[] =>
    text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
  return { ...app, backend, id, tryDraft, linesOf }
}

describe('a trial of a judge', () => {
  it('compares the draft and the current version with people on the same calls', async () => {
    const { backend, tryDraft, linesOf, results } = await build()
    const { body: estimate } = await tryDraft('Is it good? {output}', {}, '/estimate')
    expect(estimate).toMatchObject({ calls: 4, missing: 3 })
    expect(estimate.cost_usd).toBeGreaterThan(0.035)
    expect(backend.calls).toEqual([])
    const before = (await results()).length
    const { text } = await tryDraft('Word: {output}')
    const lines = linesOf(text)
    expect(lines.slice(0, -1).map(({ call }) => call)).toHaveLength(4)
    expect(lines.find(({ call }) => call?.call_id === 'd').call).toMatchObject({
      people: true,
      draft: 0,
      current: 1,
      error: null,
    })
    expect(lines.at(-1)).toMatchObject({
      call: null,
      result: {
        draft: { calls: 4, agreed: 3, kappa: 0.5, disagreements: [{ call_id: 'd' }] },
        current: { calls: 4, agreed: 3, kappa: 0, disagreements: [{ call_id: 'b' }] },
        failed: 0,
      },
    })
    // 7 responses: the current version has scored one of the calls already.
    expect(backend.calls).toHaveLength(7)
    expect(lines.at(-1).result.cost_usd).toBeCloseTo(7 * 0.005)
    expect((await results()).length).toBe(before)
  })

  it('leaves out calls that one version cannot score, says why, and ends at its limit of money', async () => {
    const { tryDraft, linesOf } = await build()
    const failing = linesOf((await tryDraft('broken {output}')).text)
    expect(failing[0].call.error).toContain('no JSON object')
    expect(failing.at(-1).result).toMatchObject({ failed: 4, draft: { calls: 0, kappa: null } })
    const bounded = linesOf((await tryDraft('Word: {output}', { max_usd: 0 })).text)
    expect(bounded).toMatchObject([{ result: { draft: { calls: 0 }, cost_usd: 0 } }])
    const short = linesOf((await tryDraft('Word: {output}', { limit: 2 })).text)
    expect(short).toHaveLength(3)
  })

  it('needs the scope inference, a judge of calls, and a usable draft', async () => {
    const { create, post, tryDraft, createKey, backend } = await build()
    const key = await createKey({ scopes: ['traces:read', 'traces:write'] })
    expect((await tryDraft('{output}', {}, '', { key })).status).toBe(403)
    expect((await tryDraft('{output}', { limit: 201 })).body.error).toMatchObject({
      param: 'limit',
    })
    const unknown = { scorer: { ...judgeOf('x'), model: 'none' } }
    expect((await tryDraft('x', unknown)).body.error).toMatchObject({ code: 'model_not_found' })
    const rule = await create({ name: 'rule' })
    const body = { project_id, scorer: judgeOf('x'), feedback_types: ['t'] }
    const refused = await post(`/evaluators/${rule.id}/trial`, body)
    expect(refused.body.error).toMatchObject({ param: 'evaluator_id' })
    expect(backend.calls).toEqual([])
  })
})
