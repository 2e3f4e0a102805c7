/** Which jobs the schema takes and which it refuses, field by field. */
import { describe, expect, it } from 'vitest'
import { renderPath, toProblems } from '../../../src/schemas/problems.ts'
import { TrainingJobCreateRequest } from '../../../src/schemas/training/training-job.ts'
import {
  CHOICE,
  FULL_CONFIG,
  FULL_TRAJECTORY,
  jobOf,
  TRAJECTORY,
  UNKNOWN_ID,
} from '../preview-fixtures.ts'

const JOB = jobOf(UNKNOWN_ID, FULL_TRAJECTORY, FULL_CONFIG)
const IN_TRAJECTORY = 'trajectory_groups[0].trajectories[0]'

/** Paths of what the schema finds wrong in a body; a body comes from JSON, so undefined is absent. */
function faultsOf(body: unknown): string[] {
  const parsed = JSON.parse(JSON.stringify(body))
  const result = TrainingJobCreateRequest.safeParse(parsed)
  return result.success ? [] : toProblems(result.error.issues, parsed).map(({ path }) => path)
}

function withField(field: string, value: unknown): unknown {
  return jobOf(UNKNOWN_ID, { ...TRAJECTORY, [field]: value })
}

function withItem(item: unknown): unknown {
  return withField('messages_and_choices', [item])
}

function withTool(tool: unknown): unknown {
  return withField('tools', [tool])
}

function withLogprob(entry: unknown): unknown {
  return withItem({ ...CHOICE, logprobs: { content: [CHOICE.logprobs.content[0], entry] } })
}

type Wrong = [field: string, value: unknown, path?: string]

describe('a training job', () => {
  it('a training job with every field of its tables is accepted unchanged', () => {
    const parsed = JSON.parse(JSON.stringify(JOB))
    expect(TrainingJobCreateRequest.parse(parsed)).toEqual(parsed)
  })

  it.each<Wrong>([
    ['model_id', undefined],
    ['model_id', null],
    ['model_id', 1],
    ['model_id', ''],
    ['model_id', 'policy'],
    ['model_id', `${UNKNOWN_ID}0`],
    ['trajectory_groups', undefined],
    ['trajectory_groups', null],
    ['trajectory_groups', {}],
    ['trajectory_groups', []],
    ['trajectory_groups', [null], 'trajectory_groups[0]'],
    ['trajectory_groups', [{ trajectories: null }], 'trajectory_groups[0].trajectories'],
    ['trajectory_groups', [{ trajectories: [1] }], IN_TRAJECTORY],
    ['trajectory_groups', Array(10_001).fill({ trajectories: [] })],
    [
      'trajectory_groups',
      [{ trajectories: Array(10_001).fill(TRAJECTORY) }],
      'trajectory_groups[0].trajectories',
    ],
    ['experimental_config', []],
    ['experimental_config', 'ppo'],
    ['experimental_config', true],
    ['experimental_config', Object.fromEntries(Array.from({ length: 101 }, (_, at) => [at, 1]))],
    ['unknown', 1],
  ])('refuses §2.12 %s = %j', (field, value, path = field) => {
    expect(faultsOf({ ...JOB, [field]: value })).toEqual([path])
  })

  it.each([{}, null, undefined])('takes §2.12 experimental_config = %j', (config) => {
    expect(faultsOf({ ...JOB, experimental_config: config })).toEqual([])
  })

  it('takes §2.12 trajectory_groups of 10,000 groups, empty ones and unknown keys', () => {
    const groups = Array(10_000).fill({ trajectories: [], exceptions: [], metadata: {} })
    expect(faultsOf({ ...JOB, trajectory_groups: groups })).toEqual([])
  })
})

