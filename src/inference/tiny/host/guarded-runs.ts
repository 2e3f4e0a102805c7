/**
 * Processes for requests that could loop or fill the memory: a template of the client, a grammar. Each
 * request has one to itself; when it gives no sign of life in time, it ends and its process with it.
 */
import { ApiError } from '../../../errors.ts'
import type { Delta } from '../../backend.ts'
import { findHazard } from '../constraints/completion-hazard.ts'
import type { CompletionPlan } from '../sampling/completion-plan.ts'
import { HostLostError, type Run, type WorkerLink } from './worker-link.ts'

/** What the processes need to know. */
export interface GuardOptions {
  /** Processes at the most; further requests wait for one. */
  readonly processesMax: number
  /** How long a request that is waited for may be silent. Milliseconds. */
  readonly silenceMsMax: number
}

/** The guarded requests. */
export interface GuardedRuns {
  /** Its first `next` waits for a process. @throws ApiError server_draining after `close` */
  open(plan: CompletionPlan): Run
  /** Requests that have not ended, waiting ones too. */
  runningCount(): number
  close(): Promise<void>
}

interface Waiter {
  readonly priority: number
  readonly take: (link: WorkerLink) => void
  readonly refuse: (error: unknown) => void
}

/** Processes that are started when they are first needed, and used again while they are sound. */
export function createGuardedRuns(
  startLink: () => WorkerLink,
  { processesMax, silenceMsMax }: GuardOptions,
): GuardedRuns {
  const links = new Set<WorkerLink>()
  const idle: WorkerLink[] = []
  let waiters: Waiter[] = []
  const open = new Set<symbol>()
  let isClosed = false

  function handOut(): void {
    while (!isClosed && waiters.length > 0 && (idle.length > 0 || links.size < processesMax)) {
      const [first] = waiters.toSorted((a, b) => a.priority - b.priority)
      if (first === undefined) return
      waiters = waiters.filter((waiter) => waiter !== first)
      const link = idle.pop() ?? startLink()
      links.add(link)
      first.take(link)
    }
  }

  function discard(link: WorkerLink): void {
    links.delete(link)
    void link.close()
    handOut()
  }

  function release(link: WorkerLink): void {
    if (links.has(link)) idle.push(link)
    handOut()
  }

  function acquire(priority: number): { link: Promise<WorkerLink>; leave: () => void } {
    const { promise, resolve, reject } = Promise.withResolvers<WorkerLink>()
    const waiter = { priority, take: resolve, refuse: reject }
    waiters.push(waiter)
    handOut()
    return {
      link: promise,
      leave: () => {
        waiters = waiters.filter((other) => other !== waiter)
        reject(new ApiError('client_closed_request'))
      },
    }
  }

  return {
    open(plan) {
      if (isClosed) throw new ApiError('server_draining')
      const ticket = Symbol('request')
      open.add(ticket)
      const place = acquire(plan.priority)
      // Nobody may be waiting for it yet.
      place.link.catch(() => {})
      return guardRun(plan, place, silenceMsMax, (link, isSound) => {
        if (!open.delete(ticket) || link === null) return
        if (isSound) release(link)
        else discard(link)
      })
    },
    runningCount: () => open.size,
    async close() {
      isClosed = true
      const refused = waiters
      waiters = []
      for (const { refuse } of refused) refuse(new ApiError('server_draining'))
      await Promise.all([...links].map((link) => link.close()))
    },
  }
}

/** @param onEnd - called once or more; `isSound` tells whether the process can be used again */
function guardRun(
  plan: CompletionPlan,
  place: { readonly link: Promise<WorkerLink>; readonly leave: () => void },
  silenceMsMax: number,
  onEnd: (link: WorkerLink | null, isSound: boolean) => void,
): Run {
  let link: WorkerLink | null = null
  let run: Run | null = null
  let cancelled: { readonly reason: unknown } | null = null
  const guard = createSilenceGuard(silenceMsMax)

  async function begin(): Promise<Run> {
    link = await place.link
    // Loading the model is not the request's fault; if it fails, opening the run says so.
    await link.ready().catch(() => {})
    if (cancelled !== null) throw cancelled.reason
    return link.open(plan, guard.sign)
  }

  return {
    async next(): Promise<Delta | null> {
      try {
        run ??= await begin()
        const delta = await guard.watch(run.next())
        if (delta === null) onEnd(link, true)
        return delta
      } catch (error) {
        // Why: a grammar that fails breaks the engine, so its process is not used again.
        onEnd(link, false)
        throw cancelled === null ? toRefusal(error, plan) : cancelled.reason
      }
    },
    cancel(reason) {
      cancelled ??= { reason }
      place.leave()
      run?.cancel(reason)
      // It may hang, and there is no time to ask. After the end this does nothing.
      if (link !== null) onEnd(link, false)
      else {
        place.link.then(
          (unused) => onEnd(unused, true),
          () => onEnd(null, true),
        )
      }
    },
  }
}

/** What a silent or starved process says about the request. Anything else is told as it is. */
function toRefusal(error: unknown, plan: CompletionPlan): unknown {
  const param = findHazard(plan)
  const isStarved = error instanceof ApiError && error.cause instanceof HostLostError
  if (param === null || !(error === TOO_SILENT || isStarved)) return error
  return new ApiError('invalid_value', {
    message: `${param} takes more time or memory than the server gives it.`,
    param,
  })
}

const TOO_SILENT = new Error('the process gave no sign of life')

interface SilenceGuard {
  /** There was a sign of life. */
  readonly sign: () => void
  /** The promise's outcome, or a rejection with TOO_SILENT. */
  watch<T>(promise: Promise<T>): Promise<T>
}

function createSilenceGuard(silenceMsMax: number): SilenceGuard {
  let timer: NodeJS.Timeout | null = null
  return {
    sign: () => timer?.refresh(),
    async watch(promise) {
      const { promise: silence, reject } = Promise.withResolvers<never>()
      timer = setTimeout(() => reject(TOO_SILENT), silenceMsMax)
      try {
        return await Promise.race([promise, silence])
      } finally {
        clearTimeout(timer)
        timer = null
      }
    },
  }
}
