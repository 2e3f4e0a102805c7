/** Training jobs out of rated traffic: what they would train on, and what is left out and why. */
import { describe, expect, it } from 'vitest'
import { buildTestApp, type TestApp } from '../../support/build-test-app.ts'
import { createModel, JOBS_URL } from '../preview-fixtures.ts'
import { asked, chat, PROJECT, rate, said, trace } from './rated-calls.ts'

const URL = '/v1/preview/training-jobs/from-calls'
const GROUPS_URL = '/v1/preview/trajectory-groups/from-calls'
const REWARD = { feedback_type: 'rating' }

const send = ({ post }: TestApp, fields: object, options = {}) =>
  post(URL, { project_id: PROJECT, reward: REWARD, held_out: 0, ...fields }, options)

/** Two rated responses to each of these prompts. */
async function fill(testApp: TestApp, prompts: readonly string[]) {
  for (const prompt of prompts) {
    await rate(testApp, await chat(testApp, prompt, { seed: 1 }), { score: 0 })
    await rate(testApp, await chat(testApp, prompt, { seed: 2 }), { score: 1 })
  }
}

/** A traced chat with log probabilities, rated. */
async function traceRated(testApp: TestApp, id: string, score: number, fields: object = {}) {
  const logprobs = { content: [{ token: 'Ho', logprob: -1 }] }
  await trace(testApp, id, asked('Hi'), { model: 'tiny', ...said('Ho', { logprobs, ...fields }) })
  await rate(testApp, id, { score })
}

