/**
 * Logs one line per second and kind of 503, with a count. A server that is overloaded or has lost its disk refuses
 * thousands of requests a second; a line for each would fill the disk.
 */
import type { FastifyBaseLogger } from 'fastify'
import type { ApiError, ErrorCode } from '../../errors.ts'

/** Interval between two lines, in milliseconds. */
const GATHER_MS = 1000
/** Limit: routes named in one line; the first ones are named. */
const ROUTES_MAX = 16

export interface RefusalLog {
  /** Counts a refusal. @param route - the route pattern, or null */
  note(error: ApiError, route: string | null): void
  /** Logs the counts. */
  flush(): void
}

interface Refusals {
  count: number
  readonly routes: Map<string, number>
  /** The error of the first refusal. */
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
      // Only a failed store has a cause that an operator has to examine.
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
