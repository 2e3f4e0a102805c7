/** Finds numbers in the feedback of a project that can be used as rewards. */
import { requestJson } from '../../api/client.ts'

/** Limit: feedback that is searched, the newest first. */
const FEEDBACK_LOOKED_AT = 1000
/** Depth to which payloads are searched. */
const DEPTH_MAX = 4
/** Keys that a path of the query language can name. */
const NAME = /^[\w-]+$/
const SOURCE_NAME = /^\S.* (thumbs|payload(\.[\w-]+)+)$/

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
  const counts = new Map<string, number>()
  for (const { feedback_type, payload } of rows) {
    const hasEmoji = typeof (payload as { emoji?: unknown } | null)?.emoji === 'string'
    for (const part of [...numbersIn(payload, 'payload', 0), ...(hasEmoji ? ['thumbs'] : [])]) {
      const name = `${feedback_type} ${part}`
      counts.set(name, (counts.get(name) ?? 0) + 1)
    }
  }
  return [...counts]
    .map(([name, count]) => sourceOf(name, count))
    .sort((left, right) => right.count - left.count)
}

/** The sources, and those that choices name but the searched feedback lacks: it may be older. */
export function withNamed(
  sources: readonly RewardSource[],
  choices: readonly { readonly source: string }[],
): readonly RewardSource[] {
  const known = new Set(sources.map(({ name }) => name))
  const named = new Set(choices.map(({ source }) => source))
  const older = [...named].filter((name) => SOURCE_NAME.test(name) && !known.has(name))
  return [...sources, ...older.map((name) => sourceOf(name, 0))]
}

/** @param name - a type of feedback, and a path of its payload or `thumbs` */
function sourceOf(name: string, count: number): RewardSource {
  const at = name.lastIndexOf(' ')
  const [feedback_type, part] = [name.slice(0, at), name.slice(at + 1)]
  const [reward, words] =
    part === 'thumbs'
      ? [{ expression: THUMBS }, '👍 is 1, others are 0']
      : [{ path: part }, part.replace(/^payload\./, '')]
  return { name, feedback_type, count, reward, label: `${feedback_type} · ${words}` }
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
