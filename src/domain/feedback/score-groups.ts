/** Counts scores of feedback by time and group. Pure. */
import { refuseField } from '../../errors.ts'
import type {
  FeedbackAggregateRequest,
  FeedbackAggregateResponse,
  FeedbackGroup,
} from '../../schemas/feedback/feedback-stats.ts'
import { parseRef } from '../objects/refs.ts'
import { addToSum, createSum, type ExactSum, totalOf } from '../stats/exact-sum.ts'
import { readScores } from './feedback-view.ts'

/** Limit: buckets of one response. */
const BUCKETS_MAX = 10_000
/** Limit: tags and ratings of all buckets of one response. */
const NAMES_MAX = 100_000
/** The rating by which feedback is chosen. */
const RATING = '_rating_'

/** The fields of feedback that are counted. */
export interface ScoredRow {
  readonly created_at_us: number
  readonly feedback_type: string
  readonly weave_ref: string
  readonly runnable_ref: string | null
  readonly trigger_ref: string | null
  readonly scores_json: string | null
}

type Bucket = FeedbackAggregateResponse['buckets'][number]

interface OpenBucket extends Pick<Bucket, 'time_bucket_start_ms' | 'group'> {
  total: number
  scored: number
  /** Number of occurrences by tag. */
  readonly tags: Map<string, ExactSum>
  readonly ratings: Map<string, ExactSum>
}

/** Whether feedback has a requested type and monitor, as its index entry shows. */
export function isChosenByIndex(
  { feedback_type, trigger_ref }: Pick<ScoredRow, 'feedback_type' | 'trigger_ref'>,
  { feedback_types, monitor_ids }: FeedbackAggregateRequest,
): boolean {
  const isOfType = (start: string) => feedback_type.startsWith(withoutStar(start))
  if (feedback_types.length > 0 && !feedback_types.some(isOfType)) return false
  return isNamed(trigger_ref, monitor_ids)
}

/**
 * Counts rows that isChosenByIndex lets through.
 *
 * @throws ApiError validation_failed where there would be too many buckets or names
 */
export function createScoreGroups(request: FeedbackAggregateRequest) {
  const { time_bucket_seconds, group_by } = request
  const buckets = new Map<string, OpenBucket>()
  const lengthMs = (time_bucket_seconds ?? 0) * 1000
  let names = 0

  function bucketOf(row: ScoredRow, scores: Scores): OpenBucket {
    const ms = Math.floor(row.created_at_us / 1000)
    const start = lengthMs === 0 ? null : Math.floor(ms / lengthMs) * lengthMs
    const group = group_by.map((name) => [name, groupValue(name, row, scores)] as const)
    const key = JSON.stringify([start, group])
    const known = buckets.get(key)
    if (known) return known
    if (buckets.size === BUCKETS_MAX) {
      refuseField('time_bucket_seconds', `gives more than ${BUCKETS_MAX} buckets`)
    }
    const bucket = {
      time_bucket_start_ms: start,
      group: Object.fromEntries(group),
      total: 0,
      scored: 0,
      tags: new Map(),
      ratings: new Map(),
    }
    buckets.set(key, bucket)
    return bucket
  }

  function addTo(sums: Map<string, ExactSum>, name: string, value: number): void {
    const known = sums.get(name)
    if (known === undefined) names += 1
    if (names > NAMES_MAX) refuseField('after_ms', `finds more than ${NAMES_MAX} tags and ratings`)
    const sum = known ?? createSum()
    sums.set(name, sum)
    addToSum(sum, value)
  }

  return {
    add(row: ScoredRow): void {
      const scores = readScores(row, JSON.parse) as unknown as Scores
      if (!isChosen(row, scores, request)) return
      const bucket = bucketOf(row, scores)
      const { scorer_tags, scorer_ratings } = scores
      const ratings = Object.entries(scorer_ratings)
      bucket.total += 1
      if (scorer_tags.length + ratings.length > 0) bucket.scored += 1
      for (const tag of new Set(scorer_tags)) addTo(bucket.tags, tag, 1)
      for (const [name, rating] of ratings) addTo(bucket.ratings, name, rating)
    },
    /** The buckets by time, then by the values of the groups. */
    buckets(): Bucket[] {
      return [...buckets].sort(compare).map(([, bucket]) => renderBucket(bucket))
    },
  }
}

function renderBucket({ total, scored, tags, ratings, ...bucket }: OpenBucket): Bucket {
  return {
    ...bucket,
    total_count: total,
    scored_count: scored,
    tag_counts: tell(tags, ({ count }) => count),
    rating_counts: tell(ratings, ({ count }) => count),
    rating_sums: tell(ratings, (sum) => totalOf(sum)),
  }
}

function tell(sums: ReadonlyMap<string, ExactSum>, value: (sum: ExactSum) => number) {
  return Object.fromEntries(Array.from(sums, ([name, sum]) => [name, value(sum)]))
}

type Keyed = readonly [key: string, bucket: OpenBucket]

function compare([leftKey, left]: Keyed, [rightKey, right]: Keyed): number {
  const later = (left.time_bucket_start_ms ?? 0) - (right.time_bucket_start_ms ?? 0)
  return later || (leftKey < rightKey ? -1 : 1)
}

/** Scores with the defaults that are read where none was sent. */
interface Scores {
  readonly scorer_tags: readonly string[]
  readonly scorer_ratings: Readonly<Record<string, number>>
  readonly span_agent_name: string
  readonly span_agent_version: string
  readonly span_status_code: string
}

function isChosen(row: ScoredRow, scores: Scores, request: FeedbackAggregateRequest): boolean {
  const { tags, span_agent_names, span_types, rating_min, rating_max } = request
  if (!isNamed(row.runnable_ref, request.scorer_ids)) return false
  if (tags.length > 0 && !tags.some((tag) => scores.scorer_tags.includes(tag))) return false
  if (span_agent_names.length > 0 && !span_agent_names.includes(scores.span_agent_name))
    return false
  // Refs of turns and conversations are of kinds of the clients.
  const kind = row.weave_ref.split('/').at(-2)
  if (span_types.length > 0 && !span_types.some((type) => type === kind)) return false
  const isRated = rating_min != null || rating_max != null
  return !isRated || isBetween(scores.scorer_ratings[RATING], rating_min, rating_max)
}

function isBetween(
  rating: number | undefined,
  least: number | null | undefined,
  most: number | null | undefined,
): boolean {
  if (rating === undefined) return false
  return rating >= (least ?? rating) && rating <= (most ?? rating)
}

/** Whether the name in a ref is among the requested ones; an empty list wants all. */
function isNamed(ref: string | null, wanted: readonly string[]): boolean {
  if (wanted.length === 0) return true
  const name = nameOf(ref)
  return wanted.some((text) =>
    text.endsWith('*') ? name.startsWith(withoutStar(text)) : name === text,
  )
}

function withoutStar(text: string): string {
  return text.endsWith('*') ? text.slice(0, -1) : text
}

function nameOf(ref: string | null): string {
  return (ref === null ? null : parseRef(ref)?.name) ?? ''
}

function groupValue(name: FeedbackGroup, row: ScoredRow, scores: Scores): string {
  return name === 'scorer_id' ? nameOf(row.runnable_ref) : scores[name]
}
