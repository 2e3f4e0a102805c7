/** Reads the calls of evaluations, and the rows of the datasets that they ran on. */
import type { ReadCaller } from '../../domain/access/read-caller.ts'
import { callRef } from '../../domain/calls/call-ref.ts'
import type { StoredCall } from '../../domain/calls/call-view.ts'
import { resolveCallsSelection, resolveCallsShape } from '../../domain/calls/calls-query.ts'
import {
  type TrialChild,
  type TrialOfModel,
  toChild,
  toTrial,
  withChildren,
} from '../../domain/calls/evaluations/eval-trials.ts'
import { parseCall } from '../../domain/calls/evaluations/evaluation-calls.ts'
import { readScore } from '../../domain/langfuse/scores.ts'
import { parseReadableRef } from '../../domain/objects/readable-ref.ts'
import type { PriceTable } from '../../domain/prices/price-table.ts'
import { ApiError, isNotFound } from '../../errors.ts'
import type { CallsFilter } from '../../schemas/calls/calls-filter.ts'
import type { EvalRow, EvalTrial } from '../../schemas/calls/eval-results.ts'
import type { Stores } from '../../store/api/stores.ts'
import { createRefReader, type RefReaderOptions } from '../objects/ref-reader.ts'

/** Limits: trials of one response, and calls below them. */
const TRIALS_MAX = 10_000
const CHILDREN_MAX = 100_000
/** Limit: characters of the inputs and outputs of trials in one response. */
const CHARACTERS_MAX = 64 * 1024 * 1024
/** Calls whose children are read with one query. */
const PARENTS = 500

const TRIAL_COLUMNS = ['parent_id', 'inputs', 'output']
const CHILD_COLUMNS = ['parent_id', 'attributes', 'inputs', 'summary', 'ended_at']
const ROOT_COLUMNS = ['display_name', 'inputs']

export interface EvalReaderOptions extends Pick<Stores, 'callsQuery' | 'feedback'> {
  /** Scheme of the refs by which feedback is found. */
  readonly refScheme: string
}

/** @param prices - null leaves costs out */
export function createEvalReader(
  { callsQuery, feedback, refScheme }: EvalReaderOptions,
  caller: ReadCaller,
  prices: PriceTable | null,
) {
  const { project_id } = caller
  let characters = 0

  async function* readCalls(filter: CallsFilter, columns: string[]): AsyncGenerator<StoredCall> {
    const shape = resolveCallsShape({ project_id, columns })
    const selection = resolveCallsSelection({ project_id, filter })
    for await (const listed of callsQuery.pages(selection, shape, caller)) {
      for (const { call } of listed) {
        if (columns === TRIAL_COLUMNS) {
          characters += (call.inputs_json?.length ?? 0) + (call.output_json?.length ?? 0)
        }
        if (characters > CHARACTERS_MAX) throw tooMuch(`${CHARACTERS_MAX} characters`)
        yield parseCall(call)
      }
    }
  }

  async function readChildren(parents: readonly string[]): Promise<Map<string, TrialChild[]>> {
    const children = new Map<string, TrialChild[]>()
    let count = 0
    for (let from = 0; from < parents.length; from += PARENTS) {
      const filter = { parent_ids: parents.slice(from, from + PARENTS) }
      for await (const call of readCalls(filter, CHILD_COLUMNS)) {
        const { parent_id } = call
        if (parent_id === null) continue
        count += 1
        if (count > CHILDREN_MAX) throw tooMuch(`${CHILDREN_MAX} calls below their trials`)
        const known = children.get(parent_id) ?? []
        children.set(parent_id, known)
        known.push(toChild(call, prices))
      }
    }
    return children
  }

  /** Adds the scores that are feedback about a trial or a call below it. */
  async function withFeedback(
    { trial }: TrialOfModel,
    below: readonly TrialChild[],
  ): Promise<EvalTrial> {
    const ids = [trial.predict_and_score_call_id, ...below.map(({ id }) => id)]
    const refs = ids.slice(0, PARENTS).map((id) => callRef(refScheme, project_id, id))
    const found = (await feedback.listAbout(refs, caller)).flat().flatMap((row) => {
      const score = readScore(row)
      return score === null ? [] : [score]
    })
    return { ...trial, scores: { ...trial.scores, ...Object.fromEntries(found) } }
  }

  return {
    /** Returns the trials of evaluations, ordered by start. @throws ApiError validation_failed for too many */
    async readTrials(
      evaluations: readonly string[],
      withCallsBelow: boolean,
    ): Promise<TrialOfModel[]> {
      const trials: TrialOfModel[] = []
      if (evaluations.length === 0) return trials
      for await (const call of readCalls({ parent_ids: [...evaluations] }, TRIAL_COLUMNS)) {
        const trial = toTrial(call)
        if (trial) trials.push(trial)
        if (trials.length > TRIALS_MAX) throw tooMuch(`${TRIALS_MAX} trials`)
      }
      const parents = withCallsBelow ? trials : trials.filter(({ isScored }) => !isScored)
      const children = await readChildren(parents.map(idOf))
      const scored: TrialOfModel[] = []
      for (const found of trials) {
        const below = children.get(idOf(found)) ?? []
        const trial = found.isScored ? found.trial : await withFeedback(found, below)
        const whole = { ...found, trial }
        scored.push(withCallsBelow ? { ...whole, trial: withChildren(whole, below) } : whole)
      }
      return scored
    },
    async readRoots(evaluations: readonly string[]): Promise<StoredCall[]> {
      if (evaluations.length === 0) return []
      return Array.fromAsync(readCalls({ call_ids: [...evaluations] }, ROOT_COLUMNS))
    },
  }
}

/** Replaces the refs in rows by their targets; a ref without a target stays and is reported. */
export async function resolveRows(
  rows: readonly EvalRow[],
  options: RefReaderOptions,
): Promise<{ rows: EvalRow[]; warnings: string[] }> {
  const read = createRefReader(options)
  let unread = 0
  const resolved: EvalRow[] = []
  for (const row of rows) {
    const { raw_data_row } = row
    const ref = typeof raw_data_row === 'string' ? parseReadableRef(raw_data_row) : null
    const value = ref === null ? raw_data_row : await readOrNull(() => read(ref))
    if (value === null && ref !== null) unread += 1
    resolved.push(value === null ? row : { ...row, raw_data_row: value })
  }
  const warnings =
    unread === 0 ? [] : [`The refs of ${unread} rows lead nowhere and stand as they are.`]
  return { rows: resolved, warnings }
}

async function readOrNull(read: () => Promise<unknown>): Promise<unknown> {
  try {
    return await read()
  } catch (error) {
    if (isNotFound(error)) return null
    throw error
  }
}

function idOf({ trial }: TrialOfModel): string {
  return trial.predict_and_score_call_id
}

function tooMuch(what: string): ApiError {
  const message = `The evaluations have more than ${what}: ask for fewer of them.`
  return new ApiError('validation_failed', { param: 'evaluation_call_ids', message })
}
