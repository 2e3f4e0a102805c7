/** Finds numbers in the feedback of a project that can be used as rewards. */
import { requestJson } from '../../api/client.ts'

/** Limit: feedback that is searched, the newest first. */
const FEEDBACK_LOOKED_AT = 1000
/** Depth to which payloads are searched. */
const DEPTH_MAX = 4
/** Keys that a path of the query language can name. */
const NAME = /^[\w-]+$/

export interface RewardSource {
  /** Its name in the form. */
  readonly name: string
  readonly label: string
  readonly feedback_type: string
  /** The reward in the request for trajectory groups: a path or an expression. */
  readonly reward: object
  /** How many of the searched feedback have it. */
  readonly count: number
}

interface Row {
  readonly feedback_type: string
  readonly payload: unknown
}

/** 1 for a thumb up and 0 for any other reaction. */
const THUMBS = {
  $cond: [
    { $eq: [{ $getField: 'payload.emoji' }, { $literal: '👍' }] },
    { $literal: 1 },
    { $literal: 0 },
  ],
}

/** The sources, those with most feedback first. @throws ApiFailure */
export async function readRewardSources(
  project_id: string,
  signal: AbortSignal,
): Promise<RewardSource[]> {
  const question = {
    project_id,
    fields: ['feedback_type', 'payload'],
    sort_by: [{ field: 'created_at', direction: 'desc' }],
    limit: FEEDBACK_LOOKED_AT,
  }
  const { result } = await requestJson<{ result: Row[] }>('/feedback/query', question, { signal })
  return findSources(result)
}

function findSources(rows: readonly Row[]): RewardSource[] {
  const counts = new Map<string, { feedback_type: string; path: string; count: number }>()
  for (const { feedback_type, payload } of rows) {
    for (const path of numbersIn(payload, 'payload', 0)) {
      const name = `${feedback_type} ${path}`
      const known = counts.get(name) ?? { feedback_type, path, count: 0 }
      counts.set(name, { ...known, count: known.count + 1 })
    }
  }
  const numbers = [...counts].map(([name, { feedback_type, path, count }]) => ({
    name,
    feedback_type,
    count,
    reward: { path },
    label: `${feedback_type} · ${path.replace(/^payload\./, '')}`,
  }))
  return [...numbers, ...findThumbs(rows)].sort((left, right) => right.count - left.count)
}

function findThumbs(rows: readonly Row[]): RewardSource[] {
  const types = rows
    .filter(({ payload }) => typeof (payload as { emoji?: unknown } | null)?.emoji === 'string')
    .map(({ feedback_type }) => feedback_type)
  return [...new Set(types)].map((feedback_type) => ({
    name: `${feedback_type} thumbs`,
    feedback_type,
    reward: { expression: THUMBS },
    label: `${feedback_type} · 👍 is 1, others are 0`,
    count: types.filter((type) => type === feedback_type).length,
  }))
}

/** Paths of numbers and booleans. */
function numbersIn(value: unknown, path: string, depth: number): string[] {
  if (typeof value === 'number' || typeof value === 'boolean') return depth === 0 ? [] : [path]
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return []
  if (depth === DEPTH_MAX) return []
  return Object.entries(value)
    .filter(([name]) => NAME.test(name))
    .flatMap(([name, member]) => numbersIn(member, `${path}.${name}`, depth + 1))
}
