/** Reads what an evaluation needs: rows, the model with its prompt, and scorers. */
import { canUseProject, type Principal } from '../domain/access/permissions.ts'
import { toPromptMessages } from '../domain/chat/completion-create.ts'
import {
  type EvaluationOps,
  type ModelObject,
  toEvaluation,
  toModel,
  toScorer,
} from '../domain/evaluations/runnable-objects.ts'
import { isObject } from '../domain/json/is-object.ts'
import { parseExact } from '../domain/json/json-text.ts'
import { parseReadableRef } from '../domain/objects/readable-ref.ts'
import { parseRef } from '../domain/objects/refs.ts'
import { refuseField } from '../errors.ts'
import type { Scorers } from '../inference/scorers/scorers.ts'
import type { Scorer } from '../schemas/evaluators/scorer.ts'
import type { Stores } from '../store/api/stores.ts'

/** Limits: rows of a data set, times the trials, and bytes of the rows. */
const ROWS_MAX = 10_000
const ROWS_BYTES_MAX = 64 * 1024 * 1024

export interface PlanOptions {
  readonly tables: Stores['tables']
  readonly scorers: Pick<Scorers, 'requireUsable'>
  /** Returns the value at a ref, of projects that the caller may use. @throws ApiError object_not_found, table_not_found */
  readRef(ref: string, caller: Principal): Promise<unknown>
  /** Returns a ref with the digest of its version in place of an alias, where that exists: what is recorded must not change with it. */
  pinRef(ref: string): Promise<string>
}

export interface NamedScorer {
  readonly ref: string
  /** Name in the scores of a trial. */
  readonly name: string
  readonly scorer: Scorer
}

interface PlannedRow {
  /** What is recorded as the example: the ref of the row, or the row itself. */
  readonly example: unknown
  readonly value: Readonly<Record<string, unknown>>
}

export interface PlannedModel extends ModelObject {
  readonly ref: string
  readonly promptMessages: readonly unknown[]
  /** Ref of the version of the prompt, by its digest; null: the messages are its own. */
  readonly promptRef: string | null
}

interface EvaluationPlan {
  readonly rows: readonly PlannedRow[]
  readonly trials: number
  readonly ops: EvaluationOps
  readonly model: PlannedModel
  readonly scorers: readonly NamedScorer[]
}

interface Asker {
  readonly caller: Principal
  readonly project_id: string
}

/** @throws ApiError validation_failed for what the server cannot run; what readRef and requireUsable throw */
export async function readPlan(
  { evaluation_ref, model_ref }: { readonly evaluation_ref: string; readonly model_ref: string },
  asker: Asker,
  options: PlanOptions,
): Promise<EvaluationPlan> {
  const { caller } = asker
  const evaluation = toEvaluation(await options.readRef(evaluation_ref, caller))
  const object = toModel(await options.readRef(model_ref, caller), 'model_ref')
  const promptRef = object.prompt_ref && (await options.pinRef(object.prompt_ref))
  const prompt = promptRef && (await options.readRef(promptRef, caller))
  const promptMessages = prompt ? toPromptMessages(prompt) : []
  if (promptMessages === null) refuseField('model_ref', 'names a prompt without messages')
  const scorers = await readScorers(evaluation.scorer_refs, asker, options, 'evaluation_ref')
  const rows = await readRows(await options.pinRef(evaluation.dataset_ref), caller, options)
  if (rows.length * evaluation.trials > ROWS_MAX) {
    refuseField('evaluation_ref', `has more than ${ROWS_MAX} rows, counting each trial`)
  }
  return {
    rows,
    trials: evaluation.trials,
    ops: evaluation.ops,
    model: { ...object, ref: model_ref, promptMessages, promptRef },
    scorers,
  }
}

/**
 * Reads the versions of scorers that refs name now.
 *
 * @param param - the field that names them
 */
export async function readScorers(
  refs: readonly string[],
  { caller, project_id }: Asker,
  { readRef, pinRef, scorers }: Omit<PlanOptions, 'tables'>,
  param: string,
): Promise<NamedScorer[]> {
  const named = new Map<string, NamedScorer>()
  for (const given of refs) {
    const ref = await pinRef(given)
    const value = await readScorerObject(ref, caller, readRef)
    const scorer = toScorer(value, param)
    const name = parseRef(ref)?.name ?? ref
    if (named.has(name)) refuseField(param, `names two scorers ${name}, whose scores would be one`)
    await scorers.requireUsable(scorer, { caller, project_id }, param)
    named.set(name, { ref, name, scorer })
  }
  return [...named.values()]
}

/** Fields of scorers of the SDKs that are objects of their own, published with them. */
const SCORER_REFS = ['model', 'scoring_prompt']

/** Reads a scorer with the objects that it names by ref. */
async function readScorerObject(
  ref: string,
  caller: Principal,
  readRef: PlanOptions['readRef'],
): Promise<unknown> {
  const value = await readRef(ref, caller)
  if (!isObject(value) || value._class_name !== 'LLMAsAJudgeScorer') return value
  const whole: Record<string, unknown> = { ...value }
  for (const name of SCORER_REFS) {
    const field = whole[name]
    const isRef = typeof field === 'string' && parseReadableRef(field) !== null
    if (isRef) whole[name] = await readRef(field, caller)
  }
  return whole
}

/** Rows of a data set, each with the ref by which the SDKs record it. */
async function readRows(
  dataset_ref: string,
  caller: Principal,
  { readRef, tables }: PlanOptions,
): Promise<PlannedRow[]> {
  const dataset = await readRef(dataset_ref, caller)
  const rows = isObject(dataset) ? dataset.rows : null
  if (Array.isArray(rows)) return rows.map((row) => ({ example: row, value: requireRow(row) }))
  const ref = typeof rows === 'string' ? parseReadableRef(rows) : null
  const isReadable = ref?.target.kind === 'table' && canUseProject(caller, ref.project_id)
  const table =
    ref?.target.kind === 'table' && isReadable
      ? await tables.findTable(ref.project_id, ref.target.digest)
      : null
  if (table === null) refuseField('evaluation_ref', 'names a data set without a table of rows')
  if (table.row_count > ROWS_MAX || table.storage_size_bytes > ROWS_BYTES_MAX) {
    refuseField('evaluation_ref', `names a data set of more than ${ROWS_MAX} rows or 64 MiB`)
  }
  const found: PlannedRow[] = []
  for await (const group of tables.readRows(table, Array(table.row_count).keys())) {
    for (const { digest, val_json } of group) {
      const example = `${dataset_ref}/attr/rows/id/${digest}`
      found.push({ example, value: requireRow(parseExact(val_json)) })
    }
  }
  return found
}

function requireRow(row: unknown): Readonly<Record<string, unknown>> {
  if (isObject(row)) return row
  refuseField('evaluation_ref', 'names a data set with rows that are no objects')
}
