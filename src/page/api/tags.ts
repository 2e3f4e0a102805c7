/** Tags of calls: feedback of a type of its own. */
import { requestJson } from './client.ts'
import { type Feedback, TAG, tagsOf } from './wire.ts'

/** Limit: characters of a tag. */
export const TAG_CHARS_MAX = 64
/** Limit: the newest tags from which suggestions are made. */
const NEWEST = 1000

interface TagChange {
  readonly add?: readonly string[]
  readonly remove?: readonly string[]
}

interface TagCounts {
  readonly added_count: number
  readonly removed_count: number
}

/** @param call_ids - at most 1,000 @throws ApiFailure */
export function tagCalls(
  project_id: string,
  call_ids: readonly string[],
  change: TagChange,
): Promise<TagCounts> {
  return requestJson('/calls/tag', { project_id, call_ids, ...change })
}

/** Lists the tags that were last used in a project. @throws ApiFailure */
export async function listTags(
  project_id: string,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const body = {
    project_id,
    query: { $expr: { $eq: [{ $getField: 'feedback_type' }, { $literal: TAG }] } },
    fields: ['feedback_type', 'payload'],
    sort_by: [{ field: 'created_at', direction: 'desc' }],
    limit: NEWEST,
  }
  type Rows = { readonly result: readonly Feedback[] }
  return tagsOf((await requestJson<Rows>('/feedback/query', body, { signal })).result)
}
