/** Tries a draft of a judge on calls that people have rated, beside the current version. */
import type { Principal } from '../domain/access/permissions.ts'
import type { ReadCaller } from '../domain/access/read-caller.ts'
import { definitionOf, type Evaluator } from '../domain/evaluators/evaluator.ts'
import { type ScoredSubject, scoreValueOf } from '../domain/evaluators/score.ts'
import { comparePair, poolPeople, type Series, toSeries } from '../domain/feedback/agreement.ts'
import { type Rating, RUNNABLE, readRating } from '../domain/feedback/rating.ts'
import { parseRef } from '../domain/objects/refs.ts'
import { layerPrices } from '../domain/prices/project-prices.ts'
import { ApiError } from '../errors.ts'
import { UnusableResponseError } from '../inference/scorers/judge.ts'
import type { Scorers } from '../inference/scorers/scorers.ts'
import type {
  JudgeTrialEstimate,
  JudgeTrialLine,
  JudgeTrialRequest,
} from '../schemas/evaluators/judge-trial.ts'
import type { JudgeScorer } from '../schemas/evaluators/scorer.ts'
import { type RatedOptions, readRated } from './rated-calls.ts'
import { readCalls, type SubjectStores, toSubject } from './subjects.ts'

/** Limits: calls by default, and calls from which a cost is estimated. */
const CALLS_DEFAULT = 50
const SAMPLE_MAX = 20

interface TrialOptions extends RatedOptions {
  readonly stores: RatedOptions['stores'] & SubjectStores
  readonly scorers: Pick<Scorers, 'score' | 'estimate'>
}

interface Trial {
  readonly evaluator: Evaluator
  readonly current: JudgeScorer
  readonly request: JudgeTrialRequest
  readonly caller: ReadCaller
  /** What most people say. */
  readonly people: Series
  readonly call_ids: readonly string[]
  /** Stored scores of the current version, by call. */
  readonly stored: ReadonlyMap<string, Rating>
}

/** Finds the calls that people have rated, those rated last. */
export async function openTrial(
  evaluator: Evaluator,
  current: JudgeScorer,
  request: JudgeTrialRequest,
  caller: ReadCaller,
  options: TrialOptions,
): Promise<Trial> {
  const limit = request.limit ?? CALLS_DEFAULT
  const { feedback } = await readRated({ ...request, limit }, caller, options)
  const { name, ref } = evaluator
  const raters = toSeries(feedback, request).filter(({ kind }) => kind === 'person')
  const [most] = raters
  const people = poolPeople(raters.filter((one) => one.feedback_type === most?.feedback_type))
  const stored = new Map<string, Rating>()
  for (const row of feedback) {
    if (row.feedback_type !== `${RUNNABLE}${name}` || row.runnable_ref !== ref) continue
    const [call, rating] = [parseRef(row.weave_ref)?.name, readRating(row)]
    if (call !== undefined && rating !== null) stored.set(call, rating)
  }
  return {
    evaluator,
    current,
    request,
    caller,
    people,
    call_ids: [...people.ratings.keys()],
    stored,
  }
}

/** Estimates what the draft costs, and the current version where it has not scored yet. */
export async function estimateTrial(
  trial: Trial,
  payer: Principal,
  options: TrialOptions,
): Promise<JudgeTrialEstimate> {
  const { call_ids, stored, request, current } = trial
  const { project_id } = request
  const missing = call_ids.filter((id) => !stored.has(id)).length
  const subjects = await readParts(trial, call_ids.slice(0, SAMPLE_MAX), options)
  const context = { project_id, caller: payer }
  const sample = [...subjects.values()]
  const [ofDraft, ofCurrent] = await Promise.all([
    options.scorers.estimate(request.scorer, sample, context),
    missing === 0 ? 0 : options.scorers.estimate(current, sample, context),
  ])
  const isKnown = ofDraft !== null && ofCurrent !== null
  const cost_usd = isKnown ? ofDraft * call_ids.length + ofCurrent * missing : null
  return { calls: call_ids.length, missing, cost_usd }
}

