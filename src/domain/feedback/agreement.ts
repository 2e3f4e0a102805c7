/** How far people agree on calls with each other, and with judges. Pure. */
import type { AgreementResponse, PairAgreement } from '../../schemas/feedback/agreement.ts'
import { timestampUs } from '../../schemas/timestamp.ts'
import { parseRef } from '../objects/refs.ts'
import {
  alphaOf,
  confusionOf,
  kappaOf,
  meanDifferenceOf,
  type RatedPair,
  weightedKappaOf,
} from './agreement-measures.ts'
import type { FeedbackRow } from './feedback-view.ts'
import { numberOf, type Rating, RUNNABLE, readRating } from './rating.ts'

/** Limits: people of one type who are compared with each other, and calls in a list. */
const PEOPLE_MAX = 10
const DISAGREEMENTS_MAX = 50
const PASS_AT = 0.5

/** The ratings of one rater, by call. */
export interface Series {
  readonly kind: 'person' | 'people' | 'judge'
  readonly name: string
  readonly feedback_type: string
  readonly ratings: Map<string, Rating>
}

interface Chosen {
  readonly queue_id?: string | null | undefined
  /** Range of the ratings of people without a queue; the end is excluded. */
  readonly after?: string | null | undefined
  readonly before?: string | null | undefined
  readonly feedback_types?: readonly string[] | null | undefined
  readonly evaluators?: readonly string[] | null | undefined
}

/** From where on numbers are a pass; null: they stay numbers where they can be compared. */
interface PassMarks {
  readonly people_pass_at?: number | null | undefined
  readonly judge_pass_at?: number | null | undefined
}

/**
 * Sorts feedback by rater; of two ratings of one call the newer one counts.
 *
 * @param feedback - about the calls, the oldest first
 */
export function toSeries(feedback: readonly FeedbackRow[], chosen: Chosen): Series[] {
  const found = new Map<string, Series>()
  const range = rangeOf(chosen)
  for (const row of feedback) {
    const rater = raterOf(row, chosen, range)
    const call = rater && parseRef(row.weave_ref)?.name
    const rating = call ? readRating(row) : null
    if (rater === null || !call || rating === null) continue
    const key = JSON.stringify([rater.kind, rater.name, rater.feedback_type])
    const series = found.get(key) ?? { ...rater, ratings: new Map() }
    found.set(key, series)
    series.ratings.set(call, rating)
  }
  return [...found.values()].sort((one, other) => other.ratings.size - one.ratings.size)
}

interface TimeRange {
  readonly startUs: number
  readonly endUs: number
}

function rangeOf({ queue_id, after, before }: Chosen): TimeRange {
  const usOf = (time: string | null | undefined, none: number) =>
    queue_id || !time ? none : timestampUs(time)
  return { startUs: usOf(after, -Infinity), endUs: usOf(before, Infinity) }
}

function raterOf(
  row: FeedbackRow,
  chosen: Chosen,
  { startUs, endUs }: TimeRange,
): Omit<Series, 'ratings'> | null {
  const { feedback_type, svc_user_id, queue_id, created_at_us } = row
  if (feedback_type.startsWith(RUNNABLE)) {
    const name = feedback_type.slice(RUNNABLE.length)
    const isWanted = !chosen.evaluators?.length || chosen.evaluators.includes(name)
    return isWanted ? { kind: 'judge', name, feedback_type } : null
  }
  const types = chosen.feedback_types
  if (types?.length && !types.includes(feedback_type)) return null
  if (chosen.queue_id && queue_id !== chosen.queue_id) return null
  if (created_at_us < startUs || created_at_us >= endUs) return null
  return { kind: 'person', name: svc_user_id, feedback_type }
}

/** Compares people with each other, and what most of them say with each judge. */
export function compareRaters(
  series: readonly Series[],
  marks: PassMarks,
): Omit<AgreementResponse, 'is_complete'> {
  const people = series.filter(({ kind }) => kind === 'person')
  const judges = series.filter(({ kind }) => kind === 'judge')
  const byType = [...Map.groupBy(people, ({ feedback_type }) => feedback_type)]
  const pairs = byType.flatMap(([, own]) =>
    own
      .slice(0, PEOPLE_MAX)
      .flatMap((left, index, all) => all.slice(index + 1).map((right) => [left, right] as const)),
  )
  const withJudges = byType.flatMap(([, own]) => {
    const most = poolPeople(own)
    return judges.map((judge) => [most, judge] as const)
  })
  return {
    calls: new Set(people.flatMap(({ ratings }) => [...ratings.keys()])).size,
    raters: series.map(renderRater),
    types: byType.map(([feedback_type, own]) => ({ feedback_type, ...sumType(own) })),
    pairs: [...pairs, ...withJudges]
      .map(([left, right]) => comparePair(left, right, marks))
      .filter(({ calls }) => calls > 0),
  }
}

