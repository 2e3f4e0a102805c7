/** Models, trajectories and jobs for the tests of the training preview. */
import { expect } from 'vitest'
import type { TestApp } from '../support/build-test-app.ts'

export const MODELS_URL = '/v1/preview/models'
export const JOBS_URL = '/v1/preview/training-jobs'
export const UNKNOWN_ID = '01998c9e-0000-7000-8000-00000000abcd'
export const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

export const MODEL = { entity: 'acme', project: 'demo', name: 'policy', base_model: 'tiny' }

export const CHOICE = {
  finish_reason: 'stop',
  index: 0,
  message: { role: 'assistant', content: 'four' },
  logprobs: {
    content: [
      { token: 'token_id:7', logprob: -0.25, bytes: [102], top_logprobs: [] },
      { token: 'our', logprob: -1, bytes: null, top_logprobs: [{ token: 'x', logprob: -2 }] },
    ],
    refusal: null,
  },
}

/** A trajectory with nothing but what is required. */
export const TRAJECTORY = {
  messages_and_choices: [{ role: 'user', content: '2 + 2?' }, CHOICE],
  reward: 1,
}

/** A trajectory with every field, and keys that no table names. */
export const FULL_TRAJECTORY = {
  messages_and_choices: [
    { role: 'developer', content: 'Be short.' },
    { role: 'system', content: [{ type: 'text', text: 'Count.' }, 'now'] },
    { role: 'user', content: '2 + 2?', name: 'Ada', cache: { kept: true } },
    { role: 'assistant', content: null, tool_calls: [{ id: 'c1', function: { name: 'add' } }] },
    { role: 'tool', content: '4', tool_call_id: 'c1' },
    { role: 'function', content: null, name: 'add' },
    { role: 'judge', weight: 2 },
    { ...CHOICE, token_ids: [7, 8], message: { role: 'assistant', content: null, thought: 't' } },
    { ...CHOICE, logprobs: null },
  ],
  tools: [
    {
      type: 'function',
      function: {
        name: 'add',
        description: 'Adds.',
        parameters: { type: 'object' },
        strict: null,
        extra: 1,
      },
    },
  ],
  additional_histories: [{ messages_and_choices: [CHOICE], tools: null, extra: 1 }],
  reward: -0.5,
  initial_policy_version: 0,
  final_policy_version: null,
  metrics: { score: 0.5, turns: 3, solved: true },
  metadata: { seed: 1, task: 'sum', hard: false, note: null },
  logs: ['began', ''],
  start_time: '2026-01-02T03:04:05Z',
  auto_metrics: { duration: 1 },
}

export const FULL_CONFIG = {
  advantage_balance: -1,
  epsilon: 0,
  epsilon_high: 4,
  model_k2_tau: 0,
  learning_rate: 1e-6,
  mask_prob_ratio: false,
  max_negative_advantage_importance_sampling_weight: 0.8,
  ppo: true,
  precalculate_logprobs: false,
  scale_rewards: true,
  importance_sampling_level: 'sequence',
}

/** A job of one group. */
export function jobOf(model_id: string, trajectory: object = TRAJECTORY, config?: unknown) {
  return {
    model_id,
    trajectory_groups: [{ trajectories: [trajectory] }],
    experimental_config: config,
  }
}

/** Makes a model and gives back its id. */
export async function createModel({ post }: TestApp, fields: object = {}): Promise<string> {
  const { status, body } = await post(MODELS_URL, { ...MODEL, ...fields })
  expect(status).toBe(200)
  return body.id
}

/** Whether no job of the model was stored: then the next one is the first of its queue. */
export async function expectNoJobs(testApp: TestApp, model_id: string): Promise<void> {
  const { status, body } = await testApp.post(JOBS_URL, jobOf(model_id))
  expect(status).toBe(200)
  const job = await testApp.deps.trainingJobs.findJob(body.id)
  expect(job?.seq).toBe(1)
}
