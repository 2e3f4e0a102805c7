/** Exports of training data: what lines each format has, and who may have them. */
import { describe, expect, it } from 'vitest'
import { EXPORT_FORMATS } from '../../../src/schemas/training/training-export.ts'
import { buildTestApp, type TestApp } from '../../support/build-test-app.ts'
import { asked, PROJECT, rate, said, trace } from './rated-calls.ts'

const URL = '/v1/preview/training-data/export'
const TOOLS = [
  { type: 'function', function: { name: 'add', parameters: { type: 'object', properties: {} } } },
]
const CALL = { id: 'c1', type: 'function', function: { name: 'add', arguments: '{"a":1}' } }

/** Two rated responses to one prompt, and a prompt alone with a picture. */
async function buildFilledApp() {
  const app = await buildTestApp()
  const content = [
    { type: 'text', text: 'One ' },
    { type: 'text', text: 'plus one?' },
  ]
  const messages = [
    { role: 'system', content: 'Be short.' },
    { role: 'user', content },
  ]
  const logprobs = { content: [{ token: 'x', logprob: -0.5 }] }
  const made = { logprobs, token_ids: [7] }
  const output = (text: string) => ({ ...said(text, made), prompt_token_ids: [1, 2, 3] })
  await trace(app, 'a', { inputs: { messages, tools: TOOLS } }, output('two'))
  await trace(app, 'bb', { inputs: { messages, tools: TOOLS } }, output('three'))
  await rate(app, 'a', { score: 1 })
  await rate(app, 'bb', { score: 0 })
  const picture = [{ type: 'image_url', image_url: { url: 'data:image/png;base64,AA==' } }]
  await trace(
    app,
    'ccc',
    { inputs: { messages: [{ role: 'user', content: picture }] } },
    said('a dot'),
  )
  await rate(app, 'ccc', { score: 0.5 })
  return app
}

async function linesOf({ post }: TestApp, format: string, more: object = {}) {
  const asking = { project_id: PROJECT, reward: { feedback_type: 'rating' }, format, ...more }
  const { status, text, headers } = await post(URL, asking)
  expect([status, headers['content-type']]).toEqual([200, 'application/jsonl; charset=utf-8'])
  const lines = text.split('\n').filter(Boolean)
  return lines.map((line) => JSON.parse(line)).toReversed()
}

const PROMPT = [
  { role: 'system', content: 'Be short.' },
  { role: 'user', content: 'One plus one?' },
]
const ANSWER = { role: 'assistant', content: 'two' }
const WORSE = { role: 'assistant', content: 'three' }

