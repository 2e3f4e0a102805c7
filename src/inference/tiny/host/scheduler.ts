/**
 * Runs the requests of the model's process concurrently: each step batches the next tokens of several requests into one
 * pass. It must never run further ahead of a consumer than the protocol allows.
 */
import { ApiError } from '../../../errors.ts'
import { PASS_TOKENS_MAX, type PassLogits, type Transformer } from '../model/transformer.ts'
import { toPlainError } from '../plain-errors.ts'
import type { Generation, Step } from '../sampling/steps.ts'
import { CHUNKS_AHEAD_MAX, type FromEngine, type ToEngine } from './engine-messages.ts'
import type { EngineChunk, EnginePlan } from './engine-work.ts'

/**
 * Requests that run together; later ones wait until one of these ends. One that waits for its consumer
 * does not count, or a few slow readers could keep everyone else out.
 */
export const REQUESTS_AT_ONCE = 16
/** Of these, requests of one key. The rest is left to others. */
export const OWN_REQUESTS_AT_ONCE = 12

/** The requests of the process. */
interface Scheduler {
  /** Takes a message; costs next to nothing, the work is done by `step`. */
  receive(message: ToEngine): void
  /** Begins one request or does one pass. Returns whether there is more to do before the next message. */
  step(): boolean
}

interface SchedulerOptions {
  /** Called when a request that waited can be continued by `step`. */
  readonly onReady: () => void
  readonly readCpuMs: () => number
  readonly requestCpuMsMax: number
}

/** A generation and the network that runs its computations. */
export interface Begun {
  readonly generation: Generation<EngineChunk>
  readonly transformer: Transformer
}

interface Task {
  readonly id: number
  readonly plan: EnginePlan
  readonly owner: string
  /** Whether it waits for a promise. */
  isWaiting: boolean
  /** Null until its first turn. It keeps its network even when the file is removed. */
  begun: Begun | null
  /** The computation it has requested; null before its first turn. */
  wanted: Step['parts'] | null
  /** Chunks sent and not yet acknowledged. */
  ahead: number
  /** Its share of the processor's time so far, milliseconds. */
  usedMs: number
}

/**
 * A scheduler; `begin` may throw ApiErrors, which become the request's failure.
 *
 * @param options.onReady - called when there may be something to do again
 * @param options.readCpuMs - the processor's time that this process has used
 * @param options.requestCpuMsMax - how much of it one request may take
 *
 * Spec: §4.3 priority.
 * Choice: a request of lower number goes first at every step, also before those that already run; equals
 * take turns. Of those that wait, the next is of the key that has the fewest running.
 */
export function createScheduler(
  begin: (plan: EnginePlan, owner: string) => Begun,
  post: (message: FromEngine) => void,
  { onReady, readCpuMs, requestCpuMsMax }: SchedulerOptions,
): Scheduler {
  const waiting = new Map<number, Task>()
  /** In the order of their turns. */
  const running = new Map<number, Task>()

  function admit(): void {
    for (;;) {
      const next = chooseNext(waiting, running)
      if (next === null) return
      waiting.delete(next.id)
      running.set(next.id, next)
    }
  }

  function say(task: Task, deltas: readonly EngineChunk[]): void {
    task.ahead += deltas.length
    for (const delta of deltas) post({ type: 'delta', id: task.id, delta })
  }

  /** Ends a request that has had all the time that it may have. */
  function stopLong(task: Task): void {
    if (task.usedMs <= requestCpuMsMax || !running.delete(task.id)) return
    task.begun?.generation.return([])
    post({ type: 'failed', id: task.id, error: toPlainError(tookTooLong(requestCpuMsMax)) })
  }

  function goOn(
    task: Task,
    work: (generation: Begun['generation']) => ReturnType<Begun['generation']['next']>,
  ): void {
    try {
      task.begun ??= begin(task.plan, task.owner)
      const { done, value } = work(task.begun.generation)
      if (done) {
        running.delete(task.id)
        say(task, value)
        post({ type: 'done', id: task.id })
      } else {
        task.wanted = value.parts
        wait(task, value.waitsFor, onReady)
        say(task, value.deltas)
      }
    } catch (error) {
      running.delete(task.id)
      post({ type: 'failed', id: task.id, error: toPlainError(error) })
    }
  }

  function work(tasks: readonly Task[]): void {
    for (const task of tasks) {
      // Being set anew moves the task behind the others.
      running.delete(task.id)
      running.set(task.id, task)
    }
    const logits = runPass(tasks, readCpuMs)
    let at = 0
    for (const task of tasks) {
      const own = logits.slice(at, at + (task.wanted?.length ?? 0))
      at += own.length
      const beganMs = readCpuMs()
      goOn(task, (generation) =>
        areFinite(own) ? generation.next(own) : generation.throw(tooLarge()),
      )
      task.usedMs += readCpuMs() - beganMs
      stopLong(task)
    }
  }

  return {
    receive(message) {
      const { id } = message
      if (message.type === 'start') {
        const { plan, owner } = message
        const state = { begun: null, wanted: null, ahead: 0, usedMs: 0, isWaiting: false }
        waiting.set(id, { id, plan, owner, ...state })
      } else if (message.type === 'cancel') {
        running.get(id)?.begun?.generation.return([])
        waiting.delete(id)
        running.delete(id)
      } else {
        const task = running.get(id)
        if (task !== undefined) task.ahead -= message.count
      }
    },
    step() {
      admit()
      const tasks = chooseTasks(running)
      if (tasks.length === 0) return false
      work(tasks)
      admit()
      return chooseTasks(running).length > 0
    },
  }
}