/** What most people say of each call, or the mean of their numbers; calls without a majority are left out. */
export function poolPeople(people: readonly Series[]): Series {
  const ratings = new Map<string, Rating>()
  for (const [call, given] of ratingsByCall(people)) {
    const rating = poolRatings(given)
    if (rating !== null) ratings.set(call, rating)
  }
  return {
    kind: 'people',
    name: 'people',
    feedback_type: people[0]?.feedback_type ?? '',
    ratings,
  }
}

function poolRatings(given: readonly Rating[]): Rating | null {
  if (given.every((rating) => typeof rating === 'number')) {
    return given.reduce((sum, one) => sum + one, 0) / given.length
  }
  const counts = [...Map.groupBy(given, (rating) => rating)]
  const [first, second] = counts.sort(([, one], [, other]) => other.length - one.length)
  return first === undefined || first[1].length === second?.[1].length ? null : first[0]
}

function ratingsByCall(people: readonly Series[]): Map<string, Rating[]> {
  const calls = new Map<string, Rating[]>()
  for (const { ratings } of people) {
    for (const [call, rating] of ratings) calls.set(call, [...(calls.get(call) ?? []), rating])
  }
  return calls
}

function sumType(people: readonly Series[]) {
  const units = [...ratingsByCall(people).values()]
  const areNumbers = units.flat().every((rating) => typeof rating === 'number')
  return {
    raters: people.length,
    calls: units.filter(({ length }) => length > 1).length,
    alpha: alphaOf(units, 'nominal'),
    interval_alpha: areNumbers ? alphaOf(units, 'interval') : null,
  }
}

/** Compares two raters on the calls that both have rated. */
export function comparePair(left: Series, right: Series, marks: PassMarks): PairAgreement {
  const [ratedLeft, ratedRight] = [toLabels(left, right, marks), toLabels(right, left, marks)]
  const calls = [...ratedLeft.keys()].filter((call) => ratedRight.has(call))
  const pairs = calls.map((call): RatedPair => {
    return [ratedLeft.get(call) as Rating, ratedRight.get(call) as Rating]
  })
  const table = confusionOf(pairs)
  const disagreements = calls
    .map((call_id, index) => ({ call_id, pair: pairs[index] as RatedPair }))
    .filter(({ pair: [one, other] }) => one !== other)
    .sort((one, other) => distanceOf(other.pair) - distanceOf(one.pair))
  return {
    left: renderRater(left),
    right: renderRater(right),
    calls: calls.length,
    agreed: calls.length - disagreements.length,
    kappa: kappaOf(pairs),
    weighted_kappa: weightedKappaOf(pairs),
    mean_difference: meanDifferenceOf(pairs),
    labels: table?.labels ?? null,
    confusion: table?.confusion ?? null,
    disagreements: disagreements
      .slice(0, DISAGREEMENTS_MAX)
      .map(({ call_id, pair: [one, other] }) => ({ call_id, left: one, right: other })),
  }
}

/** Numbers become a pass or a failure where a mark is given, or the other rater gives only these. */
function toLabels(series: Series, other: Series, marks: PassMarks): ReadonlyMap<string, Rating> {
  const given = series.kind === 'judge' ? marks.judge_pass_at : marks.people_pass_at
  const mark = given ?? (isBinary(other) && !isBinary(series) ? PASS_AT : null)
  if (mark === null) return series.ratings
  return new Map(
    Array.from(series.ratings, ([call, rating]) => [
      call,
      typeof rating === 'number' ? rating >= mark : rating,
    ]),
  )
}

function isBinary({ ratings }: Series): boolean {
  return ratings.size > 0 && [...ratings.values()].every((rating) => typeof rating === 'boolean')
}

function distanceOf([left, right]: RatedPair): number {
  const [one, other] = [numberOf(left), numberOf(right)]
  return one === null || other === null ? 1 : Math.abs(one - other)
}

function renderRater({ kind, name, feedback_type, ratings }: Series) {
  return { kind, name, feedback_type, ratings: ratings.size }
}
