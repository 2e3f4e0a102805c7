/** The responses in progress, which are cancelled at the process that produces them, whichever is asked to. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Principal } from '../../domain/access/permissions.ts'
import type { ResponseBody } from '../../domain/chat/responses/response-state.ts'
import { isOwnResponse, type StoredResponse } from '../../domain/chat/responses/responses-record.ts'
import { ApiError } from '../../errors.ts'
import type { App } from '../../http/app-type.ts'
import { newId } from '../../http/new-id.ts'
import type { ResponseCancelStore } from '../../store/api/chat/response-cancels.ts'

/** Pause between two reads of what others want to cancel here, while responses are in progress. */
const REQUESTED_POLL_MS = 500
/** Pause between two reads of what another process has cancelled. */
const CANCELLED_POLL_MS = 100
/** Limit: how long another process may take to cancel a response. */
const ELSEWHERE_MS_MAX = 3_000
/** Limit: requests of this process that wait for others. */
const WAITING_MAX = 100

type Caller = Pick<Principal, 'keyId' | 'projects'>

interface RunningResponse {
  readonly owner: Pick<StoredResponse, 'project_id' | 'key_id'>
  readonly abort: AbortController
  /** Returns its current state. */
  response(): ResponseBody
}

export interface RunningResponses {
  /** @returns a function that removes it; idempotent */
  add(id: string, running: RunningResponse): () => void
  /** Cancels a response of this process that the caller may see; returns null when there is none. */
  cancel(id: string, caller: Caller): ResponseBody | null
  /**
   * The same for a response of another process, as JSON text. Without such processes it returns null at once, otherwise
   * after three seconds.
   *
   * @param signal - ends the wait, with its reason
   * @throws ApiError server_overloaded
   */
  cancelElsewhere(id: string, caller: Caller, signal: AbortSignal): Promise<string | null>
}

interface RunningResponsesOptions {
  /** undefined: no other process shares the store. */
  readonly responseCancels: ResponseCancelStore | undefined
  readonly nowUs: () => number
}

/** Creates them for an app, which ends what they do in the background when it closes. */
export function createRunningResponses(
  app: App,
  { responseCancels, nowUs }: RunningResponsesOptions,
): RunningResponses {
  const all = new Map<string, RunningResponse>()
  const closing = new AbortController()
  let watching: Promise<void> | null = null
  let waiting = 0

  function cancel(id: string, caller: Caller): ResponseBody | null {
    const running = all.get(id)
    if (running === undefined || !isOwnResponse(running.owner, caller)) return null
    const response = running.response()
    if (response.status !== 'in_progress') return response
    running.abort.abort(new ApiError('response_cancelled'))
    return { ...response, status: 'cancelled' }
  }

  async function cancelRequested(cancels: ResponseCancelStore): Promise<void> {
    for (const { id, response_id, caller } of await cancels.listRequested()) {
      const response = cancel(response_id, caller)
      if (response !== null) await cancels.fulfil(id, JSON.stringify(response))
    }
  }

  /** Polls until no response is in progress. */
  async function watch(cancels: ResponseCancelStore): Promise<void> {
    let isFailing = false
    const { signal } = closing
    while (all.size > 0 && !signal.aborted) {
      await sleep(REQUESTED_POLL_MS, undefined, { ref: false, signal }).catch(() => undefined)
      if (all.size === 0 || signal.aborted) break
      try {
        await cancelRequested(cancels)
        isFailing = false
      } catch (err) {
        if (!isFailing) app.log.error({ err }, 'requests to cancel responses could not be read')
        isFailing = true
      }
    }
    watching = null
  }

  app.addHook('onClose', async () => {
    closing.abort()
    await watching
  })
  return {
    add(id, running) {
      all.set(id, running)
      if (responseCancels) watching ??= watch(responseCancels)
      return () => all.delete(id)
    },
    cancel,
    async cancelElsewhere(response_id, { keyId, projects }, signal) {
      if (!responseCancels) return null
      if (waiting === WAITING_MAX) throw new ApiError('server_overloaded', { retryAfterS: 1 })
      const id = newId()
      const deadlineMs = performance.now() + ELSEWHERE_MS_MAX
      waiting += 1
      try {
        const caller = { keyId, projects }
        await responseCancels.requestCancel({ id, response_id, caller }, nowUs())
        while (performance.now() < deadlineMs) {
          await sleep(CANCELLED_POLL_MS, undefined, { signal }).catch(() => undefined)
          signal.throwIfAborted()
          const json = await responseCancels.findCancelled(id)
          if (json !== null) return json
        }
        return null
      } finally {
        waiting -= 1
        await responseCancels.withdraw(id).catch(() => undefined)
      }
    },
  }
}