describe('POST /v1/preview/training-data/export', () => {
  it('has prompts with the best response for TRL and OpenAI, without pictures for TRL', async () => {
    const app = await buildFilledApp()
    expect(await linesOf(app, 'trl_grpo')).toEqual([
      {
        prompt: PROMPT,
        tools: JSON.stringify(TOOLS),
        best_response: 'two',
        best_reward: 1,
        mean_reward: 0.5,
      },
    ])
    expect(await linesOf(app, 'trl_sft')).toEqual([
      { prompt: PROMPT, completion: [ANSWER], tools: JSON.stringify(TOOLS) },
    ])
    const [sums, picture] = await linesOf(app, 'openai_sft')
    expect(sums).toEqual({ messages: [...PROMPT, ANSWER], tools: TOOLS })
    expect(picture.messages[0].content[0].type).toBe('image_url')
    const [rft] = await linesOf(app, 'openai_rft')
    expect(rft).toEqual({
      messages: PROMPT,
      tools: TOOLS,
      reference_response: 'two',
      reference_reward: 1,
    })
    expect(await linesOf(app, 'openai_sft', { reward_min: 0 })).toHaveLength(3)
  })

  it('has pairs of the best and the worst response, where their rewards differ', async () => {
    const app = await buildFilledApp()
    expect(await linesOf(app, 'trl_dpo')).toEqual([
      { prompt: PROMPT, chosen: [ANSWER], rejected: [WORSE], tools: JSON.stringify(TOOLS) },
    ])
    expect(await linesOf(app, 'openai_dpo')).toEqual([
      {
        input: { messages: PROMPT, tools: TOOLS },
        preferred_output: [ANSWER],
        non_preferred_output: [WORSE],
      },
    ])
  })

  it('has groups for ART, and episodes of traces with their tokens for verifiers', async () => {
    const app = await buildFilledApp()
    const [group] = await linesOf(app, 'art')
    expect(group.trajectories.map(({ reward }: { reward: number }) => reward).sort()).toEqual([
      0, 1,
    ])
    const [episode] = await linesOf(app, 'verifiers')
    const best = episode.traces.find(
      ({ rewards }: { rewards: { reward: { score: number } } }) => rewards.reward.score === 1,
    )
    expect(best.tools).toEqual([TOOLS[0]?.function])
    expect(best.nodes).toMatchObject([
      { parent: null, token_ids: [], message: { role: 'system' } },
      { parent: 0, token_ids: [1, 2, 3], mask: [false, false, false], sampled: false },
      { parent: 1, token_ids: [7], mask: [true], logprobs: [-0.5], sampled: true, message: ANSWER },
    ])
  })

  it('keeps tool calls, and the ids that tool messages answer', async () => {
    const app = await buildTestApp()
    const messages = [
      { role: 'user', content: 'Add.' },
      { role: 'assistant', content: null, tool_calls: [CALL] },
      { role: 'tool', content: '2', tool_call_id: 'c1' },
    ]
    await trace(app, 'a', { inputs: { messages, tools: TOOLS } }, said('2', {}))
    await rate(app, 'a', { score: 1 })
    const [line] = await linesOf(app, 'openai_sft')
    expect(line.messages).toEqual([...messages, { role: 'assistant', content: '2' }])
    const [{ traces }] = await linesOf(app, 'verifiers')
    expect(traces[0].nodes[1].message.tool_calls).toEqual([
      { id: 'c1', type: 'function', name: 'add', arguments: '{"a":1}' },
    ])
    expect(traces[0].nodes[2].message).toEqual({ role: 'tool', tool_call_id: 'c1', content: '2' })
  })

  it('exports one side of the split, and records each export', async () => {
    const app = await buildTestApp()
    for (let i = 1; i <= 8; i++) {
      await trace(app, 'x'.repeat(i), asked(`Prompt ${i}`), said('Ho'))
      await rate(app, 'x'.repeat(i), { score: 1 })
    }
    const sides = []
    for (const part of ['training', 'held_out']) {
      const lines = await linesOf(app, 'trl_sft', { held_out: 0.5, part })
      sides.push(lines.map(({ prompt }: { prompt: { content: string }[] }) => prompt[0]?.content))
    }
    expect(new Set(sides.flat()).size).toBe(8)
    expect(Math.min(...sides.map(({ length }) => length))).toBeGreaterThan(0)
    const { body } = await app.get('/v1/audit?action=training_data.export')
    expect(body.data).toHaveLength(2)
    expect(body.data[0]).toMatchObject({
      subject_id: PROJECT,
      after: { format: 'trl_sft', part: 'held_out' },
    })
  })

  it.each(EXPORT_FORMATS)('has no line of %s where there is no call', async (format) => {
    expect(await linesOf(await buildTestApp(), format)).toEqual([])
  })

  it.each([
    ['format', { format: 'csv' }],
    ['part', { part: 'all' }],
    ['reward', { reward: null }],
    ['reward_min', { reward_min: 'x' }],
  ])('an invalid %s is refused by its path', async (param, fields) => {
    const asking = { project_id: PROJECT, reward: { feedback_type: 'rating' }, format: 'art' }
    const { status, body } = await (await buildTestApp()).post(URL, { ...asking, ...fields })
    expect([status, body.error.param]).toEqual([422, param])
  })

  it('needs both scopes and the project', async () => {
    const app = await buildTestApp()
    const asking = { project_id: PROJECT, reward: { feedback_type: 'rating' }, format: 'art' }
    for (const rights of [
      { scopes: ['training'] as const },
      { scopes: ['traces:read'] as const },
      { projects: ['acme/other'] },
    ]) {
      const { status } = await app.post(URL, asking, { key: await app.createKey(rights) })
      expect(status).toBe(403)
    }
  })
})
