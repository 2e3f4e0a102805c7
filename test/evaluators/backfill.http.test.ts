import { describe, expect, it } from 'vitest'
import { createScriptedBackend, HELLO, scriptedModels } from '../support/scripted-backend.ts'
import { buildEvaluatorApp, openRunner, project_id, ruleScorers } from './evaluator-app.ts'

const JUDGE = {
  kind: 'judge',
  model: 'scripted',
  messages: [{ role: 'user', content: '{output}' }],
  max_tokens: 10,
}

async function build(definition: object = {}) {
  const models = scriptedModels({ backend: createScriptedBackend(HELLO) })
  const app = await buildEvaluatorApp({ models })
  const runner = openRunner(app.deps, ruleScorers())
  for (let at = 0; at < 6; at++) {
    await app.storeCall({ started_at: `2026-01-0${at + 1}T00:00:00Z` })
  }
  const { id } = await app.create(definition)
  const url = `/evaluators/${id}/backfill`
  return { ...app, runner, id, url }
}

describe('backfills', () => {
  it('score the calls of a window that have no result, and say how far they are', async () => {
    const { post, url, id, runner, results, read } = await build()
    const window = { from: '2026-01-02T00:00:00Z', until: '2026-01-05T00:00:00Z' }
    const estimated = await post(`${url}/estimate`, { project_id, ...window })
    expect(estimated.body).toEqual({ calls: 3, sampled: 3, cost_usd: 0, basis: 'none' })
    const begun = await post(url, { project_id, ...window })
    expect(begun.body.backfill).toMatchObject({ state: 'running', expected: 3, queued: 0 })
    expect((await post(url, { project_id })).body.error.code).toBe('backfill_conflict')
    await runner.runRound()
    expect(await results()).toHaveLength(3)
    expect(await read(id)).toMatchObject({ scored: 3, backfill: { state: 'done', queued: 3 } })
    await post(url, { project_id })
    await runner.runRound()
    expect(await read(id)).toMatchObject({ scored: 6, backfill: { queued: 6 } })
    expect(await results()).toHaveLength(6)
  })

  it('pause with what they have queued, continue, and are cancelled', async () => {
    const { post, put, url, id, runner, results, read } = await build()
    await post(url, { project_id })
    const paused = await put(url, { project_id, state: 'paused' })
    expect(paused.body.backfill.state).toBe('paused')
    await runner.runRound()
    expect(await results()).toEqual([])
    await put(url, { project_id, state: 'running' })
    await runner.runRound()
    expect(await results()).toHaveLength(6)
    expect((await put(url, { project_id, state: 'paused' })).status).toBe(409)
    await post(url, { project_id })
    const ended = await put(url, { project_id, state: 'cancelled' })
    expect(ended.body.backfill.state).toBe('done')
    expect(await read(id)).toMatchObject({ waiting: 0 })
  })

  it('pass over no call when others of the same start are deleted between two parts', async () => {
    const { post, url, id, runner, read } = await build()
    const ids = Array.from({ length: 510 }, (_, at) => `same-${String(at).padStart(3, '0')}`)
    const started_at = '2026-01-07T00:00:00Z'
    const batch = ids.flatMap((call) => {
      const named = { project_id, id: call }
      const begun = { trace_id: call, op_name: 'op', started_at, attributes: {}, inputs: {} }
      const ended_at = '2026-01-07T00:00:01Z'
      return [
        { mode: 'start', req: { start: { ...named, ...begun } } },
        { mode: 'end', req: { end: { ...named, ended_at, output: 'yes', summary: {} } } },
      ]
    })
    expect((await post('/call/upsert_batch', { batch })).status).toBe(200)
    await post(url, { project_id, from: started_at })
    await runner.runRound()
    expect(await read(id)).toMatchObject({ backfill: { state: 'running', queued: 500 } })
    const deleted = { project_id, call_ids: [...ids.slice(0, 20), ids[499]] }
    expect((await post('/calls/delete', deleted)).status).toBe(200)
    await runner.runRound()
    expect(await read(id)).toMatchObject({ backfill: { state: 'done', queued: 510 } })
  })

  it('estimate a judge by its prompts, or know no price', async () => {
    const { post, url } = await build({ scorer: JUDGE })
    const ask = async () => (await post(`${url}/estimate`, { project_id })).body
    expect(await ask()).toEqual({ calls: 6, sampled: 6, cost_usd: null, basis: 'prompts' })
    const costs = { scripted: { prompt_token_cost: 0, completion_token_cost: 0.5 } }
    await post('/cost/create', { project_id, costs })
    expect(await ask()).toEqual({ calls: 6, sampled: 6, cost_usd: 30, basis: 'prompts' })
  })

  it('expect neither scores of the calls that judges made, nor their prompts to cost anything', async () => {
    const { post, url, storeCall } = await build({ scorer: JUDGE })
    await post('/cost/create', {
      project_id,
      costs: { scripted: { prompt_token_cost: 1, completion_token_cost: 0 } },
    })
    const ask = async () => (await post(`${url}/estimate`, { project_id })).body
    const before = await ask()
    expect(before).toMatchObject({ calls: 6, basis: 'prompts' })
    for (const id of ['j1', 'j2', 'j3']) {
      const started_at = '2026-01-01T00:00:00Z'
      await storeCall({ id, op_name: 'weft.judge', started_at }, { output: 'no '.repeat(1000) })
    }
    expect(await ask()).toEqual(before)
    expect((await post(url, { project_id })).body.backfill).toMatchObject({ expected: 6 })
  })

  it.each([
    ['traces', { target: 'trace' }, 8],
    ['conversations', { target: 'conversation' }, 2],
  ])('expect as many scores as there are %s', async (_, definition, calls) => {
    // What is stored while it is paused is left to the backfill.
    const { post, url, storeCall, runner, read, id } = await build({
      ...definition,
      state: 'paused',
    })
    for (const thread_id of ['t1', 't2', 't2', 't1', 't2']) {
      const trace_id = `of-${thread_id}`
      const parent_id = `${trace_id}-root`
      const isFirst = (await post('/call/read', { project_id, id: parent_id })).status === 404
      await storeCall({ trace_id, thread_id, ...(isFirst ? { id: parent_id } : { parent_id }) })
    }
    await storeCall({ id: 'judge', op_name: 'weft.judge' })
    await post(`/evaluators/${id}/resume`, { project_id })
    const estimated = await post(`${url}/estimate`, { project_id })
    expect(estimated.body).toMatchObject({ calls, sampled: calls })
    await post(url, { project_id })
    await runner.runRound()
    expect(await read(id)).toMatchObject({ scored: calls, backfill: { expected: calls } })
  })
})
