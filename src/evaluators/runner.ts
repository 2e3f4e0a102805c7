/**
 * Runs evaluators and the rules of annotation queues in the background: queues calls, claims what is due, scores it, adds
 * calls. Nothing of it is on the path of ingest.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Stores } from '../store/api/stores.ts'
import { runBackfillRound } from './backfill-round.ts'
import { type ClaimOptions, runClaimRound } from './claim-round.ts'
import { runFeedRound, toSubscriber, toSubscribers } from './feed-round.ts'
import { runQueueRound } from './queue-round.ts'

/** Pause between two rounds in which nothing ends. */
const PAUSE_MS = 1_000
/** Limits: parts of the feed in one round, subjects that this process scores at once, the wait for them at the end. */
const PARTS_MAX = 20
const SCORED_AT_ONCE_MAX = 256
const STOP_MS_MAX = 500

interface RunnerOptions extends Omit<ClaimOptions, 'stores' | 'signal' | 'onFailure'> {
  readonly stores: ClaimOptions['stores'] & Pick<Stores, 'callFeed' | 'annotation'>
  /** Whether other processes run evaluators of the same store. */
  readonly isShared: boolean
  readonly onFailure: (error: unknown) => void
}

interface EvaluatorRunner {
  /** Begins the rounds. */
  start(): void
  /** Runs one round, and waits until what it claimed is settled. */
  runRound(): Promise<void>
  /** Ends what runs: its tasks are scored by the next process. */
  stop(): Promise<void>
}

export function createEvaluatorRunner(options: RunnerOptions): EvaluatorRunner {
  const { stores, isShared, nowUs } = options
  const stopping = new AbortController()
  const { signal } = stopping
  const claiming: ClaimOptions = { ...options, signal, onFailure: report }
  const open = new Set<Promise<void>>()
  let openTasks = 0
  let wake: (() => void) | null = null
  let isFailing = false
  let lastUs = Number.POSITIVE_INFINITY
  let running: Promise<void> = Promise.resolve()

  /** The first of consecutive failures only. */
  function report(error: unknown): void {
    if (!isFailing && !signal.aborted) options.onFailure(error)
    isFailing = true
  }

  /** What waits must not wait until a clock that was set back shows its time again: at the first round that may be. */
  async function followClock(): Promise<void> {
    const now = nowUs()
    if (now < lastUs) await stores.evaluators.resetTimes(now)
    lastUs = now
  }

  /** A queue or backfill that fails does not stop the others; the first failure is thrown at the end. */
  async function begin(): Promise<void> {
    await followClock()
    const active = await stores.evaluators.listActive()
    const ruled = await stores.annotation.listRuled()
    const subscribers = [...active.map(toSubscriber), ...toSubscribers(ruled)]
    for (let part = 0; part < PARTS_MAX && !signal.aborted; part++) {
      if (!(await runFeedRound(stores, subscribers, nowUs()))) break
    }
    const failures: unknown[] = []
    const addFailure = (error: unknown) => void failures.push(error)
    for (const queue of ruled) {
      await runQueueRound(queue, { ...options, signal }).catch(addFailure)
    }
    for (const evaluator of active) {
      await runBackfillRound(evaluator, { ...options, signal }).catch(addFailure)
    }
    const groups = await runClaimRound(SCORED_AT_ONCE_MAX - openTasks, claiming)
    for (const { taskCount, settled } of groups) {
      openTasks += taskCount
      const closed = settled.then(() => {
        openTasks -= taskCount
        open.delete(closed)
        wake?.()
      })
      open.add(closed)
    }
    if (failures.length > 0) throw failures[0]
  }

  async function loop(): Promise<void> {
    if (!isShared) await stores.evaluators.releaseTasks().catch(report)
    while (!signal.aborted) {
      const woken = new Promise<void>((resolve) => {
        wake = resolve
      })
      try {
        await begin()
        isFailing = false
      } catch (error) {
        report(error)
      }
      const pause = sleep(PAUSE_MS, undefined, { ref: false, signal }).catch(() => undefined)
      await Promise.race([pause, woken])
    }
  }

  return {
    start() {
      running = loop()
    },
    async runRound() {
      await begin()
      await Promise.all(open)
    },
    async stop() {
      stopping.abort()
      const ended = Promise.all([running, ...open])
      await Promise.race([ended, sleep(STOP_MS_MAX, undefined, { ref: false })])
    },
  }
}
