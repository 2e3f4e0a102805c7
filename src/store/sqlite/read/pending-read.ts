/** The caller's side of one read: a promise settled once, by the job, the timeout or the caller's signal. */
import type { ReadCaller } from '../../../domain/access/read-caller.ts'
import { ApiError, toClientClosedError } from '../../../errors.ts'
import type { PendingRead } from './reader.ts'

interface PendingOptions extends Pick<PendingRead, 'id' | 'name' | 'input' | 'bytes'> {
  readonly caller: ReadCaller
  readonly timeoutMs: number
  /** The caller has received an error and no longer waits. */
  abandon(job: PendingRead): void
}

/** Creates a job and the promise of its caller. */
export function createPending(options: PendingOptions) {
  const { id, name, input, bytes, timeoutMs, abandon } = options
  const { keyId, project_id, signal } = options.caller
  const { promise, resolve, reject } = Promise.withResolvers<unknown>()
  const leave = (error: ApiError) => {
    job.settle(error)
    abandon(job)
  }
  const timer = setTimeout(() => leave(new ApiError('read_timeout')), timeoutMs)
  const onAbort = () => leave(toClientClosedError(signal))
  signal.addEventListener('abort', onAbort, { once: true })
  const job: PendingRead = {
    id,
    name,
    input,
    bytes,
    keyId,
    project_id,
    settle(error, value) {
      clearTimeout(timer)
      signal.removeEventListener('abort', onAbort)
      if (error) reject(error)
      else resolve(value)
    },
  }
  return { job, promise }
}