describe('a trajectory', () => {
  it.each<Wrong>([
    ['messages_and_choices', null],
    ['messages_and_choices', {}],
    ['messages_and_choices', Array(10_001).fill({ role: 'user', content: '' })],
    ['tools', {}],
    ['tools', Array(513).fill({ type: 'function', function: { name: 'f' } })],
    ['additional_histories', null],
    ['additional_histories', {}],
    ['additional_histories', [1], 'additional_histories[0]'],
    ['additional_histories', [{}], 'additional_histories[0].messages_and_choices'],
    [
      'additional_histories',
      [{ messages_and_choices: [{}] }],
      'additional_histories[0].messages_and_choices[0]',
    ],
    [
      'additional_histories',
      [{ messages_and_choices: [], tools: [1] }],
      'additional_histories[0].tools[0]',
    ],
    ['reward', null],
    ['reward', '1'],
    ['reward', true],
    ['initial_policy_version', -1],
    ['initial_policy_version', 0.5],
    ['initial_policy_version', '1'],
    ['initial_policy_version', 2 ** 53],
    ['final_policy_version', -1],
    ['final_policy_version', 0.5],
    ['final_policy_version', true],
    ['metrics', null],
    ['metrics', []],
    ['metadata', null],
    ['metadata', []],
    ['logs', null],
    ['logs', 'line'],
    ['logs', [1], 'logs[0]'],
    ['logs', Array(10_001).fill('')],
    ['start_time', null],
    ['start_time', 1],
    ['start_time', 'yesterday'],
    ['start_time', '2026-02-30T00:00:00Z'],
  ])('is refused for §2.12 trajectory %s = %.60j', (field, value, path = field) => {
    expect(faultsOf(withField(field, value))).toEqual([`${IN_TRAJECTORY}.${path}`])
  })

  it.each<Wrong>([
    ['messages_and_choices', []],
    ['tools', null],
    ['tools', []],
    ['additional_histories', []],
    ['reward', -1.5e300],
    ['reward', 0],
    ['initial_policy_version', null],
    ['initial_policy_version', 0],
    ['final_policy_version', null],
    ['final_policy_version', 7],
    ['metrics', {}],
    ['metadata', {}],
    ['logs', []],
    ['start_time', '2026-01-02T03:04:05.123456+02:00'],
    ['auto_metrics', { anything: [1] }],
  ])('is taken for §2.12 trajectory %s = %j', (field, value) => {
    expect(faultsOf(withField(field, value))).toEqual([])
  })

  it('a trajectory with a reward beyond the doubles is refused', () => {
    const text = JSON.stringify(jobOf(UNKNOWN_ID)).replace('"reward":1', '"reward":1e999')
    const result = TrainingJobCreateRequest.safeParse(JSON.parse(text))
    expect(result.error?.issues.map(({ path }) => renderPath(path))).toEqual([
      `${IN_TRAJECTORY}.reward`,
    ])
  })
})

describe('an item of messages_and_choices', () => {
  const refused: readonly (readonly [item: unknown, path: string])[] = [
    [1, ''],
    [null, ''],
    [[], ''],
    [{}, ''],
    [{ content: 'x' }, ''],
    [{ finish_reason: 'stop' }, ''],
    [{ message: { role: 'assistant' } }, ''],
    [{ role: '' }, '.role'],
    [{ role: 1 }, '.role'],
    [{ role: 'r'.repeat(65) }, '.role'],
    [{ role: 'user' }, '.content'],
    [{ role: 'user', content: null }, '.content'],
    [{ role: 'system', content: 1 }, '.content'],
    [{ role: 'developer' }, '.content'],
    [{ role: 'tool', tool_call_id: 'c' }, '.content'],
    [{ role: 'user', content: [1] }, '.content[0]'],
    [{ role: 'user', content: [{}] }, '.content[0]'],
    [{ role: 'user', content: '', name: 1 }, '.name'],
    [{ role: 'tool', content: '', tool_call_id: 1 }, '.tool_call_id'],
    [{ role: 'assistant', tool_calls: {} }, '.tool_calls'],
    [{ role: 'assistant', tool_calls: [1] }, '.tool_calls[0]'],
    [{ ...CHOICE, finish_reason: null }, '.finish_reason'],
    [{ ...CHOICE, finish_reason: '' }, '.finish_reason'],
    [{ ...CHOICE, index: undefined }, '.index'],
    [{ ...CHOICE, index: -1 }, '.index'],
    [{ ...CHOICE, message: 'x' }, '.message'],
    [{ ...CHOICE, message: {} }, '.message.role'],
    [{ ...CHOICE, message: { role: 'user' } }, '.message.role'],
    [{ ...CHOICE, message: { role: 'assistant', content: 1 } }, '.message.content'],
    [{ ...CHOICE, role: 'user', index: 'x' }, '.index'],
    [{ ...CHOICE, logprobs: [] }, '.logprobs'],
    [{ ...CHOICE, logprobs: { content: {} } }, '.logprobs.content'],
    [{ ...CHOICE, logprobs: { refusal: 1 } }, '.logprobs.refusal'],
  ]
  it.each(refused)('is refused as %j', (item, path) => {
    const at = `${IN_TRAJECTORY}.messages_and_choices[0]`
    const [first] = faultsOf(withItem(item))
    expect(first).toBe(`${at}${path}`)
  })

  it.each([
    [{}, '.token'],
    [{ token: 1, logprob: 0 }, '.token'],
    [{ token: '' }, '.logprob'],
    [{ token: '', logprob: null }, '.logprob'],
    [{ token: '', logprob: '0' }, '.logprob'],
    [{ token: '', logprob: 0, bytes: [256] }, '.bytes[0]'],
    [{ token: '', logprob: 0, bytes: 'x' }, '.bytes'],
    [{ token: '', logprob: 0, top_logprobs: {} }, '.top_logprobs'],
    [1, ''],
  ])('is refused for the logprob %j', (entry, path) => {
    const at = `${IN_TRAJECTORY}.messages_and_choices[0].logprobs.content[1]`
    expect(faultsOf(withLogprob(entry))[0]).toBe(`${at}${path}`)
  })

  it.each([
    [{ role: 'assistant' }],
    [{ role: 'assistant', content: null, refusal: 'no' }],
    [{ role: 'narrator', content: ['a', { type: 'image_url', image_url: {} }] }],
    [{ ...CHOICE, finish_reason: 'abort' }],
    [{ ...CHOICE, logprobs: undefined }],
    [{ ...CHOICE, logprobs: { content: null } }],
  ])('is taken as %j', (item) => {
    expect(faultsOf(withItem(item))).toEqual([])
  })
})

