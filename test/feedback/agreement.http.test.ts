import { describe, expect, it } from 'vitest'
import { buildEvaluatorApp, project_id } from '../evaluators/evaluator-app.ts'

async function build() {
  const app = await buildEvaluatorApp()
  const rights = { scopes: ['traces:write', 'traces:read'] as const, projects: ['*'] }
  const keys = new Map<string, string>()
  for (const user of ['ada', 'bob']) {
    const made = { ...rights, scopes: [...rights.scopes], svc_user_id: user, svc_username: user }
    keys.set(user, (await app.deps.keys.createKey(made)).secret)
  }
  async function rate(user: string, call: string, emoji: string, queue_id: string | null = null) {
    const weave_ref = `weave:///${project_id}/call/${call}`
    const body = { project_id, weave_ref, feedback_type: 'wandb.reaction.1', payload: { emoji } }
    const options = { key: keys.get(user) ?? '' }
    const response = await app.post('/traces/feedback/create', { ...body, queue_id }, options)
    expect(response.status, response.text).toBe(200)
  }
  async function judge(call: string, score: number) {
    const response = await app.post('/traces/feedback/create', {
      project_id,
      weave_ref: `weave:///${project_id}/call/${call}`,
      feedback_type: 'wandb.runnable.helpful',
      runnable_ref: `weave:///${project_id}/object/helpful:v1`,
      payload: { output: { score } },
    })
    expect(response.status, response.text).toBe(200)
  }
  const agreement = (more: object) => app.post('/feedback/agreement', { project_id, ...more })
  return { ...app, rate, judge, agreement }
}

const TYPE = { feedback_types: ['wandb.reaction.1'] }

describe('the agreement of raters', () => {
  it('is told of each two people, and of most of them with each judge', async () => {
    const { rate, judge, agreement } = await build()
    for (const [call, ada, bob, score] of [
      ['a', '👍', '👍', 0.9],
      ['b', '👎', '👎', 0.1],
      ['c', '👍', '👎', 0.2],
      ['d', '👎', '👎', 0.8],
    ] as const) {
      await rate('ada', call, ada)
      await rate('bob', call, bob)
      await judge(call, score)
    }
    const { body } = await agreement(TYPE)
    expect(body).toMatchObject({
      calls: 4,
      is_complete: true,
      types: [{ feedback_type: 'wandb.reaction.1', raters: 2, calls: 4, interval_alpha: null }],
    })
    const [people, withJudge] = body.pairs
    expect(people).toMatchObject({
      calls: 4,
      agreed: 3,
      kappa: 0.5,
      labels: [false, true],
      disagreements: [{ call_id: 'c' }],
    })
    // The two people disagree about c, so that most of them say nothing of it.
    expect(withJudge).toMatchObject({
      left: { kind: 'people' },
      right: { kind: 'judge', name: 'helpful', ratings: 4 },
      calls: 3,
      agreed: 2,
      confusion: [
        [1, 1],
        [0, 1],
      ],
      disagreements: [{ call_id: 'd', left: false, right: true }],
    })
  })

  it('is of the ratings in a queue alone, and of the calls that were rated last', async () => {
    const { post, storeCall, rate, judge, agreement } = await build()
    for (const id of ['a', 'b', 'c']) await storeCall({ id })
    const made = await post('/annotation_queues', { project_id, name: 'q', scorer_refs: [] })
    const queue_id: string = made.body.id
    const url = `/annotation_queues/${queue_id}/items`
    await post(url, { project_id, call_ids: ['a', 'b', 'c'], display_fields: [] })
    const { items } = (await post(`${url}/query`, { project_id })).body
    for (const { id, call_id } of items.slice(0, 2)) {
      await rate('ada', call_id, '👎', queue_id)
      await judge(call_id, 0)
      const step = { project_id, annotation_state: 'in_progress' }
      await post(`${url}/${id}/progress`, step)
    }
    await rate('ada', 'a', '👍')
    expect((await agreement({ queue_id })).body).toMatchObject({
      calls: 2,
      is_complete: true,
      pairs: [{ calls: 2, agreed: 2, kappa: null }],
    })
    expect((await agreement({ queue_id, limit: 1 })).body).toMatchObject({
      calls: 1,
      is_complete: false,
    })
    expect((await agreement({ queue_id, evaluators: ['other'] })).body.pairs).toEqual([])
    const unknown = await agreement({ queue_id: 'none' })
    expect(unknown.body.error.code).toBe('annotation_queue_not_found')
  })

  it('is of a type in a range of time, and needs one without a queue', async () => {
    const { rate, agreement } = await build()
    await rate('ada', 'a', '👎')
    const past = '2020-01-01T00:00:00Z'
    expect((await agreement({ ...TYPE, after: past })).body.calls).toBe(1)
    expect((await agreement({ ...TYPE, before: past })).body.calls).toBe(0)
    expect((await agreement({})).body.error).toMatchObject({ param: 'feedback_types' })
  })
  it('is not complete when so many ratings of a call were read that others may be missing', async () => {
    const { rate, agreement } = await build()
    await rate('ada', 'other', '👎')
    await rate('ada', 'a', '👎')
    expect((await agreement({ ...TYPE, limit: 2 })).body).toMatchObject({
      calls: 2,
      is_complete: true,
    })
    for (let n = 0; n < 19; n++) await rate('bob', 'a', n % 2 === 0 ? '👍' : '👎')
    expect((await agreement({ ...TYPE, limit: 1 })).body).toMatchObject({
      calls: 1,
      is_complete: false,
    })
  })
  it('is of calls of the project alone', async () => {
    const { post, rate, agreement } = await build()
    await rate('ada', 'a', '👎')
    for (const ref of [`${project_id}/object/o:v1`, 'acme/other/call/b']) {
      const weave_ref = `weave:///${ref}`
      const feedback = { feedback_type: 'wandb.reaction.1', payload: { emoji: '👎' } }
      const made = await post('/traces/feedback/create', { project_id, weave_ref, ...feedback })
      expect(made.status, made.text).toBe(200)
    }
    expect((await agreement({ ...TYPE, limit: 1 })).body).toMatchObject({
      calls: 1,
      is_complete: true,
      raters: [{ ratings: 1 }],
    })
  })
})
