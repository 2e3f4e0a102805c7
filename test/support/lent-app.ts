/**
 * Apps that serve one test after the other, because building one takes longer than most tests. Their dependencies are
 * exchanged: each test has stores of its own, and the app keeps nothing of the previous test but how fast models answered.
 */
import { buildApp } from '../../src/app.ts'
import type { Config } from '../../src/config.ts'
import type { Deps } from '../../src/deps.ts'
import type { App } from '../../src/http/app-type.ts'
import type { ClaimedTask } from '../../src/store/api/evaluators/evaluators.ts'

export interface LentApp {
  readonly app: App
  /** For the next test, at the same address when it listens; an app that was closed or still answers is closed instead. */
  giveBack(): Promise<void>
}

interface Built {
  readonly app: App
  /** Puts the app on other dependencies. */
  use(deps: Deps): void
  /**
   * Requests without a response yet, calls of dependencies that have not ended, and claimed work without an end; and whether the app
   * was closed.
   */
  state(): { readonly running: number; readonly isClosed: boolean }
}

const idle: Built[] = []

/** An app of these settings, which are the same for all, over these dependencies. */
export async function lendApp(config: Config, deps: Deps): Promise<LentApp> {
  const built = idle.pop() ?? (await build(config, deps))
  built.use(deps)
  return {
    app: built.app,
    async giveBack() {
      if (built.state().running === 0) built.app.server.closeAllConnections()
      // Completions are handed over to be recorded in the turns after their answers, and clients see that they are left.
      for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve))
      const { running, isClosed } = built.state()
      if (running > 0 || isClosed) await built.app.close()
      else idle.push(built)
    },
  }
}

async function build(config: Config, deps: Deps): Promise<Built> {
  const { standIn, use, countCalls } = createStandIn(deps)
  const { claiming, countClaimed } = countClaims(standIn)
  const app = await buildApp(config, { ...standIn, ...claiming })
  let running = 0
  let isClosed = false
  app.addHook('onClose', async () => {
    isClosed = true
  })
  app.server.on('request', (_request, response) => {
    running += 1
    response.on('close', () => {
      running -= 1
    })
  })
  let address: Promise<string> | null = null
  const listen = app.listen.bind(app)
  app.listen = ((options: { host: string; port: number }) => {
    address ??= listen(options)
    return address
  }) as App['listen']
  const inject = app.inject.bind(app) as (...request: unknown[]) => Promise<unknown>
  app.inject = (async (...request: unknown[]) => {
    running += 1
    try {
      return await inject(...request)
    } finally {
      running -= 1
    }
  }) as App['inject']
  return { app, use, state: () => ({ running: running + countCalls() + countClaimed(), isClosed }) }
}

/**
 * Counts claims without an end. Background work waits for models, webhooks and threads too, and would write into the stores of the
 * next test: a run of an evaluation that was cancelled until its claim is renewed, an evaluator until it has scored.
 */
function countClaims({ evaluationJobs: jobs, evaluators }: Deps) {
  const claimed = new Set<string>()
  const evaluationJobs: Deps['evaluationJobs'] = {
    ...jobs,
    async claimJob(claim) {
      const job = await jobs.claimJob(claim)
      if (job !== null) claimed.add(claim.claim_id)
      return job
    },
    finishJob: (end) => jobs.finishJob(end).finally(() => claimed.delete(end.claim_id)),
    releaseJob: (claim) => jobs.releaseJob(claim).finally(() => claimed.delete(claim.claim_id)),
  }
  const nameOf = (task: Pick<ClaimedTask, 'evaluator_id' | 'subject_id'>) =>
    `${task.evaluator_id} ${task.subject_id}`
  const claiming: Pick<Deps, 'evaluationJobs' | 'evaluators'> = {
    evaluationJobs,
    evaluators: {
      ...evaluators,
      async claimTasks(claim) {
        const tasks = await evaluators.claimTasks(claim)
        for (const task of tasks) claimed.add(nameOf(task))
        return tasks
      },
      settleTasks: (outcomes) =>
        evaluators.settleTasks(outcomes).finally(() => {
          for (const outcome of outcomes) claimed.delete(nameOf(outcome))
        }),
    },
  }
  return { claiming, countClaimed: () => claimed.size }
}

type Method = (...parameters: unknown[]) => unknown
type Parts = Record<string, Method | Record<string, Method>>

/** Dependencies that pass every call on to the ones in use, and count those that have not ended; listeners move along. */
function createStandIn(first: Deps) {
  let current = first as unknown as Parts
  let open = 0
  const listeners: [string, string, unknown[]][] = []
  function call(part: string, method: string, parameters: unknown[]): unknown {
    const result = (current[part] as Record<string, Method>)[method]?.(...parameters)
    if (!(result instanceof Promise)) return result
    const end = () => {
      open -= 1
    }
    open += 1
    result.then(end, end)
    return result
  }

  function passOn(part: string, method: string): Method {
    return (...parameters) => {
      if (/^on[A-Z]/.test(method)) listeners.push([part, method, parameters])
      return call(part, method, parameters)
    }
  }
  const standIn = Object.entries(current).map(([part, value]) => [
    part,
    typeof value === 'function'
      ? (...parameters: unknown[]) => (current[part] as Method)(...parameters)
      : Object.fromEntries(Object.keys(value).map((method) => [method, passOn(part, method)])),
  ])
  return {
    standIn: Object.fromEntries(standIn) as Deps,
    countCalls: () => open,
    use(deps: Deps) {
      if (current === (deps as unknown as Parts)) return
      current = deps as unknown as Parts
      for (const listener of listeners) call(...listener)
    },
  }
}
