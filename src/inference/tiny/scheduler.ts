/**
 * Lets the requests of the model's thread take turns, one short step each.
 * It must not run further ahead of a consumer than the protocol allows, whatever it is asked.
 */
import type { CompletionPlan } from './completion-plan.ts'
import type { Generation } from './generation.ts'
import {
  type FromWorker,
  PIECES_AHEAD_MAX,
  type ToWorker,
  toPlainError,
} from './worker-messages.ts'

/**
 * Requests that take turns; later ones wait until one of these ends. One that waits for its consumer
 * does not count, or a few slow readers could keep everyone else out.
 */
export const REQUESTS_AT_ONCE = 16

/** The turns of all requests of the thread. */
export interface Scheduler {
  /** Takes a message; costs next to nothing, the work is done by `step`. */
  receive(message: ToWorker): void
  /** Does one step of one request. Returns whether there is more to do before the next message. */
  step(): boolean
}

interface Task {
  readonly id: number
  readonly plan: CompletionPlan
  /** Null until its first turn. */
  generation: Generation | null
  /** Pieces sent and not yet acknowledged. */
  ahead: number
}

function isReady(task: Task): boolean {
  return task.ahead < PIECES_AHEAD_MAX
}

/** A scheduler; `begin` may throw ApiErrors, which become the request's failure. */
export function createScheduler(
  begin: (plan: CompletionPlan) => Generation,
  post: (message: FromWorker) => void,
): Scheduler {
  const waiting = new Map<number, Task>()
  /** In the order of their turns. */
  const running = new Map<number, Task>()

  function admit(): void {
    if (waiting.size === 0) return
    let room = REQUESTS_AT_ONCE
    for (const task of running.values()) if (isReady(task)) room--
    for (const task of waiting.values()) {
      if (room-- <= 0) return
      waiting.delete(task.id)
      running.set(task.id, task)
    }
  }

  function nextTask(): Task | null {
    for (const task of running.values()) if (isReady(task)) return task
    return null
  }

  function work(task: Task): void {
    // Being set anew moves the task behind the others.
    running.delete(task.id)
    task.generation ??= begin(task.plan)
    const { delta, isDone } = task.generation.step()
    if (delta !== null) {
      task.ahead++
      post({ type: 'delta', id: task.id, delta })
    }
    if (isDone) post({ type: 'done', id: task.id })
    else running.set(task.id, task)
  }

  return {
    receive(message) {
      const { id } = message
      if (message.type === 'start') {
        waiting.set(id, { id, plan: message.plan, generation: null, ahead: 0 })
      } else if (message.type === 'cancel') {
        waiting.delete(id)
        running.delete(id)
      } else {
        const task = running.get(id)
        if (task !== undefined) task.ahead -= message.count
      }
    },
    step() {
      admit()
      const task = nextTask()
      if (task === null) return false
      try {
        work(task)
      } catch (error) {
        post({ type: 'failed', id: task.id, error: toPlainError(error) })
      }
      admit()
      return nextTask() !== null
    },
  }
}
