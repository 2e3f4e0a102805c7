import { describe, expect, it, vi } from 'vitest'
import {
  buildEvaluatorApp,
  openRunner,
  project_id,
  ruleScorers,
} from '../evaluators/evaluator-app.ts'

async function build() {
  const app = await buildEvaluatorApp()
  let now = Date.now() * 1000
  const runner = openRunner(app.deps, ruleScorers(), { nowUs: () => now })
  const later = (seconds: number) => {
    now += seconds * 1_000_000
  }
  async function createRuled(rules: object, more: object = {}) {
    const body = { project_id, name: 'doubtful', scorer_refs: [], rules, ...more }
    return app.post('/annotation_queues', body)
  }
  async function giveFeedback(call: string, feedback_type: string, payload: object) {
    const weave_ref = `weave:///${project_id}/call/${call}`
    const runnable_ref = `weave:///${project_id}/object/${feedback_type.split('.').at(-1)}:v1`
    const refs = feedback_type.startsWith('wandb.runnable') ? { runnable_ref } : {}
    const body = { project_id, weave_ref, feedback_type, payload, ...refs }
    const response = await app.post('/traces/feedback/create', body)
    expect(response.status, response.text).toBe(200)
  }
  async function items(queue: string) {
    const { body } = await app.post(`/annotation_queues/${queue}/items/query`, { project_id })
    return body.items.map((item: { call_id: string; added_by: string }) => [
      item.call_id,
      item.added_by,
    ])
  }
  const readQueue = async (id: string) =>
    (await app.get(`/annotation_queues/${id}?project_id=${encodeURIComponent(project_id)}`)).body
  /** A second later. */
  async function runRound() {
    later(1)
    await runner.runRound()
  }
  return { ...app, runRound, later, createRuled, giveFeedback, items, readQueue }
}

