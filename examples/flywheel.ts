/**
 * From traffic to a better model, over the public API alone: a rule scores recorded chats, users rate some, and are sometimes
 * wrong, jobs are made of both, and the checkpoint is compared with its parent on prompts that were held out, next to a control that was trained on
 * shuffled rewards. Starts a server of its own in a temporary folder. The model is a toy; the loop is the real one.
 *
 * node examples/flywheel.ts [--rounds 2] [--samples 6]
 */
import { startOwnServer } from '../src/demo/own-server.ts'
import { readArguments, readCounts } from './script-arguments.ts'

const PROJECT = 'demo/zoo'
const FORMS = [
  'Name a # animal.',
  'Tell me a # animal.',
  'Give me a # animal.',
  'Think of a # animal.',
  'A # animal, please.',
  'Which animal is #?',
]
const KINDS = 'small,big,wild,brown,grey,old,young,happy'.split(',')
const PROMPTS = FORMS.flatMap((form) => KINDS.map((kind) => form.replace('#', kind)))
/** What the users of this made-up service want: an animal that flies. */
const FLYING = 'owl|bee|duck|hen|bird|bat|fly|crow'
const SCORER = {
  kind: 'rule',
  rule: {
    type: 'regex',
    path: '$.output.choices[0].message.content',
    pattern: `\\b(${FLYING})s?\\b`,
    ignore_case: true,
  },
}
const HELD_OUT = 0.3
/** Users rate one of so many responses, and press the wrong thumb on one of so many of these. */
const [RATED_EVERY, WRONG_EVERY] = [4, 6]
/** The rule counts, and so does what users say of some responses. */
const REWARD = [
  { feedback_type: 'wandb.runnable.flies', path: 'payload.output.passed' },
  { feedback_type: 'thumbs', path: 'payload.up', weight: 0.5, missing: 0 },
]
const REQUESTS_AT_ONCE = 8
const POLL_MS = 200
const WAIT_MS = 600_000

const { values } = readArguments({
  options: { rounds: { type: 'string', default: '2' }, samples: { type: 'string', default: '6' } },
})
const [rounds = 2, samples = 6] = readCounts([values.rounds, values.samples])
const begun = performance.now()
const { url, key } = await startOwnServer()

