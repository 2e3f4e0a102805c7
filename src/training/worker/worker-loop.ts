/**
 * The main loop of a worker: waits for a job, trains it, reports, repeats. Whatever happens, a job must be
 * completed, failed or released, unless its lease is lost.
 */
import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises'
import type { ResolvedTrainingConfig } from '../../domain/training/resolve-training-config.ts'
import { ADAPTER_BYTES_MAX } from '../../inference/tiny/host/adapter-files.ts'
import { AdapterFileError } from '../../inference/tiny/lora/adapter.ts'
import type { TrajectoryGroup } from '../../schemas/training/training-job.ts'
import {
  CLAIM_WAIT_SECONDS_MAX,
  type ClaimResponse,
  type WorkerEvent,
} from '../../schemas/training/worker.ts'
import type { RunningLease } from './lease-renewer.ts'
import { DivergedError, type JobTrainer } from './train-job.ts'
import { TrajectoryError } from './trajectory-reader.ts'
import { type JobClient, LeaseLostError, type WorkerClient } from './worker-client.ts'

/** Names that a worker sends with each claim. */
export interface WorkerNames {
  readonly workerId: string
  readonly workerVersion: string
  /** Name of the base model that it trains. */
  readonly baseModel: string
}

interface WorkerLoopOptions extends WorkerNames {
  readonly client: WorkerClient
  /** Called for the first job, so that a server that trains nothing loads no second model. */
  readonly openTrainer: () => JobTrainer
  /** Aborted when the worker must stop; a job in progress is released. */
  readonly signal: AbortSignal
  readonly log: (entry: WorkerLogEntry) => void
  /** Called with each claimed job, and with null when it is finished. */
  readonly onLease: (lease: RunningLease | null) => void
}

/** Log events of a worker; they contain no text of a payload. */
export interface WorkerLogEntry {
  readonly level: 'info' | 'warn' | 'error'
  readonly message: string
  readonly job_id?: string
  readonly attempt?: number
}

const PAUSE_MS_MIN = 500
const PAUSE_MS_MAX = 30_000
const REASON_CHARS_MAX = 500
/** Limit: bytes of a payload whose memory a thread may retain; it becomes objects of several times its length. */
const PAYLOAD_BYTES_RETAINED_MAX = 8 * 1024 * 1024

/** Thrown when the server has been asked to cancel the job. */
class CancelledError extends Error {}
/** Thrown when the worker has to stop. */
class StoppedError extends Error {}

/**
 * Runs until the signal is aborted, or until a job with a large payload is done: an idle thread would keep the
 * memory of it, so another thread should continue. After a failed claim it waits and retries.
 */
export async function runWorker(options: WorkerLoopOptions): Promise<void> {
  const { client, signal, log } = options
  const openTrainer = openOnce(options)
  let pauseMs = PAUSE_MS_MIN
  while (!signal.aborted) {
    try {
      const claimed = await client.claim(claimOf(options), signal)
      pauseMs = PAUSE_MS_MIN
      if (claimed === null) continue
      const { id, lease_token, heartbeat_seconds } = claimed
      options.onLease({ id, lease_token, heartbeat_seconds })
      // Renewed further, the lease would keep a job that could not be given up from other workers.
      await runJob(options, openTrainer, claimed).finally(() => options.onLease(null))
      if (claimed.payload.bytes > PAYLOAD_BYTES_RETAINED_MAX) return
    } catch (error) {
      if (signal.aborted) return
      log({ level: 'warn', message: `the worker waits after a failure: ${reasonOf(error)}` })
      await sleep(pauseMs, undefined, { signal }).catch(() => {})
      pauseMs = Math.min(2 * pauseMs, PAUSE_MS_MAX)
    }
  }
}

/** The error names no path: clients see it. */
function openOnce({ openTrainer, log }: WorkerLoopOptions): () => JobTrainer {
  let trainer: JobTrainer | null = null
  return () => {
    try {
      trainer ??= openTrainer()
      return trainer
    } catch (error) {
      log({ level: 'error', message: `the base model cannot be loaded: ${reasonOf(error)}` })
      throw new Error('the worker cannot load its base model')
    }
  }
}

