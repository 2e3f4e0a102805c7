/**
 * The responses in progress, so that another request can cancel them. Bounded by the number of requests in progress:
 * each is removed when its request ends.
 */
import type { Principal } from '../../domain/access/permissions.ts'
import type { ResponseBody } from '../../domain/chat/responses/response-state.ts'
import { isOwnResponse, type StoredResponse } from '../../domain/chat/responses/responses-record.ts'
import { ApiError } from '../../errors.ts'

interface RunningResponse {
  readonly owner: Pick<StoredResponse, 'project_id' | 'key_id'>
  readonly abort: AbortController
  /** Returns its current state. */
  response(): ResponseBody
}

export interface RunningResponses {
  /** @returns a function that removes it; idempotent */
  add(id: string, running: RunningResponse): () => void
  /** Cancels a response that the caller may see; returns null when there is none. */
  cancel(id: string, caller: Principal): ResponseBody | null
}

export function createRunningResponses(): RunningResponses {
  const all = new Map<string, RunningResponse>()
  return {
    add(id, running) {
      all.set(id, running)
      return () => all.delete(id)
    },
    cancel(id, caller) {
      const running = all.get(id)
      if (running === undefined || !isOwnResponse(running.owner, caller)) return null
      const response = running.response()
      if (response.status !== 'in_progress') return response
      running.abort.abort(new ApiError('response_cancelled'))
      return { ...response, status: 'cancelled' }
    },
  }
}