async function send<T>(method: string, path: string, body?: object, headers = {}) {
  const isTrace = !path.startsWith('/v1')
  const basic = `Basic ${Buffer.from(`api:${key}`).toString('base64')}`
  const response = await fetch(url + path, {
    method,
    headers: {
      authorization: isTrace ? basic : `Bearer ${key}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`)
  return { headers: response.headers, body: (await response.json()) as T }
}

async function waitFor<T>(read: () => Promise<T | null>): Promise<T> {
  const deadline = Date.now() + WAIT_MS
  while (Date.now() < deadline) {
    const found = await read()
    if (found !== null) return found
    await new Promise((resolve) => setTimeout(resolve, POLL_MS))
  }
  throw new Error(`nothing came within ${WAIT_MS} ms`)
}

interface Chat {
  readonly choices: readonly { readonly message: { readonly content: string } }[]
}
interface Evaluator {
  readonly id: string
  readonly scored: number
}
interface Job {
  readonly job: { readonly id: string } | null
  readonly stats: {
    readonly calls: number
    readonly groups: number
    readonly trajectories: number
    readonly held_out_groups: number
    readonly left_out: Readonly<Record<string, number>>
  }
}
interface Compared {
  readonly model: string
  readonly responses: number
  readonly mean_reward: number
  readonly difference: null | {
    readonly prompts: number
    readonly mean: number
    readonly low: number
    readonly high: number
    readonly p_value: number
  }
}

interface Comparison {
  readonly state: string
  readonly error: string | null
  readonly result: null | { readonly models: readonly Compared[] }
}

const evaluator = (
  await send<Evaluator>('POST', '/evaluators', {
    project_id: PROJECT,
    name: 'flies',
    filter: { op_names: ['chat.completions'] },
    scorer: SCORER,
    concurrency: 16,
  })
).body
let asked = 0

/** One day of traffic: each prompt some times, by the name that clients know. */
async function serveTraffic(alias: string): Promise<number> {
  const questions = PROMPTS.flatMap((prompt) => Array<string>(samples).fill(prompt))
  let passed = 0
  const serve = async () => {
    for (let content = questions.pop(); content !== undefined; content = questions.pop()) {
      asked += 1
      const rating = asked % RATED_EVERY === 0 ? asked / RATED_EVERY : null
      const chat = {
        model: alias,
        messages: [{ role: 'user', content }],
        max_tokens: 6,
        logprobs: true,
        return_token_ids: true,
        seed: asked,
        user: `user-${asked % 50}`,
      }
      const headers = { 'openai-project': PROJECT }
      const response = await send<Chat>('POST', '/v1/chat/completions', chat, headers)
      const text = response.body.choices[0]?.message.content ?? ''
      const flies = new RegExp(`\\b(${FLYING})s?\\b`, 'iu').test(text)
      passed += Number(flies)
      if (rating === null) continue
      const isRight = rating % WRONG_EVERY !== 0
      await send('POST', '/traces/feedback/create', {
        project_id: PROJECT,
        weave_ref: `weave:///${PROJECT}/call/${response.headers.get('x-weft-call-id')}`,
        feedback_type: 'thumbs',
        payload: { up: flies === isRight },
      })
    }
  }
  const total = questions.length
  await Promise.all(Array.from({ length: REQUESTS_AT_ONCE }, serve))
  const expected = asked
  await waitFor(async () => {
    const found = (
      await send<Evaluator>('GET', `/evaluators/${evaluator.id}?project_id=${PROJECT}`)
    ).body
    return found.scored >= expected ? found : null
  })
  return passed / total
}

/** A model with a name that serves its newest accepted step. */
async function createModel(name: string) {
  const [entity, project] = PROJECT.split('/')
  const model = { entity, project, name, base_model: 'tiny' }
  const { id } = (await send<{ id: string }>('POST', '/v1/preview/models', model)).body
  const alias = `${name}-served`
  const serve = (step: number) =>
    send('PUT', `/v1/preview/aliases/${alias}`, {
      project_id: PROJECT,
      target: `${name}:step${step}`,
    })
  await serve(0)
  return { id, name, alias, serve }
}

async function train(model: { id: string; name: string }, step: number, shuffle_seed?: number) {
  const { body } = await send<Job>('POST', '/v1/preview/training-jobs/from-calls', {
    project_id: PROJECT,
    model_id: model.id,
    models: [`${model.name}:step${step}`],
    filter: { op_names: ['chat.completions'] },
    reward: REWARD,
    held_out: HELD_OUT,
    limit: 10_000,
    experimental_config: { learning_rate: 0.01 },
    ...(shuffle_seed === undefined ? {} : { shuffle_seed }),
    start: true,
  })
  const status = await waitFor(async () => {
    const path = `/v1/preview/training-jobs/${body.job?.id}`
    const found = (await send<{ status: string }>('GET', path)).body.status
    return ['queued', 'running'].includes(found) ? null : found
  })
  if (status !== 'succeeded') throw new Error(`the training job ended as ${status}`)
  return body.stats
}

const [flyers, control] = [await createModel('flyers'), await createModel('control')]
for (let step = 0; step < rounds; step++) {
  const passed = await serveTraffic(flyers.alias)
  const stats = await train(flyers, step)
  await flyers.serve(step + 1)
  const controlPassed = await serveTraffic(control.alias)
  await train(control, step, step)
  await control.serve(step + 1)
  console.log(
    `step ${step}: ${passed.toFixed(2)} of the traffic flies, ${controlPassed.toFixed(2)} of the control's; ` +
      `trained on ${stats.trajectories} rollouts in ${stats.groups} groups, ${stats.held_out_groups} groups held out, ` +
      `${stats.left_out.same_reward} without a difference`,
  )
}

const comparison = (
  await send<{ id: string; prompts: number }>('POST', '/v1/preview/comparisons', {
    project_id: PROJECT,
    reward: REWARD,
    held_out: HELD_OUT,
    limit: 10_000,
    compare: ['flyers:step0', `flyers:step${rounds}`, `control:step${rounds}`],
    evaluator_id: evaluator.id,
    samples: 16,
    max_tokens: 6,
    seed: 1_000_000,
  })
).body
const result = await waitFor(async () => {
  const path = `/v1/preview/comparisons/${comparison.id}?project_id=${PROJECT}`
  const { state, error, result: made } = (await send<Comparison>('GET', path)).body
  if (state !== 'running' && made === null) throw new Error(`the comparison is ${state}: ${error}`)
  return made
})
console.log(`\nNew responses to ${comparison.prompts} prompts that no job has seen:`)
for (const { model, responses, mean_reward, difference } of result.models) {
  const against =
    difference === null
      ? 'the parent'
      : `${difference.mean >= 0 ? '+' : ''}${difference.mean.toFixed(3)} ` +
        `[${difference.low.toFixed(3)}, ${difference.high.toFixed(3)}], p ${difference.p_value.toFixed(4)}`
  console.log(`${model.padEnd(14)} ${mean_reward.toFixed(3)} of ${responses}   ${against}`)
}
const back = await send<{ target: string }>(
  'POST',
  `/v1/preview/aliases/${flyers.alias}/roll-back`,
  {
    project_id: PROJECT,
  },
)
console.log(
  `\n${flyers.alias} served flyers:step${rounds}; one call later it serves ${back.body.target}.`,
)
console.log(`${((performance.now() - begun) / 1000).toFixed(0)} s.`)
process.exit(0)