it.each([
  ['metadata', { a: { b: [1] } }],
  ['metrics', { a: 'x', b: null, c: { d: 1 } }],
  ['tools', [{ type: 'custom', function: { name: 'f' } }]],
])('%s of a trajectory is accepted where the table leaves it open: %j', (field, value) => {
  expect(faultsOf(withField(field, value))).toEqual([])
})

describe('a tool of §2.12 trajectory tools', () => {
  it.each([
    [1, ''],
    [{}, '.type'],
    [{ type: 1, function: { name: 'f' } }, '.type'],
    [{ type: 'function' }, '.function'],
    [{ type: 'function', function: {} }, '.function.name'],
    [{ type: 'function', function: { name: '' } }, '.function.name'],
    [{ type: 'function', function: { name: 'f', description: 1 } }, '.function.description'],
    [{ type: 'function', function: { name: 'f', parameters: [] } }, '.function.parameters'],
    [{ type: 'function', function: { name: 'f', strict: 'no' } }, '.function.strict'],
  ])('is refused as %j', (tool, path) => {
    expect(faultsOf(withTool(tool))[0]).toBe(`${IN_TRAJECTORY}.tools[0]${path}`)
  })
})

describe('the config', () => {
  const WRONG: Readonly<Record<string, readonly unknown[]>> = {
    advantage_balance: [1.01, -1.01, '0', true],
    epsilon: [-0.1, '1', true],
    epsilon_high: [-0.1, '1', {}],
    model_k2_tau: [-1, 'x', []],
    kimi_k2_tau: [-1, 'x', []],
    learning_rate: [0, -1, '1e-6', false],
    mask_prob_ratio: [0, 'true', 1],
    max_negative_advantage_importance_sampling_weight: [0, -1, '1'],
    ppo: [1, 'false', {}],
    precalculate_logprobs: [0, 'true', []],
    scale_rewards: [1, 'true', {}],
  }
  const RIGHT: Readonly<Record<string, readonly unknown[]>> = {
    advantage_balance: [-1, 0, 1],
    epsilon: [0, 1],
    epsilon_high: [0, 4],
    model_k2_tau: [0, 0.5],
    kimi_k2_tau: [0, 0.5],
    learning_rate: [5e-6, 1],
    mask_prob_ratio: [true, false],
    max_negative_advantage_importance_sampling_weight: [1e-9, 3],
    ppo: [true, false],
    precalculate_logprobs: [true, false],
    scale_rewards: [true, false],
  }
  it.each(Object.entries(WRONG))(
    'refuses a wrong §2.12 experimental_config %s',
    (field, values) => {
      for (const value of values) {
        const faults = faultsOf(jobOf(UNKNOWN_ID, TRAJECTORY, { [field]: value }))
        expect([value, faults]).toEqual([value, [`experimental_config.${field}`]])
      }
    },
  )

  it.each(Object.entries(RIGHT))(
    'takes §2.12 experimental_config %s, and null for it',
    (field, values) => {
      for (const value of [...values, null]) {
        expect(faultsOf(jobOf(UNKNOWN_ID, TRAJECTORY, { [field]: value }))).toEqual([])
      }
    },
  )

  it.each(['learning_rate', 'epsilon', 'model_k2_tau'])('an infinite %s is refused', (field) => {
    const text = `{"${field}":1e999}`
    const config = JSON.parse(text)
    const body = { model_id: UNKNOWN_ID, trajectory_groups: [{ trajectories: [] }] }
    const result = TrainingJobCreateRequest.safeParse({ ...body, experimental_config: config })
    expect(result.success).toBe(false)
  })
})

describe('the faults of a job', () => {
  it('at most ten faults of a job are reported', () => {
    const bad = {
      messages_and_choices: Array(50).fill({ role: 1 }),
      reward: 'x',
      logs: Array(50).fill(1),
    }
    const groups = Array(20).fill({ trajectories: Array(20).fill(bad) })
    expect(faultsOf({ model_id: UNKNOWN_ID, trajectory_groups: groups })).toHaveLength(10)
  })

  it('reported faults repeat no text of the body', () => {
    const secret = 'swordfish'
    const bodies = [
      withField('reward', secret),
      withField('start_time', secret),
      withField('logs', [{ secret }]),
      withItem(secret),
      withItem({ role: secret, content: { secret } }),
      withItem({ ...CHOICE, finish_reason: 'stop', message: { role: secret } }),
      withTool({ type: secret, function: { name: 1 } }),
      withLogprob({ token: secret, logprob: secret }),
      jobOf(secret),
      jobOf(UNKNOWN_ID, TRAJECTORY, { ppo: secret }),
    ]
    for (const body of bodies) {
      const result = TrainingJobCreateRequest.safeParse(body)
      const problems = toProblems(result.error?.issues ?? [], body)
      expect(problems).not.toEqual([])
      expect(JSON.stringify(problems)).not.toContain(secret)
    }
  })
})
