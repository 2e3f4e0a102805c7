/** The order of what the thread of constraints does: one job at a time, fair by key. */
import { ApiError } from '../../../errors.ts'
import type { Vocabulary } from '../model/model.ts'
import { fromPlainError } from '../plain-errors.ts'
import type { Constraint } from './constraint-plan.ts'
import type { Turn } from './grammar-engine.ts'
import { createLimitedWorker, type Reply, type ToThread } from './limited-worker.ts'

/** A grammar that the thread may have to load first. */
export interface ThreadGrammar {
  readonly id: number
  readonly constraint: Constraint
  /** The life of the thread in which it was loaded. */
  loadedIn: number
}

interface Job {
  readonly grammar: ThreadGrammar | null
  readonly turn: Turn
  /** The field of the request that it comes from. */
  readonly param: string
  /** What to send once the grammar is loaded; null for nothing more. */
  readonly message: (() => ToThread) | null
}

interface QueuedJob extends Job {
  readonly settled: PromiseWithResolvers<Reply | null>
}

export interface ThreadJobs {
  /**
   * Does a job in its turn, unless its request ends before that.
   *
   * @returns the reply to its message, or null without one
   * @throws ApiError invalid_value for what fails or takes too much
   */
  run(job: Job): Promise<Reply | null>
  /** Sends a message without a reply to the present thread, if there is one. */
  post(message: ToThread): void
  /** The number of the present thread: what an earlier one knew is gone. */
  life(): number
}

/** @param cpuMsMax - limit: processor time of a job. Milliseconds */
export function createThreadJobs(vocabulary: Vocabulary, cpuMsMax: number): ThreadJobs {
  const waiting = new Set<QueuedJob>()
  const chooseFairly = createFairChoice()
  let current: QueuedJob | null = null
  const worker = createLimitedWorker({
    vocabulary,
    cpuMsMax,
    onReply: receive,
    onLost: () => finish((job) => job.settled.reject(tooMuch(job.param))),
  })

  const isLoaded = ({ grammar }: Job): boolean =>
    grammar === null || grammar.loadedIn === worker.life()

  function receive(reply: Reply): void {
    if (reply.type === 'failed') {
      // Why: an engine in which a compilation failed is not used again.
      if (current?.grammar) worker.end()
      finish((job) => job.settled.reject(fromPlainError(reply.error)))
    } else if (reply.type === 'loaded' && current?.grammar) {
      current.grammar.loadedIn = worker.life()
      advance(current)
    } else finish((job) => job.settled.resolve(reply))
  }

  /** Sends what is next of a job. */
  function advance(job: QueuedJob): void {
    const { grammar, message } = job
    if (grammar !== null && !isLoaded(job)) {
      worker.ask({ type: 'load', grammar: grammar.id, constraint: grammar.constraint })
    } else if (message === null) finish(() => job.settled.resolve(null))
    else worker.ask(message())
  }

  function finish(end: (job: QueuedJob) => void): void {
    const finished = current
    current = null
    if (finished !== null) end(finished)
    runNext()
  }

  function runNext(): void {
    if (current !== null) return
    // A mask takes no time, and an answer under way waits for it.
    const jobs = [...waiting]
    const next = jobs.find((job) => job.message !== null && job.grammar !== null && isLoaded(job))
    current = next ?? chooseFairly(jobs)
    if (current === null) return
    waiting.delete(current)
    advance(current)
  }

  return {
    async run(job) {
      const { signal } = job.turn
      signal.throwIfAborted()
      const settled = Promise.withResolvers<Reply | null>()
      const queued: QueuedJob = { ...job, settled }
      const leave = (): void => {
        if (waiting.delete(queued)) settled.reject(signal.reason)
      }
      signal.addEventListener('abort', leave, { once: true })
      waiting.add(queued)
      runNext()
      try {
        return await settled.promise
      } finally {
        signal.removeEventListener('abort', leave)
      }
    },
    post: worker.post,
    life: worker.life,
  }
}

/** The first job by priority, then of the key that was served longest ago, then by arrival. */
function createFairChoice(): (jobs: readonly QueuedJob[]) => QueuedJob | null {
  /** By key with a waiting job. */
  const servedAt = new Map<string, number>()
  let sequence = 0
  return (jobs) => {
    const servedOf = ({ turn }: Job): number => servedAt.get(turn.owner) ?? 0
    const [first = null] = jobs.toSorted(
      (a, b) => a.turn.priority - b.turn.priority || servedOf(a) - servedOf(b),
    )
    const owners = new Set(jobs.map(({ turn }) => turn.owner))
    for (const owner of servedAt.keys()) if (!owners.has(owner)) servedAt.delete(owner)
    if (first !== null) servedAt.set(first.turn.owner, ++sequence)
    return first
  }
}

function tooMuch(param: string): ApiError {
  const message = `${param} takes more time or memory than the server gives it.`
  return new ApiError('invalid_value', { message, param })
}
