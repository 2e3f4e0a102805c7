/**
 * One line a second for each kind of 503, with how many there were: a server that is full or has lost its disk refuses
 * thousands of requests a second, and a line for each would fill the disk next.
 */
import type { FastifyBaseLogger } from 'fastify'
import type { ApiError, ErrorCode } from '../errors.ts'

/** What one line counts. */
const GATHER_MS = 1000
/** Limit: routes that a line names, the first ones. */
const ROUTES_MAX = 16

export interface RefusalLog {
  /** Counts a refusal. @param route - its pattern, null where there is none */
  note(error: ApiError, route: string | null): void
  /** Writes what was counted. */
  flush(): void
}

interface Refusals {
  count: number
  readonly routes: Map<string, number>
  /** Why, of the first one. */
  readonly error: ApiError
}

export function createRefusalLog(log: FastifyBaseLogger): RefusalLog {
  const kinds = new Map<ErrorCode, Refusals>()
  let timer: NodeJS.Timeout | null = null

  function flush(): void {
    clearTimeout(timer ?? undefined)
    timer = null
    for (const [code, { count, routes, error }] of kinds) {
      const fields = { code, count, routes: Object.fromEntries(routes) }
      // Only a lost store has a cause that somebody must look at.
      if (error.cause === undefined) log.warn(fields, 'requests refused')
      else log.error({ ...fields, err: error.cause }, 'requests refused')
    }
    kinds.clear()
  }

  return {
    note(error, route) {
      timer ??= setTimeout(flush, GATHER_MS).unref()
      let refusals = kinds.get(error.code)
      if (!refusals) {
        refusals = { count: 0, routes: new Map(), error }
        kinds.set(error.code, refusals)
      }
      refusals.count += 1
      const name = route ?? 'unknown'
      const known = refusals.routes.get(name)
      if (known === undefined && refusals.routes.size >= ROUTES_MAX) return
      refusals.routes.set(name, (known ?? 0) + 1)
    },
    flush,
  }
}
