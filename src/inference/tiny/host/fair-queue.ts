/**
 * Distributes a few slots fairly among many owners. The owner served longest ago is next, and one owner never gets all
 * slots. It is independent of what the slots are used for.
 */
import { ApiError } from '../../../errors.ts'

/** One request for a place. */
interface Turn {
  /** Resolves when the slot is free; rejects when the caller leaves the queue before, or the queue is closed. */
  readonly granted: Promise<void>
  /** Gives the place back, or the waiting up. Further calls do nothing. */
  leave(): void
}

interface FairQueue {
  /** @param priority - lower is served earlier */
  enter(owner: string, priority: number): Turn
  /** Rejects all waiting callers with server_draining. */
  close(): void
}

interface Waiter {
  readonly owner: string
  readonly priority: number
  readonly promise: PromiseWithResolvers<void>
}

/** An owner with a request that waits or has a place; forgotten when it has none. */
interface Owner {
  requests: number
  places: number
  /** Sequence number of its last slot. */
  servedAt: number
}

/** @param placesMax - 2 or more */
export function createFairQueue(placesMax: number): FairQueue {
  const owners = new Map<string, Owner>()
  const waiting = new Set<Waiter>()
  let taken = 0
  let turns = 0

  function ownerOf(name: string): Owner {
    const known = owners.get(name) ?? { requests: 0, places: 0, servedAt: 0 }
    owners.set(name, known)
    return known
  }

  function next(): Waiter | undefined {
    return [...waiting]
      .filter(({ owner }) => ownerOf(owner).places < placesMax - 1)
      .sort(
        (a, b) => a.priority - b.priority || ownerOf(a.owner).servedAt - ownerOf(b.owner).servedAt,
      )[0]
  }

  function handOut(): void {
    for (let first = next(); first !== undefined && taken < placesMax; first = next()) {
      const owner = ownerOf(first.owner)
      waiting.delete(first)
      taken++
      owner.places++
      owner.servedAt = ++turns
      first.promise.resolve()
    }
  }

  return {
    enter(name, priority) {
      const owner = ownerOf(name)
      const waiter: Waiter = { owner: name, priority, promise: Promise.withResolvers() }
      let isOver = false
      owner.requests++
      waiting.add(waiter)
      handOut()
      return {
        granted: waiter.promise.promise,
        leave() {
          if (isOver) return
          isOver = true
          if (waiting.delete(waiter)) {
            waiter.promise.reject(new ApiError('client_closed_request'))
          } else {
            taken--
            owner.places--
          }
          if (--owner.requests === 0) owners.delete(name)
          handOut()
        },
      }
    },
    close() {
      for (const { promise } of waiting) promise.reject(new ApiError('server_draining'))
      waiting.clear()
      // No place is given out any more.
      taken = Number.POSITIVE_INFINITY
    },
  }
}
