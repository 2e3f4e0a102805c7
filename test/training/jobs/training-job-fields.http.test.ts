import { describe, expect, it } from 'vitest'
import { buildTestApp } from '../../support/build-test-app.ts'
import { createModel, expectNoJobs, JOBS_URL, jobOf, TRAJECTORY } from '../preview-fixtures.ts'

describe('POST /v1/preview/training-jobs 422', () => {
  it('names the field at fault by its dotted path and stores nothing', async () => {
    const testApp = await buildTestApp()
    const model_id = await createModel(testApp)
    const good = jobOf(model_id)
    const second = (trajectory: object) => ({
      ...good,
      trajectory_groups: [{ trajectories: [TRAJECTORY, trajectory] }],
    })
    const cases: readonly (readonly [body: unknown, param: string])[] = [
      [{ ...good, model_id: 'policy' }, 'model_id'],
      [{ ...good, model_id: undefined }, 'model_id'],
      [{ ...good, trajectory_groups: [] }, 'trajectory_groups'],
      [{ ...good, trajectory_groups: undefined }, 'trajectory_groups'],
      [{ ...good, experimental_config: 1 }, 'experimental_config'],
      [{ ...good, experimental_config: { ppo: 1 } }, 'experimental_config.ppo'],
      [{ ...good, unknown: 1 }, 'unknown'],
      [second({ reward: null }), 'trajectory_groups[0].trajectories[1].reward'],
      [
        second({ messages_and_choices: [{ role: 'user' }], reward: 1 }),
        'trajectory_groups[0].trajectories[1].messages_and_choices[0].content',
      ],
    ]
    for (const [body, param] of cases) {
      const answer = await testApp.post(JOBS_URL, body)
      expect([answer.status, answer.body.error.code, answer.body.error.param]).toEqual([
        422,
        'validation_failed',
        param,
      ])
    }
    for (const text of ['null', '[]', '1', '""']) {
      expect((await testApp.post(JOBS_URL, text)).status).toBe(422)
    }
    await expectNoJobs(testApp, model_id)
  })

  it('a config text over the limit, unknown keys included, is refused and stores nothing', async () => {
    const testApp = await buildTestApp()
    const model_id = await createModel(testApp)
    const configOf = (chars: number) => ({ note: 'x'.repeat(chars - '{"note":""}'.length) })
    const { status, body } = await testApp.post(
      JOBS_URL,
      jobOf(model_id, TRAJECTORY, configOf(65_537)),
    )
    expect([status, body.error.param]).toEqual([422, 'experimental_config'])
    await expectNoJobs(testApp, model_id)
    const longest = await testApp.post(JOBS_URL, jobOf(model_id, TRAJECTORY, configOf(65_536)))
    expect(longest.status).toBe(200)
  })

  it('NaN in a training job is refused with invalid_json', async () => {
    const testApp = await buildTestApp()
    const model_id = await createModel(testApp)
    const text = JSON.stringify(jobOf(model_id)).replace('"reward":1', '"reward":NaN')
    const { status, body } = await testApp.post(JOBS_URL, text)
    expect([status, body.error.code]).toEqual([400, 'invalid_json'])
    await expectNoJobs(testApp, model_id)
  })
})
