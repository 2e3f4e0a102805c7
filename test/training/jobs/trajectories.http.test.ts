/** Trajectory groups out of recorded chats: record, rate, build, and send as a training job. */
import { describe, expect, it } from 'vitest'
import { buildTestApp, type TestApp } from '../../support/build-test-app.ts'
import { createModel, JOBS_URL } from '../preview-fixtures.ts'
import { asked, chat, PROJECT, rate, said, trace } from '../traffic/rated-calls.ts'

const URL = '/v1/preview/trajectory-groups/from-calls'
const REWARD = { feedback_type: 'rating' }

const build = ({ post }: TestApp, fields: object = {}, options = {}) =>
  post(URL, { project_id: PROJECT, reward: REWARD, ...fields }, options)

describe('POST /v1/preview/trajectory-groups/from-calls', () => {
  it('trajectory groups select calls by cost, at the prices of the project', async () => {
    const testApp = await buildTestApp()
    await rate(testApp, await chat(testApp, 'Hi'), { score: 1 })
    const dear = (usd: number) => ({
      query: { $expr: { $gt: [{ $getField: 'summary.weave.total_cost' }, { $literal: usd }] } },
    })
    expect((await build(testApp, dear(0))).body.stats.calls).toBe(0)
    const price = { prompt_token_cost: 1, completion_token_cost: 1 }
    const costs = { tiny: { ...price, effective_date: '2020-01-01T00:00:00Z' } }
    await testApp.post('/cost/create', { project_id: PROJECT, costs })
    expect((await build(testApp, dear(1))).body.stats.calls).toBe(1)
    expect((await build(testApp, dear(1e6))).body.stats.calls).toBe(0)
  })

  it('groups of recorded completions, tokens included, are accepted by a training job', async () => {
    const testApp = await buildTestApp()
    for (const [content, score] of [
      ['2 plus 2?', 1],
      ['2 plus 2?', 0],
      ['Hi', 0.5],
    ] as const) {
      await rate(testApp, await chat(testApp, content, { seed: score * 10 }), { score })
    }
    await rate(testApp, await chat(testApp, 'Hi', { stream: false }), { note: 'no score' })
    const { status, body } = await build(testApp)
    expect(status).toBe(200)
    expect(body.stats).toMatchObject({ calls: 4, groups: 2, trajectories: 3 })
    expect(body.stats.left_out).toMatchObject({ no_reward: 1, no_chat: 0 })
    const sums = body.trajectory_groups.find(
      (group: { trajectories: unknown[] }) => group.trajectories.length === 2,
    )
    expect(sums.trajectories.map(({ reward }: { reward: number }) => reward).sort()).toEqual([0, 1])
    for (const {
      messages_and_choices: [question, choice],
    } of sums.trajectories) {
      expect(question).toEqual({ role: 'user', content: '2 plus 2?' })
      expect(choice.prompt_token_ids.length).toBeGreaterThan(3)
      expect(choice.token_ids.length).toBe(choice.logprobs.content.length)
      expect(choice.logprobs.content[0].logprob).toBeLessThanOrEqual(0)
    }
    const model_id = await createModel(testApp)
    const job = await testApp.post(JOBS_URL, {
      model_id,
      trajectory_groups: body.trajectory_groups,
      experimental_config: null,
    })
    expect(job.status).toBe(200)
  })

  it('records the tokens of streams too, and the step that answered', async () => {
    const testApp = await buildTestApp()
    await createModel(testApp)
    await rate(testApp, await chat(testApp, 'Hi', { stream: true, model: 'policy' }), { score: 1 })
    const { body } = await build(testApp)
    const [
      {
        trajectories: [trajectory],
      },
    ] = body.trajectory_groups
    expect(trajectory.initial_policy_version).toBe(0)
    expect(trajectory.metadata.model).toBe('policy:step0')
    const choice = trajectory.messages_and_choices.at(-1)
    expect(choice.token_ids.length).toBe(choice.logprobs.content.length)
  })

  it.each([
    ['payload.score', { path: 'payload.score' }, 4],
    ['a boolean', { path: 'payload.good' }, 1],
    [
      'arithmetic',
      { expression: { $divide: [{ $getField: 'payload.score' }, { $literal: 8 }] } },
      0.5,
    ],
    [
      'a condition',
      {
        expression: {
          $cond: [
            { $gt: [{ $getField: 'payload.score' }, { $literal: 3 }] },
            { $literal: 2 },
            { $literal: -2 },
          ],
        },
      },
      2,
    ],
    [
      'bounds',
      {
        expression: {
          $min: [
            { $literal: 3 },
            {
              $max: [{ $literal: 0 }, { $add: [{ $getField: 'payload.score' }, { $literal: 1 }] }],
            },
          ],
        },
      },
      3,
    ],
  ])('the reward is read from %s', async (_name, reward, expected) => {
    const testApp = await buildTestApp()
    await trace(testApp, 'a', asked('Hi'), said('Ho'))
    await rate(testApp, 'a', { score: 4, good: true })
    const { body } = await build(testApp, { reward: { ...REWARD, ...reward } })
    expect(body.trajectory_groups[0].trajectories[0].reward).toBe(expected)
  })

  it('the reward is the newest feedback of the type, or the mean', async () => {
    const testApp = await buildTestApp()
    await trace(testApp, 'a', asked('Hi'), said('Ho'))
    for (const score of [1, 2, 6]) await rate(testApp, 'a', { score })
    await rate(testApp, 'a', { score: 100 }, 'another')
    const rewardOf = async (combine: string) =>
      (await build(testApp, { reward: { ...REWARD, combine } })).body.trajectory_groups[0]
        .trajectories[0].reward
    expect(await rewardOf('newest')).toBe(6)
    expect(await rewardOf('mean')).toBe(3)
    for (const score of [1.7e308, 1.7e308]) await rate(testApp, 'a', { score })
    expect(await rewardOf('mean')).toBeCloseTo(6.8e307, -300)
  })

  it('a trace is one rollout, rewarded by feedback on any of its calls', async () => {
    const testApp = await buildTestApp()
    const attributes = { episode: 7 }
    await trace(testApp, 'r', { trace_id: 't', attributes })
    await trace(
      testApp,
      'c1',
      { trace_id: 't', parent_id: 'r', attributes, ...asked('one') },
      said('1'),
    )
    await trace(
      testApp,
      'c22',
      { trace_id: 't', parent_id: 'r', attributes, ...asked('two') },
      said('2'),
    )
    await trace(testApp, 'other', { trace_id: 'u', attributes, ...asked('three') }, said('3'))
    await rate(testApp, 'r', { score: 1 })
    await rate(testApp, 'other', { score: 0 })
    const { body } = await build(testApp, {
      rollout_by: 'trace_id',
      group_by: 'attributes.episode',
    })
    expect(body.stats).toMatchObject({ calls: 4, groups: 1, trajectories: 2 })
    const whole = body.trajectory_groups[0].trajectories.find(
      ({ reward }: { reward: number }) => reward === 1,
    )
    expect(whole.messages_and_choices[0].content).toBe('one')
    expect(whole.additional_histories).toHaveLength(1)
    expect(whole.additional_histories[0].messages_and_choices[0].content).toBe('two')
    expect(whole.metadata).toEqual({ call_id: 'c1' })
  })

  it.each(['trace_id', 'thread_id'])('a %s that the limit cuts is left out', async (unit) => {
    const testApp = await buildTestApp()
    const rollouts = { a: 'old', bb: 'long', ccc: 'whole', dddd: 'long', eeeee: 'whole' }
    for (const [id, name] of Object.entries(rollouts)) {
      const fields = { ...asked(`Hi ${id}`), [unit]: name, attributes: { task: 1 } }
      await trace(testApp, id, fields, said('Ho'))
      await rate(testApp, id, { score: 1 })
    }
    await trace(testApp, 'ffffff', { [unit]: 'old', op_name: 'other' }, 'no chat')
    const fields = {
      rollout_by: unit,
      group_by: 'attributes.task',
      filter: { op_names: ['agent'] },
    }
    const statsOf = async (limit: number, more = {}) => {
      const { body } = await build(testApp, { ...fields, limit, ...more })
      const { calls, trajectories, left_out } = body.stats
      return [calls, trajectories, left_out.cut_by_limit]
    }
    expect(await statsOf(2)).toEqual([2, 0, 2])
    // The call at the edge is the first of its rollout.
    expect(await statsOf(3)).toEqual([3, 1, 1])
    expect(await statsOf(4)).toEqual([4, 2, 0])
    expect(await statsOf(5)).toEqual([5, 3, 0])
    // What the filter or the query leaves out is no part of a rollout.
    const query = {
      $expr: { $gt: [{ $getField: 'started_at' }, { $literal: '2026-01-31T09:30:02Z' }] },
    }
    expect(await statsOf(2, { query })).toEqual([2, 1, 1])
    expect(await statsOf(2, { rollout_by: 'call' })).toEqual([2, 2, 0])
  })

  it('a rollout cut between calls of one time is left out', async () => {
    const testApp = await buildTestApp()
    for (const id of ['a', 'b', 'c']) {
      const trace_id = id === 'c' ? 'two' : 'one'
      await trace(testApp, id, { ...asked('Hi'), trace_id }, said('Ho'))
      await rate(testApp, id, { score: 1 })
    }
    const { body } = await build(testApp, { rollout_by: 'trace_id', limit: 2 })
    expect(body.stats).toMatchObject({ calls: 2, trajectories: 1, left_out: { cut_by_limit: 1 } })
  })

  it('policy versions of a rollout are those of one model', async () => {
    const testApp = await buildTestApp()
    const models = { a: 'owl:step2', bb: 'owl:step3', ccc: 'owl:step2', dddd: 'fox:step9' }
    for (const [id, model] of Object.entries(models)) {
      const fields = { ...asked('Hi'), trace_id: id.length < 3 ? 'one' : 'two' }
      await trace(testApp, id, fields, { ...said('Ho'), model })
      await rate(testApp, id, { score: 1 })
    }
    const { body } = await build(testApp, { rollout_by: 'trace_id' })
    expect(body.trajectory_groups[0].trajectories).toMatchObject([
      { initial_policy_version: 2, final_policy_version: null },
      { initial_policy_version: 2, final_policy_version: 3, metadata: { model: 'owl:step2' } },
    ])
  })

  it('the response says why rollouts were left out', async () => {
    const testApp = await buildTestApp()
    await trace(testApp, 'a', {}, 'no chat')
    await trace(testApp, 'bb', asked('Hi'), { choices: [{ finish_reason: 'stop' }, {}] })
    await trace(testApp, 'ccc', asked('Hi'), said('', { finish_reason: null }))
    await trace(testApp, 'dddd', asked('Hi'), said('unrated'))
    await trace(testApp, 'eeeee', { inputs: { messages: [{ role: 5 }] } }, said('odd'))
    await rate(testApp, 'eeeee', { score: 1 })
    const { body } = await build(testApp)
    expect(body).toEqual({
      trajectory_groups: [],
      stats: {
        calls: 5,
        groups: 0,
        trajectories: 0,
        held_out_groups: 0,
        held_out_trajectories: 0,
        left_out: {
          no_chat: 1,
          several_choices: 1,
          unfinished: 1,
          other_model: 0,
          redacted: 0,
          truncated: 0,
          too_long: 0,
          no_group: 0,
          no_reward: 1,
          not_a_trajectory: 1,
          cut_by_limit: 0,
          no_logprobs: 0,
          alone: 0,
          same_reward: 0,
        },
      },
    })
  })

  it('rollouts without a group value are left out: they need not be of one task', async () => {
    const testApp = await buildTestApp()
    const episodes = { a: { episode: 1 }, bb: { episode: 1 }, ccc: {}, dddd: { episode: null } }
    for (const [id, attributes] of Object.entries(episodes)) {
      await trace(testApp, id, { ...asked(`Hi ${id}`), attributes }, said('Ho'))
      await rate(testApp, id, { score: 1 })
    }
    const { body } = await build(testApp, { group_by: 'attributes.episode' })
    expect(body.trajectory_groups).toHaveLength(1)
    expect(body.stats).toMatchObject({ trajectories: 2, left_out: { no_group: 2 } })
  })

  it('only the newest calls of a filter and a query are read', async () => {
    const testApp = await buildTestApp()
    for (const id of ['a', 'bb', 'ccc']) {
      await trace(testApp, id, { ...asked('Hi'), op_name: id }, said('Ho'))
      await rate(testApp, id, { score: id.length })
    }
    const idsOf = async (fields: object) => {
      const { body } = await build(testApp, fields)
      return body.trajectory_groups.flatMap(
        ({ trajectories }: { trajectories: { metadata: { call_id: string } }[] }) =>
          trajectories.map(({ metadata }) => metadata.call_id),
      )
    }
    expect(await idsOf({ limit: 2 })).toEqual(['ccc', 'bb'])
    expect(await idsOf({ filter: { op_names: ['a'] } })).toEqual(['a'])
    const query = { $expr: { $eq: [{ $getField: 'id' }, { $literal: 'bb' }] } }
    expect(await idsOf({ query })).toEqual(['bb'])
  })

  it.each([
    ['group_by', { group_by: 'nothing.there' }],
    ['reward.path', { reward: { ...REWARD, path: 'nothing' } }],
    ['reward.path', { reward: { ...REWARD, path: 'payload.score', expression: 1 } }],
    ['reward.expression.$divide', { reward: { ...REWARD, expression: { $divide: [1] } } }],
    ['reward.expression.$add[0]', { reward: { ...REWARD, expression: { $add: [{ $eval: 1 }] } } }],
    ['limit', { limit: 10_001 }],
    ['reward', { reward: undefined }],
  ])('an invalid %s is refused by its path', async (param, fields) => {
    const { status, body } = await build(await buildTestApp(), fields)
    expect(status).toBe(422)
    expect(body.error.param).toBe(param)
  })

  it('trajectory groups need both scopes and the project', async () => {
    const testApp = await buildTestApp()
    for (const rights of [
      { scopes: ['training'] as const },
      { scopes: ['traces:read'] as const },
      { projects: ['acme/other'] },
    ]) {
      const { status } = await build(testApp, {}, { key: await testApp.createKey(rights) })
      expect(status).toBe(403)
    }
    expect((await build(testApp, {}, { key: null })).status).toBe(401)
  })
})