function wait(task: Task, waitsFor: Promise<unknown> | undefined, onReady: () => void): void {
  if (waitsFor === undefined) return
  task.isWaiting = true
  const end = (): void => {
    task.isWaiting = false
    onReady()
  }
  waitsFor.then(end, end)
}

/** The first waiting one by priority, then of the key with the fewest running, for which there is room. */
function chooseNext(
  waiting: ReadonlyMap<number, Task>,
  running: ReadonlyMap<number, Task>,
): Task | null {
  const candidates = [...waiting.values()].flatMap((task) => {
    // Those of less importance do not keep a slot from it.
    const isBefore = (other: Task) => isReady(other) && other.plan.priority <= task.plan.priority
    const before = [...running.values()].filter(isBefore)
    const own = before.filter(({ owner }) => owner === task.owner).length
    const hasRoom = before.length < REQUESTS_AT_ONCE && own < OWN_REQUESTS_AT_ONCE
    return hasRoom ? [{ task, own }] : []
  })
  const [first] = candidates.sort(
    (a, b) => a.task.plan.priority - b.task.plan.priority || a.own - b.own,
  )
  return first?.task ?? null
}

/** Runs the computations of tasks of one network; each is charged its share of the time. */
function runPass(tasks: readonly Task[], readCpuMs: () => number): PassLogits {
  const parts = tasks.flatMap(({ wanted }) => wanted ?? [])
  // Tasks that only wait have no computation.
  if (parts.length === 0) return []
  const beganMs = readCpuMs()
  const logits = tasks[0]?.begun?.transformer.run(parts) ?? []
  const partMs = (readCpuMs() - beganMs) / parts.length
  for (const task of tasks) task.usedMs += partMs * (task.wanted?.length ?? 0)
  return logits
}

function areFinite(logits: PassLogits): boolean {
  return logits.every((rows) => rows.every((row) => row.every(Number.isFinite)))
}

/** Why: nothing could be drawn from such logits, and an empty answer would look like one of the model. */
function tooLarge(): ApiError {
  const message =
    'The weights of the checkpoint cannot be served: they are so large that they overflow.'
  return new ApiError('checkpoint_unusable', { param: 'model', message })
}

function tookTooLong(cpuMsMax: number): ApiError {
  return new ApiError('invalid_value', {
    message: `The completion takes more than ${cpuMsMax / 1000} s of the model's time: ask for fewer tokens or choices.`,
    param: 'max_tokens',
  })
}

/** Picks the next requests: a new one alone, or as many of one network as fit into a pass. */
function chooseTasks(running: ReadonlyMap<number, Task>): Task[] {
  const chosen: Task[] = []
  let room = PASS_TOKENS_MAX
  const ready = inOrder(running).filter(isReady)
  const [first] = ready
  for (const task of ready) {
    // Lesser requests would slow the pass down for those before them.
    if (task.plan.priority !== first?.plan.priority) break
    if (task.wanted === null && chosen.length === 0) return [task]
    if (task.begun?.transformer !== first.begun?.transformer) continue
    const count = task.wanted?.reduce((sum, { ids }) => sum + ids.length, 0) ?? PASS_TOKENS_MAX + 1
    if (count > room) continue
    chosen.push(task)
    room -= count
  }
  return chosen
}

/** By priority, then by arrival or last turn. */
function inOrder(tasks: ReadonlyMap<number, Task>): Task[] {
  return [...tasks.values()].sort((a, b) => a.plan.priority - b.plan.priority)
}

function isReady(task: Task): boolean {
  return !task.isWaiting && task.ahead < CHUNKS_AHEAD_MAX
}