describe('POST /v1/preview/training-jobs/from-calls', () => {
  it('shows what would be trained on, and queues the job when it is asked to', async () => {
    const testApp = await buildTestApp()
    const model_id = await createModel(testApp)
    await fill(testApp, ['one plus one?', 'Two  plus two?'])
    await rate(testApp, await chat(testApp, 'two plus two?', { seed: 3 }), { score: 0.5 })
    const shown = await send(testApp, { model_id })
    expect(shown.status).toBe(200)
    expect(shown.body.job).toBeNull()
    expect(shown.body.stats).toMatchObject({ calls: 5, groups: 2, trajectories: 5 })
    expect(shown.body.examples).toMatchObject([
      { trajectories: 3, lowest_reward: 0, mean_reward: 0.5, highest_reward: 1 },
      { trajectories: 2, rollouts: [{ reward: 1 }, { reward: 0 }] },
    ])
    expect(shown.body.examples[0].prompt).toMatch(/plus two/)
    expect((await testApp.get(JOBS_URL)).body.data).toEqual([])

    const started = await send(testApp, { model_id, start: true })
    expect(started.body.job).toMatchObject({ status: 'queued', model_id })
    const detail = await testApp.get(`${JOBS_URL}/${started.body.job.id}`)
    expect(detail.body).toMatchObject({ group_count: 2, trajectory_count: 5, trainable_count: 5 })
    expect(detail.body.source).toMatchObject({ project_id: PROJECT, held_out: 0, reward: REWARD })
    const audit = await testApp.get('/v1/audit?action=training_job.create')
    expect(audit.body.data).toMatchObject([{ subject_id: model_id, after: { trajectories: 5 } }])
  })

  it('shows what any model would train on where none is named, and starts no job without one', async () => {
    const testApp = await buildTestApp()
    await fill(testApp, ['one plus one?'])
    expect((await send(testApp, {})).body).toMatchObject({ job: null, stats: { groups: 1 } })
    const { status, body } = await send(testApp, { start: true })
    expect([status, body.error.param]).toEqual([422, 'model_id'])
  })

  it('the same Idempotency-Key queues one job', async () => {
    const testApp = await buildTestApp()
    const model_id = await createModel(testApp)
    await fill(testApp, ['one plus one?'])
    const headers = { 'idempotency-key': 'once' }
    const ids = []
    for (let i = 0; i < 2; i++) {
      const { body } = await send(testApp, { model_id, start: true }, { headers })
      ids.push(body.job.id)
    }
    expect(ids[0]).toBe(ids[1])
  })

  it('the reward is the weighted sum of several kinds of feedback', async () => {
    const testApp = await buildTestApp()
    for (const [id, score] of [
      ['a', 1],
      ['bb', 2],
      ['ccc', 3],
    ] as const) {
      await traceRated(testApp, id, score)
      if (id !== 'bb') await rate(testApp, id, { output: { passed: true } }, 'judge')
    }
    const judge = { feedback_type: 'judge', path: 'payload.output.passed', weight: 10 }
    const rewardsOf = async (reward: object[]) => {
      const { body } = await testApp.post(GROUPS_URL, { project_id: PROJECT, reward })
      const trajectories = body.trajectory_groups.flatMap(
        (group: { trajectories: { reward: number }[] }) => group.trajectories,
      )
      const rewards = trajectories.map(({ reward: one }: { reward: number }) => one)
      return [...rewards.sort((x: number, y: number) => x - y), body.stats.left_out.no_reward]
    }
    const half = { ...REWARD, weight: 0.5 }
    expect(await rewardsOf([half, judge])).toEqual([10.5, 11.5, 1])
    expect(await rewardsOf([half, { ...judge, missing: -1 }])).toEqual([-9, 10.5, 11.5, 0])
  })

  it('says why rollouts are left out', async () => {
    const testApp = await buildTestApp()
    const model_id = await createModel(testApp)
    await traceRated(testApp, 'a', 0)
    await traceRated(testApp, 'bb', 1)
    await traceRated(testApp, 'ccc', 1, { logprobs: null })
    await traceRated(testApp, 'dddd', 1, { finish_reason: 'length' })
    await trace(testApp, 'eeeee', asked('Hi'), { model: 'another', ...said('Ho') })
    await trace(
      testApp,
      'ffffff',
      { ...asked('Hi'), attributes: { redacted: { email: 1 } } },
      said('Ho'),
    )
    await trace(testApp, 'g'.repeat(7), asked('H'.repeat(500)), { model: 'tiny', ...said('Ho') })
    for (const id of ['other', 'other2']) {
      const logprobs = { content: [{ token: 'Ho', logprob: -1 }] }
      await trace(testApp, id, asked(id === 'other' ? 'alone' : 'same'), {
        model: 'tiny',
        ...said('Ho', { logprobs }),
      })
      await rate(testApp, id, { score: 1 })
    }
    const models = ['tiny', 'policy']
    const { body } = await send(testApp, {
      model_id,
      models,
      truncated: 'leave_out',
      chars_max: 400,
    })
    expect(body.stats).toMatchObject({ calls: 9, groups: 1, trajectories: 2 })
    expect(body.stats.left_out).toMatchObject({
      no_logprobs: 1,
      truncated: 1,
      other_model: 2,
      too_long: 1,
      alone: 2,
      same_reward: 0,
    })
    const any = await testApp.post(GROUPS_URL, { project_id: PROJECT, reward: REWARD })
    expect(any.body.stats.left_out).toMatchObject({ redacted: 1, other_model: 0, truncated: 0 })
    const none = await send(testApp, { model_id, chars_max: 1, start: true })
    expect(none.status).toBe(422)
    expect(none.body.error).toMatchObject({
      param: 'start',
      message: expect.stringContaining('too_long'),
    })
  })

  it('holds prompts out of the training side, the same ones each time', async () => {
    const testApp = await buildTestApp()
    const model_id = await createModel(testApp)
    await fill(
      testApp,
      Array.from({ length: 8 }, (_, index) => `${index} plus 1?`),
    )
    const { body } = await send(testApp, { model_id, held_out: 0.5 })
    const { groups, held_out_groups } = body.stats
    expect(groups + held_out_groups).toBe(8)
    expect(held_out_groups).toBeGreaterThan(0)
    const promptsOf = async (part: string) => {
      const asking = { project_id: PROJECT, reward: REWARD, held_out: 0.5, part }
      const { trajectory_groups } = (await testApp.post(GROUPS_URL, asking)).body
      return trajectory_groups.map(
        (group: { trajectories: { messages_and_choices: { content: string }[] }[] }) =>
          group.trajectories[0]?.messages_and_choices[0]?.content,
      )
    }
    const [training, heldOut] = [await promptsOf('training'), await promptsOf('held_out')]
    expect([training.length, heldOut.length]).toEqual([groups, held_out_groups])
    expect(training.filter((prompt: string) => heldOut.includes(prompt))).toEqual([])
  })

  it('shuffled rewards are the rewards of the group in another order', async () => {
    const testApp = await buildTestApp()
    const model_id = await createModel(testApp)
    await fill(testApp, ['one plus one?'])
    const seeds = Array.from({ length: 12 }, (_, seed) => seed)
    const bests = new Set<string>()
    for (const shuffle_seed of seeds) {
      const { body } = await send(testApp, { model_id, shuffle_seed })
      const [best, worst] = body.examples[0].rollouts
      expect([best.reward, worst.reward]).toEqual([1, 0])
      bests.add(best.call_id)
    }
    expect(bests.size).toBe(2)
  })

  it('refuses to start a job by so many ids that its row would be long', async () => {
    const testApp = await buildTestApp()
    const model_id = await createModel(testApp)
    await fill(testApp, ['one plus one?'])
    const trace_roots_only = true
    const op_names = [
      'chat.completions',
      ...Array.from({ length: 90 }, (_, i) => `${i}`.repeat(500)),
    ]
    const filter = { op_names, trace_roots_only }
    expect((await send(testApp, { model_id, filter })).body.stats.groups).toBe(1)
    const { status, body } = await send(testApp, { model_id, filter, start: true })
    expect([status, body.error.param]).toEqual([422, 'filter'])
    // Before any call is read: there would be none.
    const none = { ...filter, op_names: op_names.slice(1) }
    const early = await send(testApp, { model_id, filter: none, start: true })
    expect([early.status, early.body.error.param]).toEqual([422, 'filter'])
  })

  it.each([
    ['model_id', { model_id: 'x' }],
    ['held_out', { held_out: 1 }],
    ['models', { models: [] }],
    ['reward[1].path', { reward: [REWARD, { ...REWARD, path: 'nothing' }] }],
    ['reward[0].weight', { reward: [{ ...REWARD, weight: 'x' }] }],
    ['truncated', { truncated: 'maybe' }],
    ['shuffle_seed', { shuffle_seed: -1 }],
    ['experimental_config.learning_rate', { experimental_config: { learning_rate: 0 } }],
  ])('an invalid %s is refused by its path', async (param, fields) => {
    const testApp = await buildTestApp()
    const model_id = await createModel(testApp)
    const { status, body } = await send(testApp, { model_id, ...fields })
    expect([status, body.error?.param]).toEqual([422, param])
  })

  it('needs the scopes, the project of the calls, and the model', async () => {
    const testApp = await buildTestApp()
    const model_id = await createModel(testApp)
    for (const rights of [
      { scopes: ['training'] as const },
      { scopes: ['traces:read'] as const },
      { projects: ['acme/other'] },
    ]) {
      const { status } = await send(testApp, { model_id }, { key: await testApp.createKey(rights) })
      expect([403, 404]).toContain(status)
    }
    const calls = await testApp.createKey({ projects: ['acme/demo'] })
    const foreign = await send(testApp, { model_id, project_id: 'acme/other' }, { key: calls })
    expect(foreign.body.error.code).toBe('project_forbidden')
  })
})
