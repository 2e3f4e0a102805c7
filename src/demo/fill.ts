/** Fills a project with all that the page can show, over the public API alone. */

import { createChance } from './chance.ts'
import { createDemoApi, type DemoApi, type DemoTarget } from './demo-api.ts'
import { recordEvaluations } from './evaluations.ts'
import { AGENT, recordTraffic } from './traffic.ts'
import { runTrainingLoop } from './training-loop.ts'
import { addAlert, addEvaluator } from './watch.ts'

const SEED = 7
/** Calls of agents that people have rated, and that wait to be. */
const RATED = 90
const QUEUED = 12

interface DemoOptions extends DemoTarget {
  /** Training jobs, one after the other. */
  readonly jobs: number
  /** Answers that each of them is made of. */
  readonly rollouts: number
  /** Gets a line for each step. */
  readonly report: (line: string) => void
}

/** What is there, and ids of what is worth a look. */
export interface Filled {
  readonly traces: number
  readonly feedback: number
  readonly queued: number
  /** Mean reward of the answers before each job, and after the last. */
  readonly rewards: readonly number[]
  /** An agent's call with tools. */
  readonly agentCall: string
  /** A conversation of several turns. */
  readonly thread: string
  /** Root calls of the evaluation's runs. */
  readonly runs: readonly string[]
  readonly queue: string
  /** The last training job that trained. */
  readonly job: string
}

/** @throws Error for what the server refuses */
export async function fillDemo(options: DemoOptions): Promise<Filled> {
  const { report } = options
  const api = createDemoApi(options)
  const chance = createChance(SEED)
  // First, because its calls are recorded as of now: those of the agent come after them, and so first in lists.
  const rewards = await train(options)
  const shown = rewards.map((mean) => mean.toFixed(2)).join(', ')
  report(`${options.jobs} training jobs: mean reward ${shown}`)
  const nowMs = Date.now()
  await addEvaluator(api, AGENT)
  const { traces, agentCalls, agentCall, thread } = await recordTraffic(api, chance, nowMs)
  report(`${traces} traces of three weeks: an agent with tools in conversations, a classifier`)
  const runs = await recordEvaluations(api, chance, nowMs)
  report(`${runs.length} runs of an evaluation over a dataset in two versions`)
  const ratings = agentCalls.slice(0, RATED).flatMap((callId) => rate(callId, chance.next()))
  await api.rate(ratings)
  report(`${ratings.length} pieces of feedback`)
  const queued = agentCalls.slice(RATED, RATED + QUEUED)
  const queue = await fillQueue(api, queued)
  report(`a queue of ${queued.length} calls to rate`)
  const hasAlert = await addAlert(api)
  report(`an evaluator${hasAlert ? ' and an alert' : '; no alert, which needs the scope admin'}`)
  const job = await findLastJob(api)
  return {
    traces,
    feedback: ratings.length,
    queued: queued.length,
    rewards,
    agentCall,
    thread,
    runs,
    queue,
    job,
  }
}

function rate(callId: string, chance: number) {
  const isGood = chance > 0.25
  const stars = isGood ? 4 + Math.round(chance) : 1 + Math.round(4 * chance)
  const emoji = isGood ? '👍' : '👎'
  return [
    { callId, feedback_type: 'wandb.reaction.1', payload: { emoji } },
    { callId, feedback_type: 'rating', payload: { stars, polite: chance > 0.1 } },
    ...(isGood
      ? []
      : [
          {
            callId,
            feedback_type: 'wandb.note.1',
            payload: { note: 'The customer had to ask again.' },
          },
        ]),
  ]
}

async function fillQueue({ send, project }: DemoApi, call_ids: readonly string[]): Promise<string> {
  const queue = {
    project_id: project,
    name: 'Answers to check',
    scorer_refs: [],
    description: 'Was the answer kind, and was it right?',
  }
  const { id } = await send<{ id: string }>('/annotation_queues', queue)
  await send(`/annotation_queues/${encodeURIComponent(id)}/items`, {
    project_id: project,
    call_ids,
    display_fields: ['inputs.question', 'output'],
  })
  return id
}

/** Prefers a job that trained: once all answers are right, rewards are equal and there is nothing to learn. */
async function findLastJob({ get, project }: DemoApi): Promise<string> {
  const query = new URLSearchParams({ project_id: project, order: 'desc', limit: '100' })
  const { data } = await get<JobPage>(`/v1/preview/training-jobs?${query}`)
  return (data.find(({ untrained_reason }) => untrained_reason === null) ?? data[0])?.id ?? ''
}

interface JobPage {
  readonly data: readonly { readonly id: string; readonly untrained_reason: string | null }[]
}

/** Teaches the embedded model to name an owl. @returns the mean reward of each round */
async function train({ url, key, project, jobs, rollouts }: DemoOptions): Promise<number[]> {
  const rounds = await runTrainingLoop({
    url,
    key,
    project,
    name: 'owl',
    question: 'Name an animal.',
    jobs,
    rollouts,
    learningRate: 3e-3,
    reward: (answer) => (answer.includes('owl') ? 1 : 0),
  })
  return rounds.map(({ meanReward }) => meanReward)
}
