/**
 * Limits how many completions run at once: per process, per model and per key. The others wait in one
 * bounded queue, ordered by priority; a full queue rejects new ones at once.
 */
import { ApiError } from '../../errors.ts'

/** A completion's request for a slot. */
export interface AdmissionRequest {
  readonly modelId: string
  /** Completions of the model that may run at once; null: any number. */
  readonly modelMax: number | null
  readonly keyId: string
  /** Completions of the key that may run at once; null: any number. */
  readonly keyMax: number | null
  /** Lower values run first; equal ones in order of arrival. */
  readonly priority: number
  /** Cancels the wait. */
  readonly signal: AbortSignal
}

type Leave = () => void

export interface Admission {
  /**
   * Waits for a slot.
   *
   * @returns a function that releases the slot, to be called once; a promise only if the caller must wait
   * @throws ApiError server_overloaded when the queue is full; the signal's reason when it has aborted or
   * aborts during the wait
   */
  enter(request: AdmissionRequest): Leave | Promise<Leave>
  figures(): AdmissionMetrics
}

export interface AdmissionMetrics {
  readonly running: number
  readonly waiting: number
  /** Completions rejected since the start because the queue was full. */
  readonly refused: number
}

interface AdmissionOptions {
  /** Completions that may run or wait together. */
  readonly placesMax: number
}

const RETRY_AFTER_S = 1

interface Waiter {
  readonly request: AdmissionRequest
  readonly go: () => void
}

/** Spec: §8 (quotas not shown). Choice: a full server rejects at once, so that clients can try another one. */
export function createAdmission({ placesMax }: AdmissionOptions): Admission {
  const models = createCounter()
  const keys = createCounter()
  const waiting: Waiter[] = []
  let takenCount = 0
  let refused = 0

  function tryStart({ modelId, modelMax, keyId, keyMax }: AdmissionRequest): boolean {
    if (modelMax !== null && models.count(modelId) >= modelMax) return false
    if (keyMax !== null && keys.count(keyId) >= keyMax) return false
    models.add(modelId, 1)
    keys.add(keyId, 1)
    return true
  }

  function startWaiting(): void {
    for (let at = 0; at < waiting.length; ) {
      const waiter = waiting[at] as Waiter
      if (!tryStart(waiter.request)) {
        at += 1
        continue
      }
      waiting.splice(at, 1)
      waiter.go()
    }
  }

  function wait(request: AdmissionRequest): Promise<void> {
    const { signal, priority } = request
    return new Promise((resolve, reject) => {
      const leave = () => {
        waiting.splice(waiting.indexOf(waiter), 1)
        reject(signal.reason)
      }
      const go = () => {
        signal.removeEventListener('abort', leave)
        resolve()
      }
      const waiter = { request, go }
      const after = waiting.findIndex((other) => other.request.priority > priority)
      waiting.splice(after === -1 ? waiting.length : after, 0, waiter)
      signal.addEventListener('abort', leave, { once: true })
    })
  }

  async function waitAndEnter(request: AdmissionRequest, leave: Leave): Promise<Leave> {
    try {
      await wait(request)
    } catch (error) {
      takenCount -= 1
      throw error
    }
    return leave
  }

  return {
    enter(request) {
      request.signal.throwIfAborted()
      if (takenCount >= placesMax) {
        refused += 1
        throw new ApiError('server_overloaded', { retryAfterS: RETRY_AFTER_S })
      }
      takenCount += 1
      const leave = () => {
        takenCount -= 1
        models.add(request.modelId, -1)
        keys.add(request.keyId, -1)
        startWaiting()
      }
      return tryStart(request) ? leave : waitAndEnter(request, leave)
    },
    figures: () => ({ running: takenCount - waiting.length, waiting: waiting.length, refused }),
  }
}

/** Counters by name; names whose count drops to zero are removed. */
function createCounter() {
  const counts = new Map<string, number>()
  return {
    count: (name: string) => counts.get(name) ?? 0,
    add(name: string, change: number) {
      const count = (counts.get(name) ?? 0) + change
      if (count === 0) counts.delete(name)
      else counts.set(name, count)
    },
  }
}
