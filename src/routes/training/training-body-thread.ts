/** Large bodies of training jobs off the event loop: one thread, which takes them in their order. */
import { Worker } from 'node:worker_threads'
import type { JobContent } from '../../domain/training/training-job.ts'
import { ApiError } from '../../errors.ts'
import type { StagedBody, StagedPayload } from '../../store/api/training-jobs.ts'
import type { BodyReply, BodyRequest } from './training-body-worker.ts'

const WORKER_FILE = new URL('./training-body-worker.ts', import.meta.url)
/** Limit: memory of the thread; a body of 256 MiB becomes objects of several times its length. */
const HEAP_MIB_MAX = 4096
/** An idle thread is ended after this, since it keeps the memory of the largest body. */
const IDLE_MS_MAX = 10_000

export interface ReadBody {
  readonly content: JobContent
  readonly payload: StagedPayload
}

export interface TrainingBodyThread {
  /**
   * Reads a body from its file and writes its groups beside it. The caller bounds how many wait.
   *
   * @throws ApiError invalid_json, validation_failed, request_too_large when the memory does not do,
   * server_draining, internal_error
   */
  read(body: StagedBody): Promise<ReadBody>
  /** Fails what waits and ends the thread. */
  close(): Promise<void>
}

interface Pending {
  readonly body: StagedBody
  readonly resolve: (value: ReadBody) => void
  readonly reject: (error: ApiError) => void
}

/** The thread is started with the first body. */
export function createTrainingBodyThread(): TrainingBodyThread {
  const pending = new Map<number, Pending>()
  let worker: Worker | null = null
  let idleTimer: NodeJS.Timeout | undefined
  let isClosed = false
  let lastId = 0

  function failAll(error: ApiError): void {
    for (const { reject } of pending.values()) reject(error)
    pending.clear()
  }

  async function end(): Promise<void> {
    const ended = worker
    worker = null
    clearTimeout(idleTimer)
    await ended?.terminate()
  }

  function start(): Worker {
    const started = new Worker(WORKER_FILE, {
      resourceLimits: { maxOldGenerationSizeMb: HEAP_MIB_MAX },
    })
    started.unref()
    started.on('message', (reply: BodyReply) => {
      settle(pending.get(reply.id), reply)
      pending.delete(reply.id)
      if (pending.size === 0) idleTimer = setTimeout(() => void end(), IDLE_MS_MAX).unref()
    })
    started.on('error', (cause: NodeJS.ErrnoException) => {
      if (worker === started) worker = null
      const isMemory = cause.code === 'ERR_WORKER_OUT_OF_MEMORY'
      failAll(new ApiError(isMemory ? 'request_too_large' : 'internal_error', { cause }))
    })
    return started
  }

  return {
    read(body) {
      if (isClosed) return Promise.reject(new ApiError('server_draining'))
      lastId += 1
      const id = lastId
      const { promise, resolve, reject } = Promise.withResolvers<ReadBody>()
      pending.set(id, { body, resolve, reject })
      clearTimeout(idleTimer)
      worker ??= start()
      const request: BodyRequest = { id, file: body.file, payloadFile: body.payloadFile }
      worker.postMessage(request)
      return promise
    },
    async close() {
      isClosed = true
      failAll(new ApiError('server_draining'))
      await end()
    },
  }
}

function settle(pending: Pending | undefined, { value, failure, crash }: BodyReply): void {
  if (value) {
    const { content, sha256, bytes } = value
    const file = pending?.body.payloadFile ?? ''
    pending?.resolve({ content, payload: { file, sha256, bytes } })
  } else if (failure) {
    const { code, message, param } = failure
    pending?.reject(new ApiError(code, param === null ? { message } : { message, param }))
  } else {
    pending?.reject(new ApiError('internal_error', { cause: new Error(crash) }))
  }
}
