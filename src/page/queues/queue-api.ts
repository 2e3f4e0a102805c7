/** The calls of a queue, one after the other: claimed, so that two people never rate the same one. */
import { ApiFailure, requestJson, requestLines } from '../api/client.ts'
import type { AnnotationState, Call, Queue, QueueItem } from '../api/wire.ts'

/** Items per request: several, since other people may claim some of them first. */
const TRIED = 20
/** Limit: skipped items that are counted. */
export const SKIPPED_MAX = 100

export interface Progress {
  readonly total: number
  /** Including skipped items. */
  readonly done: number
  readonly skipped: number
}

export interface Claimed {
  readonly item: QueueItem
  /** Null when it was deleted meanwhile. */
  readonly call: Call | null
}

export interface KnownQueue {
  readonly queue: Queue
  readonly rules_work: {
    readonly added: number
    readonly dropped: number
    readonly waiting: number
  }
}

interface QueueApi {
  readQueue(signal: AbortSignal): Promise<KnownQueue>
  readProgress(signal?: AbortSignal): Promise<Progress>
  /** Claims the next free call; null when there is none. */
  claimNext(signal?: AbortSignal): Promise<Claimed | null>
  finish(item: string, state: 'completed' | 'skipped'): Promise<void>
}

export function openQueue(project_id: string, queue: string, user: string | null): QueueApi {
  const path = `/annotation_queues/${encodeURIComponent(queue)}`

  async function listItems(
    state: AnnotationState,
    limit: number,
    signal?: AbortSignal,
  ): Promise<readonly QueueItem[]> {
    const body = { project_id, filter: { annotation_states: [state] }, limit }
    return (await requestJson<{ items: QueueItem[] }>(`${path}/items/query`, body, { signal }))
      .items
  }

  function step(item: string, annotation_state: string): Promise<unknown> {
    return requestJson(`${path}/items/${encodeURIComponent(item)}/progress`, {
      project_id,
      annotation_state,
    })
  }

  /** False when another annotator has it. */
  async function claim({ id }: QueueItem): Promise<boolean> {
    try {
      await step(id, 'in_progress')
      return true
    } catch (error) {
      if (error instanceof ApiFailure && error.code === 'annotation_conflict') return false
      throw error
    }
  }

  async function readCall(id: string, signal?: AbortSignal): Promise<Call | null> {
    const body = { project_id, filter: { call_ids: [id] }, include_feedback: true }
    for await (const call of requestLines<Call>('/calls/stream_query', body, { signal }))
      return call
    return null
  }

  return {
    async readQueue(signal) {
      const address = `${path}?project_id=${encodeURIComponent(project_id)}`
      return requestJson<KnownQueue>(address, undefined, { signal })
    },
    async readProgress(signal) {
      const body = { project_id, queue_ids: [queue] }
      const [{ stats }, skipped] = await Promise.all([
        requestJson<{ stats: { total_items: number; completed_items: number }[] }>(
          '/annotation_queues/stats',
          body,
          { signal },
        ),
        listItems('skipped', SKIPPED_MAX, signal),
      ])
      const { total_items: total = 0, completed_items: done = 0 } = stats[0] ?? {}
      return { total, done, skipped: skipped.length }
    },
    async claimNext(signal) {
      // First the user's own items in progress, then unstarted ones, then those that others abandoned.
      const [begun, waiting] = await Promise.all([
        listItems('in_progress', TRIED, signal),
        listItems('unstarted', TRIED, signal),
      ])
      const own = begun.filter(({ annotator_user_id }) => annotator_user_id === user)
      const others = begun.filter(({ annotator_user_id }) => annotator_user_id !== user)
      for (const item of [...own, ...waiting, ...others]) {
        if (await claim(item)) return { item, call: await readCall(item.call_id, signal) }
      }
      return null
    },
    async finish(item, state) {
      await step(item, state)
    },
  }
}
