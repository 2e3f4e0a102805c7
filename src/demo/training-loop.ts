/**
 * The whole loop over HTTP, as any client can do it: ask a model, rate its answers, make trajectories of the
 * recorded calls, train, and ask the new checkpoint. Only `fetch` is needed.
 */

/** Where the server is, and what is trained on it. */
export interface TrainingLoop {
  readonly url: string
  /** A key with the scopes inference, traces:read, traces:write and training. */
  readonly key: string
  /** `<entity>/<project>` in which answers are recorded. */
  readonly project: string
  /** Name of the model, made when it is missing. */
  readonly name: string
  readonly question: string
  /** How good an answer is. */
  readonly reward: (answer: string) => number
  /** Jobs, one after the other. */
  readonly jobs: number
  /** Answers of each job. */
  readonly rollouts: number
  readonly learningRate: number
  /** Changes the rewards before they are sent. Default: as they are. */
  readonly judge?: (rewards: readonly number[]) => readonly number[]
  /** Told of every round; the last one only asks. */
  readonly onRound?: (round: Round) => void
}

/** One round of answers. */
export interface Round {
  /** The name with its step, as the answers carry it. */
  readonly model: string
  readonly meanReward: number
  readonly answers: readonly string[]
}

/** Limit: tokens of an answer. */
const ANSWER_TOKENS = 6
const FEEDBACK_TYPE = 'training-loop'
const POLL_MS = 25
/** Limit: how long a recording or a job is waited for. */
const WAIT_MS = 120_000

/** Runs the loop; its rounds, the last one after the last job. */
export async function runTrainingLoop(loop: TrainingLoop): Promise<Round[]> {
  const api = createApi(loop)
  const modelId = await api.createModel()
  const rounds: Round[] = []
  for (let job = 0; job <= loop.jobs; job++) {
    const answers = await Promise.all(
      Array.from({ length: loop.rollouts }, (_, i) => api.ask(job * loop.rollouts + i)),
    )
    const rewards = answers.map(({ text }) => loop.reward(text))
    const round = {
      model: answers[0]?.model ?? '',
      meanReward: rewards.reduce((sum, reward) => sum + reward, 0) / rewards.length,
      answers: answers.map(({ text }) => text),
    }
    rounds.push(round)
    loop.onRound?.(round)
    if (job === loop.jobs) break
    const judged = loop.judge?.(rewards) ?? rewards
    await Promise.all(answers.map(({ callId }, i) => api.rate(callId, judged[i] ?? 0)))
    const groups = await api.makeGroups(answers.map(({ callId }) => callId))
    await api.train(modelId, groups)
  }
  return rounds
}

interface Answer {
  /** Id of the call that recorded it. */
  readonly callId: string
  readonly model: string
  readonly text: string
}

/** What the loop reads of answers. */
interface Stored {
  readonly id: string
}
interface Completion {
  readonly model: string
  readonly choices: readonly { readonly message: { readonly content: string } }[]
}
interface Groups {
  readonly trajectory_groups: object[]
  readonly stats: { readonly trajectories: number }
}
interface Job {
  readonly status: string
}

/** The calls that the loop needs. */
function createApi(loop: TrainingLoop) {
  const [entity = '', project = ''] = loop.project.split('/')

  async function send<T>(
    path: string,
    body?: object,
    headers: Record<string, string> = {},
  ): Promise<{ readonly body: T; readonly headers: Headers }> {
    const isTrace = path.startsWith('/traces')
    const basic = `Basic ${Buffer.from(`api:${loop.key}`).toString('base64')}`
    const response = await fetch(loop.url + path, {
      method: body === undefined ? 'GET' : 'POST',
      headers: {
        authorization: isTrace ? basic : `Bearer ${loop.key}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    if (!response.ok)
      throw new Error(`${path} answered ${response.status}: ${await response.text()}`)
    return { body: (await response.json()) as T, headers: response.headers }
  }

  return {
    async createModel(): Promise<string> {
      const wanted = { entity, project, name: loop.name, base_model: 'tiny', return_existing: true }
      return (await send<Stored>('/v1/preview/models', wanted)).body.id
    },

    /** One answer, recorded with its tokens and their log-probabilities. */
    async ask(seed: number): Promise<Answer> {
      const { body, headers } = await send<Completion>(
        '/v1/chat/completions',
        {
          model: `weave:///${loop.project}/${loop.name}`,
          messages: [{ role: 'user', content: loop.question }],
          max_tokens: ANSWER_TOKENS,
          seed,
          logprobs: true,
          return_token_ids: true,
        },
        { 'openai-project': loop.project },
      )
      return {
        callId: headers.get('x-weft-call-id') ?? '',
        model: body.model,
        text: body.choices[0]?.message.content ?? '',
      }
    },

    async rate(callId: string, score: number): Promise<void> {
      await send('/traces/feedback/create', {
        project_id: loop.project,
        weave_ref: `weave:///${loop.project}/call/${callId}`,
        feedback_type: FEEDBACK_TYPE,
        payload: { score },
      })
    },

    /** The groups of these calls; recordings come a moment after their answers. */
    async makeGroups(callIds: readonly string[]): Promise<object[]> {
      return waitFor(async () => {
        const { body } = await send<Groups>('/v1/preview/trajectory-groups/from-calls', {
          project_id: loop.project,
          filter: { call_ids: callIds },
          group_by: 'inputs.messages',
          reward: { feedback_type: FEEDBACK_TYPE, path: 'payload.score' },
        })
        return body.stats.trajectories === callIds.length ? body.trajectory_groups : null
      })
    },

    /** Queues a job and waits until its last event. */
    async train(model_id: string, trajectory_groups: readonly object[]): Promise<void> {
      const experimental_config = { learning_rate: loop.learningRate }
      const job = { model_id, trajectory_groups, experimental_config }
      const { id } = (await send<Stored>('/v1/preview/training-jobs', job)).body
      const status = await waitFor(async () => {
        const { body } = await send<Job>(`/v1/preview/training-jobs/${id}`)
        return ['queued', 'running'].includes(body.status) ? null : body.status
      })
      if (status !== 'succeeded') throw new Error(`the training job ended as ${status}`)
    },
  }
}

/** Asks again until there is something. */
async function waitFor<T>(read: () => Promise<T | null>): Promise<T> {
  const deadline = Date.now() + WAIT_MS
  while (Date.now() < deadline) {
    const found = await read()
    if (found !== null) return found
    await new Promise((resolve) => setTimeout(resolve, POLL_MS))
  }
  throw new Error(`nothing came within ${WAIT_MS} ms`)
}