function claimOf({ workerId, workerVersion, baseModel }: WorkerLoopOptions) {
  return {
    worker_id: workerId,
    worker_version: workerVersion,
    base_models: [baseModel],
    wait_seconds: CLAIM_WAIT_SECONDS_MAX,
  }
}

async function runJob(
  { client, signal, log }: WorkerLoopOptions,
  openTrainer: () => JobTrainer,
  claimed: ClaimResponse,
): Promise<void> {
  const job = client.job(claimed)
  const names = { job_id: claimed.id, attempt: claimed.attempt }
  try {
    await trainAndComplete(job, openTrainer(), claimed, signal)
    log({ level: 'info', message: 'a training job is done', ...names })
  } catch (error) {
    log({ level: 'warn', message: `a training job ended: ${reasonOf(error)}`, ...names })
    await giveUp(job, error).catch(dropLostLease)
  }
}

/** @throws LeaseLostError, CancelledError, StoppedError, and what the training throws */
async function trainAndComplete(
  job: JobClient,
  trainer: JobTrainer,
  claimed: ClaimResponse,
  signal: AbortSignal,
): Promise<void> {
  const waiting: WorkerEvent[] = []
  let seq = 0
  let steps = 1
  let done = 0
  let beatAt = performance.now()

  async function pause(): Promise<void> {
    await turn()
    if (signal.aborted) throw new StoppedError('the worker stops')
    if (waiting.length > 0) await job.sendEvents(waiting.splice(0))
    if (performance.now() - beatAt < claimed.heartbeat_seconds * 1000) return
    beatAt = performance.now()
    const { cancel_requested } = await job.heartbeat(Math.min(1, done / steps))
    if (cancel_requested) throw new CancelledError('the job was cancelled')
  }

  requireSmallParent(claimed)
  const groups = JSON.parse(await job.payload()) as TrajectoryGroup[]
  const parent = await job.parent()
  const config = claimed.resolved_config as unknown as ResolvedTrainingConfig
  const { artifact, reason, metrics } = await trainer.train(
    { groups, config, parent },
    {
      onStart(count) {
        steps = Math.max(1, count)
        waiting.push({ seq: seq++, type: 'training_started', data: { num_sequences: count } })
      },
      onStep(data) {
        done++
        waiting.push({ seq: seq++, type: 'gradient_step', data: { ...data } })
      },
      pause,
    },
  )
  await pause()
  const sha256 = artifact === null ? null : await job.upload(artifact)
  await job.complete({ sha256, metrics: { ...metrics }, trained: artifact !== null, reason })
}

/** @throws AdapterFileError for a parent that another worker made too large to be held in memory */
function requireSmallParent({ parent_checkpoint }: ClaimResponse): void {
  if ((parent_checkpoint?.artifact?.bytes ?? 0) <= ADAPTER_BYTES_MAX) return
  throw new AdapterFileError(`the file has more than ${ADAPTER_BYTES_MAX} bytes`)
}

/** Reports to the server why the job does not continue here. */
async function giveUp(job: JobClient, error: unknown): Promise<void> {
  if (error instanceof LeaseLostError) return
  if (error instanceof StoppedError || error instanceof CancelledError) return await job.release()
  const code = codeOf(error)
  await job.fail({
    error: { code: code ?? 'worker_failed', message: reasonOf(error) },
    retryable: code === null,
  })
}

/** Ignores a lost lease: there is nothing left to report. */
function dropLostLease(error: unknown): void {
  if (!(error instanceof LeaseLostError)) throw error
}

/** Returns a code for errors that another attempt would not change; null for others. */
function codeOf(error: unknown): string | null {
  if (error instanceof TrajectoryError) return 'invalid_trajectory'
  if (error instanceof AdapterFileError) return 'invalid_parent_artifact'
  if (error instanceof DivergedError) return 'training_diverged'
  return null
}

function reasonOf(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).slice(0, REASON_CHARS_MAX)
}