describe('rules of an annotation queue', () => {
  it('add calls whose ids have spaces, for feedback and as a random share', async () => {
    const { storeCall, giveFeedback, createRuled, items, runRound } = await build()
    await storeCall({ id: 'run 1 of 2' })
    const { body } = await createRuled({ thumbs_down: true })
    await giveFeedback('run 1 of 2', 'wandb.reaction.1', { emoji: '👎' })
    const share = await createRuled({ random: 1 }, { name: 'all' })
    await storeCall({ id: 'run 2 of 2' })
    await runRound()
    expect(await items(body.id)).toEqual([['run 1 of 2', 'rule:thumbs_down']])
    expect(await items(share.body.id)).toEqual([['run 2 of 2', 'rule:random']])
  })

  it('add calls with a thumb down, a score outside of bounds, and scores that differ', async () => {
    const { storeCall, giveFeedback, createRuled, items, runRound, readQueue } = await build()
    for (const id of ['down', 'up', 'low', 'fair', 'disputed', 'agreed']) await storeCall({ id })
    const scores = [{ feedback_type: 'rating', below: 2, above: 4 }]
    const rules = { thumbs_down: true, scores, disagreement: { difference: 0.6 } }
    const { body } = await createRuled(rules)
    await giveFeedback('down', 'wandb.reaction.1', { emoji: '👎🏿' })
    await giveFeedback('up', 'wandb.reaction.1', { emoji: '👍' })
    await giveFeedback('low', 'rating', { value: 1 })
    await giveFeedback('fair', 'rating', { value: 4 })
    await giveFeedback('disputed', 'wandb.runnable.a', { output: { passed: true } })
    await giveFeedback('disputed', 'wandb.runnable.b', { output: { score: 0.9 } })
    await runRound()
    await giveFeedback('disputed', 'wandb.runnable.b', { output: { score: 0.4 } })
    await giveFeedback('agreed', 'wandb.runnable.a', { output: { score: 0.5 } })
    await giveFeedback('agreed', 'wandb.runnable.b', { output: { score: 0.2 } })
    await runRound()
    await runRound()
    expect(await items(body.id)).toEqual([
      ['down', 'rule:thumbs_down'],
      ['low', 'rule:scores'],
      ['disputed', 'rule:disagreement'],
    ])
    expect(await readQueue(body.id)).toMatchObject({
      queue: { rules: { thumbs_down: true, max_per_day: 100, max_waiting: 1000 } },
      rules_work: { added: 3, dropped: 0, waiting: 0 },
    })
  })

  it('add a share of the new traces, the same each time, once they have ended', async () => {
    const { storeCall, endCall, createRuled, items, runRound, later } = await build()
    await storeCall({ id: 'before' })
    const [half, all] = [
      (await createRuled({ random: 0.5 })).body.id,
      (await createRuled({ random: 1, filter: { trace_roots_only: true } })).body.id,
    ]
    const ids = Array.from({ length: 40 }, (_, n) => `c${n}`)
    for (const id of ids) await storeCall({ id })
    await storeCall({ id: 'child', trace_id: 'trace-x', parent_id: 'c0' })
    await storeCall({ id: 'open' }, null)
    await runRound()
    const roots = (await items(all)).map(([id]: string[]) => id)
    expect(new Set(roots)).toEqual(new Set(ids))
    const some = (await items(half)).length
    expect(some).toBeGreaterThan(8)
    expect(some).toBeLessThan(33)
    await endCall('open')
    later(11)
    await runRound()
    expect((await items(all)).at(-1)).toEqual(['open', 'rule:random'])
  })

  it('add only calls that meet the condition', async () => {
    const { storeCall, giveFeedback, createRuled, items, runRound } = await build()
    const query = { $expr: { $eq: [{ $getField: 'output' }, { $literal: 'no' }] } }
    const { body } = await createRuled({ thumbs_down: true, query })
    for (const output of ['yes', 'no']) {
      await storeCall({ id: output }, { output })
      await giveFeedback(output, 'wandb.reaction.1', { emoji: '👎' })
    }
    await runRound()
    expect(await items(body.id)).toEqual([['no', 'rule:thumbs_down']])
  })

  it('are set, replaced and removed, and each time in the audit list', async () => {
    const { post, put, get, createRuled } = await build()
    const { id } = (await createRuled({})).body
    const edit = async (more: object) =>
      (await put(`/annotation_queues/${id}`, { project_id, ...more })).body.queue.rules
    expect(await edit({ rules: { random: 0.1 } })).toMatchObject({ random: 0.1, max_per_day: 100 })
    expect(await edit({ name: 'other', rules: null })).toMatchObject({ random: 0.1 })
    expect(await edit({ rules: { random: 0 } })).toBeNull()
    const { body } = await get('/v1/audit?action=queue.update&order=asc')
    expect(body.data.map(({ after }: { after: object }) => after)).toMatchObject([
      { rules: { random: 0.1 } },
      { name: 'other' },
      { rules: null },
    ])
    const refused = await post('/annotation_queues', {
      project_id,
      name: 'spans',
      scorer_refs: [],
      queue_type: 'span',
      rules: { random: 1 },
    })
    expect(refused.body.error).toMatchObject({ param: 'rules' })
    const unbounded = await createRuled({ scores: [{ feedback_type: 'rating' }] })
    expect(unbounded.text).toContain('must have below or above')
  })
  it('add no call that came before their share, though other rules were there', async () => {
    const { put, storeCall, createRuled, items, runRound } = await build()
    const { id } = (await createRuled({ thumbs_down: true })).body
    await storeCall({ id: 'before' })
    await runRound()
    await put(`/annotation_queues/${id}`, { project_id, rules: { random: 1 } })
    await storeCall({ id: 'after' })
    await runRound()
    expect(await items(id)).toEqual([['after', 'rule:random']])
    await put(`/annotation_queues/${id}`, { project_id, rules: { random: 0.999 } })
    await storeCall({ id: 'later' })
    await runRound()
    expect(await items(id)).toHaveLength(2)
  })

  it('leave nothing that waits when they are removed', async () => {
    const { put, storeCall, giveFeedback, createRuled, items, runRound, readQueue } = await build()
    const { id } = (await createRuled({ thumbs_down: true })).body
    await storeCall({ id: 'old' })
    await giveFeedback('old', 'wandb.reaction.1', { emoji: '👎' })
    await put(`/annotation_queues/${id}`, { project_id, rules: {} })
    expect((await readQueue(id)).rules_work).toMatchObject({ waiting: 0 })
    await put(`/annotation_queues/${id}`, { project_id, rules: { thumbs_down: true } })
    await runRound()
    expect(await items(id)).toEqual([])
  })

  it('of a queue that fail stop neither other queues nor evaluators', async () => {
    const { deps, storeCall, giveFeedback, create, createRuled, items, results } = await build()
    const broken = (await createRuled({ thumbs_down: true })).body.id
    const other = (await createRuled({ thumbs_down: true })).body.id
    await create()
    await storeCall({ id: 'a' })
    await giveFeedback('a', 'wandb.reaction.1', { emoji: '👎' })
    const { listRuleTasks } = deps.annotation
    const annotation: typeof deps.annotation = {
      ...deps.annotation,
      async listRuleTasks(id, now_us) {
        if (id === broken) throw new Error('too slow')
        return listRuleTasks(id, now_us)
      },
    }
    const runner = openRunner({ ...deps, annotation }, ruleScorers())
    await expect(runner.runRound()).rejects.toThrow('too slow')
    await vi.waitFor(async () => expect(await results()).toHaveLength(2))
    expect(await items(other)).toEqual([['a', 'rule:thumbs_down']])
  })
})
