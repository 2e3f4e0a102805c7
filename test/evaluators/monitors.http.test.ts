import { describe, expect, it } from 'vitest'
import { buildEvaluatorApp, openRunner, project_id, RULE, ruleScorers } from './evaluator-app.ts'

async function build() {
  const app = await buildEvaluatorApp()
  const publish = async (object_id: string, val: object) => {
    const { body } = await app.post('/obj/create', { obj: { project_id, object_id, val } })
    return `weave:///${project_id}/object/${object_id}:${body.digest}`
  }
  /** With the fields of Weave for Python 0.54. */
  const publishMonitor = async (scorers: readonly string[], more: object = {}) =>
    publish('my-monitor', {
      _type: 'Monitor',
      _class_name: 'Monitor',
      _bases: ['Object', 'BaseModel'],
      name: 'my-monitor',
      description: null,
      sampling_rate: 1,
      scorers,
      op_names: [`weave:///${project_id}/op/wanted:*`],
      query: null,
      is_traced: true,
      active: true,
      scorer_debounce_config: null,
      ...more,
    })
  const run = (monitor_ref: string) =>
    app.post('/evaluators/from_monitor', { project_id, monitor_ref })
  return { ...app, publish, publishMonitor, run, runner: openRunner(app.deps, ruleScorers()) }
}

describe('monitors', () => {
  it('run by their scorers that hold no code, and results name both', async () => {
    const { publish, publishMonitor, run, storeCall, runner, results } = await build()
    const scorer_ref = await publish('says-yes', RULE)
    const monitor_ref = await publishMonitor([scorer_ref])
    const made = await run(monitor_ref)
    expect(made.status, made.text).toBe(200)
    expect(made.body.evaluators).toMatchObject([
      { name: 'my-monitor.says-yes', state: 'active', monitor_ref, ref: scorer_ref },
    ])
    await storeCall({ op_name: `weave:///${project_id}/op/wanted:v1` })
    await storeCall({ op_name: `weave:///${project_id}/op/other:v1` })
    await runner.runRound()
    expect(await results()).toMatchObject([
      {
        feedback_type: 'wandb.runnable.says-yes',
        runnable_ref: scorer_ref,
        trigger_ref: monitor_ref,
      },
    ])
  })

  it('are run again by the next version, which may pause them', async () => {
    const { publish, publishMonitor, run } = await build()
    const scorer_ref = await publish('says-yes', RULE)
    const first = (await run(await publishMonitor([scorer_ref]))).body.evaluators[0]
    const debounce = { aggregation_field: 'trace_id', timeout_seconds: 7.5 }
    const more = { active: false, scorer_debounce_config: debounce }
    const monitor_ref = await publishMonitor([scorer_ref], more)
    const [next] = (await run(monitor_ref)).body.evaluators
    expect(next).toMatchObject({
      id: first.id,
      version: 2,
      monitor_ref,
      state: 'paused',
      target: 'trace',
      rest_seconds: 8,
    })
  })

  it('with code, or of spans of agents, are refused', async () => {
    const { publish, publishMonitor, run } = await build()
    const code = await publish('code', { _class_name: 'MyScorer', score: 'weave:///a/b/op/c:d' })
    const rule = await publish('says-yes', RULE)
    const refused = [
      await publishMonitor([code]),
      await publishMonitor([rule], { op_names: ['weave.genai.turn_ended'] }),
      rule,
    ]
    for (const ref of refused) {
      const { status, body } = await run(ref)
      expect([status, body.error.param]).toEqual([422, 'monitor_ref'])
    }
  })
})
