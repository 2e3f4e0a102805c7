/** Reads the ids of the selected calls of a list. */
import { requestLines } from '../../api/client.ts'
import type { Target } from './selected-query.ts'

/** Limit: ids in one request. */
const IDS_MAX = 1000

/** Returns the ids of the selected calls, the newest first. @param limit - at most so many */
export async function readSelectedIds(
  target: Target,
  limit = Number.POSITIVE_INFINITY,
): Promise<readonly string[]> {
  const { question, selection } = target
  if (!selection.isAll) return [...selection.ids].slice(0, limit)
  const sort_by = [{ field: 'started_at', direction: 'desc' as const }]
  const bounded = Number.isFinite(limit) ? { limit: limit + selection.ids.size } : {}
  const body = { ...question, ...bounded, sort_by, columns: ['id'] }
  const ids: string[] = []
  for await (const { id } of requestLines<{ id: string }>('/calls/stream_query', body)) {
    if (!selection.ids.has(id)) ids.push(id)
    if (ids.length >= limit) break
  }
  return ids
}

/** Yields ids in groups that one request takes. */
export function* groupsOf(ids: readonly string[], size = IDS_MAX): Generator<readonly string[]> {
  for (let at = 0; at < ids.length; at += size) yield ids.slice(at, at + size)
}