/** Scores the calls, as many at once as the evaluator does; the last line compares. */
export async function* runTrial(
  trial: Trial,
  payer: Principal,
  options: TrialOptions,
): AsyncGenerator<JudgeTrialLine> {
  const { evaluator, call_ids, people, request } = trial
  const { concurrency } = definitionOf(evaluator)
  const [draft, current] = [seriesOf('draft'), seriesOf('current')]
  let cost_usd = 0
  let failed = 0
  for (let from = 0; from < call_ids.length; from += concurrency) {
    if (cost_usd >= (request.max_usd ?? Infinity)) break
    const part = call_ids.slice(from, from + concurrency)
    const subjects = await readParts(trial, part, options)
    const scored = await Promise.all(
      part.map((id) => scoreBoth(trial, id, subjects.get(id), payer, options)),
    )
    for (const { cost_usd: cost, ...call } of scored) {
      cost_usd += cost
      if (call.draft === null || call.current === null) failed += 1
      else {
        draft.ratings.set(call.call_id, call.draft)
        current.ratings.set(call.call_id, call.current)
      }
      yield { call, result: null }
    }
  }
  const [left, right] = [draft, current].map((one) => comparePair(people, one, request))
  if (left && right) yield { call: null, result: { draft: left, current: right, cost_usd, failed } }
}

function seriesOf(name: string): Series {
  return { kind: 'judge', name, feedback_type: '', ratings: new Map() }
}

async function readParts(
  { evaluator, caller }: Trial,
  call_ids: readonly string[],
  { stores, refScheme }: TrialOptions,
): Promise<Map<string, ScoredSubject>> {
  const subjects = new Map<string, ScoredSubject>()
  if (call_ids.length === 0) return subjects
  const table = layerPrices(await stores.prices.listPrices(evaluator.project_id))
  const reader = { stores, refScheme, signal: caller.signal }
  for await (const call of readCalls(evaluator, { call_ids: [...call_ids] }, reader)) {
    subjects.set(call.id, toSubject(call, table))
  }
  return subjects
}

interface Tried {
  readonly value: Rating | null
  readonly cost_usd: number
  readonly error: string | null
}

async function scoreBoth(
  trial: Trial,
  call_id: string,
  subject: ScoredSubject | undefined,
  payer: Principal,
  options: TrialOptions,
) {
  const rated = { call_id, people: trial.people.ratings.get(call_id) ?? null }
  if (subject === undefined) {
    return { ...rated, draft: null, current: null, error: 'The call is gone.', cost_usd: 0 }
  }
  const score = (scorer: JudgeScorer) => tryScore(trial, scorer, subject, payer, options)
  const draft = await score(trial.request.scorer)
  const known = trial.stored.get(call_id)
  const current =
    known === undefined ? await score(trial.current) : { value: known, cost_usd: 0, error: null }
  return {
    ...rated,
    draft: draft.value,
    current: current.value,
    error: draft.error ?? current.error,
    cost_usd: draft.cost_usd + current.cost_usd,
  }
}

async function tryScore(
  { evaluator, caller: { signal } }: Trial,
  scorer: JudgeScorer,
  subject: ScoredSubject,
  payer: Principal,
  { scorers }: TrialOptions,
): Promise<Tried> {
  const { project_id, name, id } = evaluator
  const attributes = {
    evaluator: name,
    evaluator_id: id,
    scored_call_id: subject.id,
    is_trial: true,
  }
  try {
    const made = await scorers.score(scorer, subject, {
      project_id,
      caller: payer,
      attributes,
      signal,
    })
    const value = scoreValueOf(made.output)
    const error = value === null ? 'The response of the judge has no score.' : null
    return { value, cost_usd: made.cost_usd ?? 0, error }
  } catch (error) {
    signal.throwIfAborted()
    if (!(error instanceof ApiError)) throw error
    const cost_usd = error instanceof UnusableResponseError ? error.cost_usd : 0
    return { value: null, cost_usd, error: `${error.code}: ${error.message}` }
  }
}
