/** Requests that run evaluations on the server: what they need is published first. */
import type { z } from 'zod'
import type { EvaluationStatusResponse } from '../../../schemas/evaluations/server-evaluation.ts'
import { requestExact, requestJson } from '../../api/client.ts'
import { may } from '../../api/session.ts'
import { membersOf } from '../../api/wire.ts'
import { type ObjectVersion, refOf } from '../../objects/kinds.ts'

/** Limit of the server: evaluations of a project that have not ended. */
export const RUNS_AT_ONCE_MAX = 10
/** Limits: objects of one kind that are suggested. */
const OBJECTS_MAX = 1000
/** Limit of the server: characters of a name. */
const NAME_MAX = 128
const SCOPES = ['traces:read', 'traces:write', 'inference']
/** Kinds of scorers without code. */
const SCORER_KINDS = ['rule', 'judge', 'webhook']

export type RunStatus = z.infer<typeof EvaluationStatusResponse>['status']

/** The scopes that the key lacks to run evaluations. */
export function missingScopes(): readonly string[] {
  return SCOPES.filter((scope) => !may(scope))
}

/** The newest versions of objects of one class. @param withContents - whether to read their contents */
export async function readObjects(
  project_id: string,
  base_object_class: string,
  withContents: boolean,
  signal: AbortSignal,
): Promise<readonly ObjectVersion[]> {
  const body = {
    project_id,
    filter: { latest_only: true, base_object_classes: [base_object_class] },
    metadata_only: !withContents,
    sort_by: [{ field: 'object_id', direction: 'asc' }],
    limit: OBJECTS_MAX,
  }
  return (await requestExact<{ objs: ObjectVersion[] }>('/objs/query', body, { signal })).objs
}

/** Whether the server can run a scorer: it holds no code. */
export function isRunnable({ val, leaf_object_class }: ObjectVersion): boolean {
  const { kind } = membersOf(val)
  return leaf_object_class === 'LLMAsAJudgeScorer' || SCORER_KINDS.includes(String(kind))
}

/**
 * Publishes an object of a class of the SDKs.
 *
 * @param classes - its own class and those above it, up to the first below `Object`
 * @returns its ref
 * @throws ApiFailure; Error for the name of an object of another kind, of which it would become the latest version
 */
export async function publishObject(
  project_id: string,
  name: string,
  [own, ...bases]: readonly string[],
  members: object,
): Promise<string> {
  const object_id = name.replace(/[^\p{L}\p{N}_.-]+/gu, '-').slice(0, NAME_MAX)
  const classes = { _type: own, _class_name: own, _bases: [...bases, 'Object', 'BaseModel'] }
  const val = { ...classes, name: object_id, description: null, ...members }
  const base = bases.at(-1) ?? own
  const filter = { object_ids: [object_id], latest_only: true }
  const asked = { project_id, filter, metadata_only: true }
  const { objs } = await requestJson<{ objs: ObjectVersion[] }>('/objs/query', asked)
  if (objs.some(({ base_object_class }) => base_object_class !== base))
    throw new Error(`${object_id} is the name of another object, not of a ${base}.`)
  const obj = { project_id, object_id, val }
  const { digest } = await requestJson<{ digest: string }>('/obj/create', { obj })
  return refOf({ project_id, object_id, digest, kind: 'object' } as ObjectVersion)
}

export interface Candidate {
  readonly prompt: ObjectVersion
  readonly model: string
}

interface Beginning {
  readonly project_id: string
  readonly evaluation_ref: string
  /** Parameters of the request to the model. */
  readonly params: object
}

/** Begins a run of one prompt with one model. @returns the id of the run @throws ApiFailure */
export async function beginRun(
  { project_id, evaluation_ref, params }: Beginning,
  { prompt, model }: Candidate,
): Promise<string> {
  const members = {
    llm_model_id: model,
    default_params: { prompt: refOf(prompt), ...params },
  }
  const classes = ['LLMStructuredCompletionModel', 'Model']
  const name = `${prompt.object_id}-${model}`
  const model_ref = await publishObject(project_id, name, classes, members)
  const body = { project_id, evaluation_ref, model_ref }
  return (await requestJson<{ call_id: string }>('/evaluations/evaluate_model', body)).call_id
}

/** @returns the id of the new run @throws ApiFailure */
export async function rescoreRun(
  project_id: string,
  source_evaluation_run_id: string,
  scorer_refs: readonly string[],
): Promise<string> {
  const body = { project_id, source_evaluation_run_id, scorer_refs }
  return (await requestJson<{ call_id: string }>('/evaluations/rescore', body)).call_id
}

export async function readStatus(
  project_id: string,
  call_id: string,
  signal: AbortSignal,
): Promise<RunStatus> {
  const body = { project_id, call_id }
  return (await requestJson<{ status: RunStatus }>('/evaluations/status', body, { signal })).status
}

/** @returns whether it was running */
export async function cancelRun(project_id: string, call_id: string): Promise<boolean> {
  const body = { project_id, call_id }
  return (await requestJson<{ cancelled: boolean }>('/evaluations/cancel', body)).cancelled
}
