/**
 * Processes for requests that could loop or exhaust memory: a client's template, a grammar. Each request gets its own
 * process, which is killed when it takes too much. No key gets all of them.
 */
import { ApiError } from '../../../errors.ts'
import type { Delta } from '../../backend.ts'
import { findHazard } from '../constraints/completion-hazard.ts'
import type { CompletionPlan } from '../sampling/completion-plan.ts'
import { type EngineLink, HostLostError, type Run } from './engine-link.ts'
import { createFairQueue } from './fair-queue.ts'

/** The guarded requests. */
interface GuardedRuns {
  /**
   * Its first `next` waits for a process.
   *
   * @param owner - whose requests it is one of; those of one owner leave a process to others
   * @throws ApiError server_draining after `close`
   */
  open(plan: CompletionPlan, owner: string): Run<Delta>
  /** Requests that have not ended, waiting ones too. */
  runningCount(): number
  close(): Promise<void>
}

/**
 * Processes that are started when they are first needed, and used again while they are sound.
 *
 * @param processesMax - 2 or more; further requests wait for one
 */
export function createGuardedRuns(startLink: () => EngineLink, processesMax: number): GuardedRuns {
  const links = new Set<EngineLink>()
  const idle: EngineLink[] = []
  const open = new Set<symbol>()
  const queue = createFairQueue(processesMax)
  let isClosed = false

  function takeLink(): EngineLink {
    if (isClosed) throw new ApiError('server_draining')
    const link = idle.pop() ?? startLink()
    links.add(link)
    return link
  }

  function giveBack(link: EngineLink, isSound: boolean): void {
    if (isSound && links.has(link)) idle.push(link)
    else if (links.delete(link)) void link.close()
  }

  return {
    open(plan, owner) {
      if (isClosed) throw new ApiError('server_draining')
      const ticket = Symbol('request')
      open.add(ticket)
      const turn = queue.enter(owner, plan.priority)
      // There may be no waiter yet.
      turn.granted.catch(() => {})
      return guardRun(plan, {
        granted: turn.granted,
        takeLink,
        onEnd: (link, isSound) => {
          if (!open.delete(ticket)) return
          if (link !== null) giveBack(link, isSound)
          turn.leave()
        },
      })
    },
    runningCount: () => open.size,
    async close() {
      isClosed = true
      queue.close()
      await Promise.all([...links].map((link) => link.close()))
    },
  }
}

interface RunContext {
  /** Resolves when there may be a process for the request. */
  readonly granted: Promise<void>
  readonly takeLink: () => EngineLink
  /** Called once or more; `isSound`: the process can be reused. */
  readonly onEnd: (link: EngineLink | null, isSound: boolean) => void
}

function guardRun(plan: CompletionPlan, { granted, takeLink, onEnd }: RunContext): Run<Delta> {
  let link: EngineLink | null = null
  let run: Run<Delta> | null = null
  let cancelled: { readonly reason: unknown } | null = null

  function throwIfCancelled(): void {
    if (cancelled !== null) throw cancelled.reason
  }

  async function begin(): Promise<Run<Delta>> {
    await granted
    throwIfCancelled()
    // At once: a process that a cancel does not find would never be ended.
    link = takeLink()
    // Loading the model is not the request's fault; if it fails, opening the run says so.
    await link.ready().catch(() => {})
    throwIfCancelled()
    // Why: a grammar that fails breaks the engine, so its process is not used again.
    return link.open(plan, (isSound) => onEnd(link, isSound))
  }

  return {
    async next(): Promise<Delta | null> {
      try {
        run ??= await begin()
        return await run.next()
      } catch (error) {
        onEnd(link, false)
        throw cancelled === null ? toRefusal(error, plan) : cancelled.reason
      }
    },
    cancel(reason) {
      cancelled ??= { reason }
      run?.cancel(reason)
      // It may hang, and there is no time to ask. After the end this does nothing.
      onEnd(link, false)
    },
  }
}

/** Converts the loss of a process to an error of the request; other errors pass unchanged. */
function toRefusal(error: unknown, plan: CompletionPlan): unknown {
  const param = findHazard(plan)
  const isLost = error instanceof ApiError && error.cause instanceof HostLostError
  if (param === null || !isLost || error.code === 'server_draining') return error
  return new ApiError('invalid_value', {
    message: `${param} takes more time or memory than the server gives it.`,
    param,
  })
}
