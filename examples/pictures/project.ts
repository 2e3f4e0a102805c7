/** The project of which pictures are taken: that of the demo, and what only views of people and settings show. */
import { createDemoApi, type DemoApi } from '../../src/demo/demo-api.ts'
import { type Filled, fillDemo } from '../../src/demo/fill.ts'

export const PROJECT = 'demo/shop'

/** What is there, and ids of what is worth a look. */
export interface Pictured extends Filled {
  /** Ids of calls with tags. */
  readonly tagged: readonly string[]
}

/** @throws Error for what the server refuses */
export async function fillPictures(url: string, key: string): Promise<Pictured> {
  const options = { url, key, project: PROJECT }
  const filled = await fillDemo({ ...options, jobs: 5, rollouts: 16, report: console.log })
  const api = createDemoApi(options)
  await publishPrompts(api)
  await addPeople(api)
  const raters = await addKeys(api)
  await rateQueue(
    api,
    filled.queue,
    raters.map((own) => createDemoApi({ ...options, key: own })),
  )
  return { ...filled, tagged: await tagCalls(api, filled.agentCall) }
}

async function publishPrompts({ send, project }: DemoApi): Promise<void> {
  const texts = ['Answer kindly: {question}', 'Answer kindly, in two sentences at most: {question}']
  for (const content of texts) {
    const classes = { _type: 'MessagesPrompt', _class_name: 'MessagesPrompt' }
    const messages = [
      { role: 'system', content: 'You work in the support of a shop for cups and plates.' },
      { role: 'user', content },
    ]
    const val = { ...classes, _bases: ['Prompt', 'Object', 'BaseModel'], messages }
    await send('/obj/create', { obj: { project_id: project, object_id: 'support-answer', val } })
  }
}

async function addPeople({ send, project }: DemoApi): Promise<void> {
  const people = [
    ['ada@example.com', 'Ada', 'admin'],
    ['ben@example.com', 'Ben', 'developer'],
    ['chen@example.com', 'Chen', 'rater'],
  ]
  for (const [email, name, role] of people)
    await send('/v1/people', { email, name, grants: [{ role, projects: ['demo/*'] }] })
  const budgets = [
    { subject_kind: 'project', subject_id: project, period: 'month', hard_usd: 200, soft_usd: 150 },
    { subject_kind: 'person', subject_id: 'ada', period: 'day', hard_usd: 5 },
  ]
  for (const budget of budgets) await send('/v1/budgets', budget)
}

/** @returns the keys of those who rate */
async function addKeys({ send }: DemoApi): Promise<string[]> {
  const keys: string[] = []
  for (const svc_user_id of ['ada', 'ben', 'chen', 'nightly-evaluation', 'gpu-worker']) {
    const scopes = svc_user_id === 'gpu-worker' ? ['worker'] : ['traces:read', 'traces:write']
    const body = { svc_user_id, scopes, projects: ['demo/*'] }
    keys.push((await send<{ secret: string }>('/v1/keys', body)).secret)
  }
  return keys.slice(0, 3)
}

/** Items that have been rated; the others wait. */
const RATED = 7

interface Item {
  readonly id: string
  readonly call_id: string
}

/** Ratings of several people, who agree mostly. */
async function rateQueue(
  { send, project }: DemoApi,
  queue: string,
  raters: readonly DemoApi[],
): Promise<void> {
  const path = `/annotation_queues/${encodeURIComponent(queue)}/items`
  const found = await send<{ items: Item[] }>(`${path}/query`, { project_id: project })
  const items = found.items.slice(0, RATED)
  for (const [at, rater] of raters.entries()) {
    for (const [index, { call_id }] of items.entries()) {
      const isGood = index % 3 > 0 === (index % 5 !== at + 1)
      await rater.send('/traces/feedback/create', {
        project_id: project,
        weave_ref: `weave:///${project}/call/${call_id}`,
        feedback_type: 'wandb.reaction.1',
        payload: { emoji: isGood ? '👍' : '👎' },
        queue_id: queue,
      })
    }
  }
  for (const { id } of items) {
    for (const annotation_state of ['in_progress', 'completed'])
      await send(`${path}/${id}/progress`, { project_id: project, annotation_state })
  }
}

/** Tags calls that were rated, and the one of the agent that is shown. @returns their ids */
async function tagCalls({ send, project }: DemoApi, agentCall: string): Promise<string[]> {
  const rated = { project_id: project, fields: ['weave_ref'], limit: 300 }
  const { result } = await send<{ result: { weave_ref: string }[] }>('/feedback/query', rated)
  const refs = result.flatMap(({ weave_ref }) => weave_ref.split('/call/')[1] ?? [])
  const ids = [...new Set(refs)]
  for (const [at, tag] of ['checked', 'regression', 'polite', 'refund'].entries()) {
    const call_ids = [agentCall, ...ids].filter((_, index) => index % (at + 2) === 0)
    await send('/calls/tag', { project_id: project, call_ids, add: [tag] })
  }
  return ids
}
