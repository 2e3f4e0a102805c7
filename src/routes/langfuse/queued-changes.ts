/** Changes of one thing that arrive while another one is made, and are then made together. */
import { ApiError } from '../../errors.ts'

/** Limit: changes of one thing that wait. */
const WAITING_MAX = 1000

interface Waiting<Change, Result> {
  readonly change: Change
  readonly resolve: (result: Result) => void
  readonly reject: (error: unknown) => void
}

/** @returns for each change its result, or why it failed alone */
type Apply<Change, Result> = (changes: readonly Change[]) => Promise<readonly (Result | ApiError)[]>

export function createQueuedChanges<Change, Result>() {
  /** Those that wait, of things of which a change is being made. */
  const queues = new Map<string, Waiting<Change, Result>[]>()

  async function run(key: string, queue: Waiting<Change, Result>[], apply: Apply<Change, Result>) {
    while (queue.length > 0) {
      const taken = queue.splice(0)
      try {
        const results = await apply(taken.map(({ change }) => change))
        for (const [at, { resolve, reject }] of taken.entries()) {
          const result = results[at] as Result | ApiError
          if (result instanceof ApiError) reject(result)
          else resolve(result)
        }
      } catch (error) {
        for (const { reject } of taken) reject(error)
      }
    }
    queues.delete(key)
  }

  return {
    /** @throws ApiError server_overloaded, and what `apply` throws */
    async add(key: string, change: Change, apply: Apply<Change, Result>): Promise<Result> {
      const queue = queues.get(key) ?? []
      if (queue.length >= WAITING_MAX) throw new ApiError('server_overloaded')
      const { promise, resolve, reject } = Promise.withResolvers<Result>()
      queue.push({ change, resolve, reject })
      if (!queues.has(key)) {
        queues.set(key, queue)
        void run(key, queue, apply)
      }
      return promise
    },
  }
}
