/**
 * The server's side of the built-in trainer: starts its thread, replaces it when it dies, and stops it.
 * Training must never run on the server's thread, nor delay the shutdown.
 */

import { statSync } from 'node:fs'
import { extname } from 'node:path'
import { TINY_MODEL_PATH } from '../../inference/tiny/backend.ts'
import { startThread, type ThreadLostError } from '../../threads/thread.ts'
import { heapMibOf } from '../jobs/training-body-thread.ts'
import { createLeaseRenewer, type RunningLease } from './lease-renewer.ts'
import { createRestartPause } from './restart-pause.ts'
import { createWorkerClient } from './worker-client.ts'
import type { WorkerLogEntry, WorkerNames } from './worker-loop.ts'

/** Start data of the thread; plain data. */
export interface TrainerThreadOptions extends WorkerNames {
  /** Address of the server itself, such as `http://127.0.0.1:8080`. */
  readonly baseUrl: string
  /** A key with the scope `worker` on all projects. Secret. */
  readonly token: string
  /** GGUF file of the base model. */
  readonly modelPath: string
}

interface TrainerOptions extends Omit<TrainerThreadOptions, 'modelPath'> {
  /** Null: the model shipped with the server. */
  readonly modelPath: string | null
  /** Bytes of the largest job. */
  readonly bodyBytesMax: number
  readonly log: (entry: WorkerLogEntry) => void
}

export type TrainerNotice =
  | { readonly entry: WorkerLogEntry }
  /** The job in progress, or null. */
  | { readonly lease: RunningLease | null }

/** A running trainer. */
export interface Trainer {
  /** Releases a job in progress to the queue and stops the thread; resolves within a second. */
  stop(): Promise<void>
}

const ENTRY = new URL(`./trainer-entry${extname(import.meta.url)}`, import.meta.url)
/** Limit: time for the thread to release its job; in the middle of a long pass it cannot. */
const STOP_MS_MAX = 400
/** Limit: time to release the job from here; otherwise its lease expires. */
const RELEASE_MS_MAX = 400
/** Limit: training takes 24 bytes a weight, and a step of a larger model takes minutes. */
const MODEL_BYTES_MAX = 33_554_432

/**
 * Starts a trainer; the server must be listening. The caller must stop it. A model that is too large or cannot be
 * read is left to other workers: the first job starts the trainer, and must not fail with it.
 */
export function createTrainer({ log, modelPath, bodyBytesMax, ...names }: TrainerOptions): Trainer {
  const options: TrainerThreadOptions = { ...names, modelPath: modelPath ?? TINY_MODEL_PATH }
  const fault = findModelFault(options.modelPath)
  if (fault !== null) {
    log({ level: 'warn', message: `the model file ${fault}: it is not trained here` })
    return { stop: async () => {} }
  }
  const pause = createRestartPause(() => performance.now())
  let timer: NodeJS.Timeout | null = null
  const client = createWorkerClient(options.baseUrl, options.token)
  const keeper = createLeaseRenewer(client.renew, (error) => {
    log({ level: 'warn', message: `trainer: a lease was not renewed: ${String(error)}` })
  })
  let thread = start()

  function start() {
    pause.begin()
    return startThread<never, never, TrainerNotice>(ENTRY, {
      name: 'trainer',
      data: options,
      hasEnv: false,
      memory: { maxOldGenerationSizeMb: heapMibOf(bodyBytesMax) },
      onNotice(notice) {
        if ('entry' in notice) log(notice.entry)
        else keeper.keep(notice.lease)
      },
      onLost: restart,
    })
  }

  function restart({ cause, isCrash }: ThreadLostError): void {
    if (cause) log({ level: 'error', message: `trainer: ${String(cause)}` })
    keeper.keep(null)
    timer = setTimeout(() => {
      thread = start()
    }, pause.end(isCrash)).unref()
  }

  return {
    async stop() {
      if (timer !== null) clearTimeout(timer)
      await thread.close(STOP_MS_MAX)
      const lease = keeper.current()
      keeper.keep(null)
      if (lease === null) return
      await client.release(lease, AbortSignal.timeout(RELEASE_MS_MAX)).catch((error: unknown) => {
        log({ level: 'warn', message: `trainer: a job was not given back: ${String(error)}` })
      })
    },
  }
}

function findModelFault(path: string): string | null {
  try {
    const isTooLarge = statSync(path).size > MODEL_BYTES_MAX
    return isTooLarge ? `has more than ${MODEL_BYTES_MAX} bytes` : null
  } catch (error) {
    return `cannot be read (${(error as NodeJS.ErrnoException).code})`
  }
}
