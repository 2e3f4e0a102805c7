/** What the routes of evaluators share: their own evaluators, checks, published definitions, views. */
import type { FastifyRequest } from 'fastify'
import { type Principal, requireAccess } from '../../domain/access/permissions.ts'
import { resolveCallsSelection } from '../../domain/calls/calls-query.ts'
import { type Evaluator, renderEvaluator } from '../../domain/evaluators/evaluator.ts'
import { newObjectOf } from '../../domain/objects/object-kinds.ts'
import type { Clock } from '../../domain/time/clock.ts'
import { ApiError } from '../../errors.ts'
import { originOf } from '../../http/audit-origin.ts'
import type { Scorers } from '../../inference/scorers/scorers.ts'
import type { EvaluatorDefinition, EvaluatorPath } from '../../schemas/evaluators/evaluator.ts'
import type { EvaluatorEdit } from '../../store/api/evaluators/evaluators.ts'
import type { Stores } from '../../store/api/stores.ts'

export interface EvaluatorRoutesOptions
  extends Pick<Stores, 'evaluators' | 'objects' | 'callFeed'>,
    Pick<Clock, 'nowUs'> {
  readonly scorers: Pick<Scorers, 'requireUsable'>
  readonly refScheme: string
}

const CLASS = 'Evaluator'

/** Stores the fields of an edit; a resumed evaluator scores calls from now on. */
export async function storeEdit(
  edit: Omit<EvaluatorEdit, 'updated_at_us' | 'from_position'>,
  request: FastifyRequest,
  caller: Principal,
  options: EvaluatorRoutesOptions,
) {
  const { evaluators, callFeed, nowUs } = options
  const resumed = edit.state === 'active' ? { from_position: await callFeed.findEnd() } : {}
  const by = originOf(request, caller)
  const dated = { ...edit, ...resumed, updated_at_us: nowUs() }
  const stored = await evaluators.updateEvaluator(dated, by)
  if (stored === null) throw notFound()
  return view(stored, options)
}

/** @throws ApiError evaluator_not_found, also for one of another project */
export async function requireOwn(
  { evaluator_id }: EvaluatorPath,
  { project_id }: { readonly project_id: string },
  { evaluators }: Pick<EvaluatorRoutesOptions, 'evaluators'>,
): Promise<Evaluator> {
  const found = await evaluators.findEvaluator(evaluator_id)
  if (found === null || found.project_id !== project_id) throw notFound()
  return found
}

export function notFound(): ApiError {
  return new ApiError('evaluator_not_found', { param: 'evaluator_id' })
}

/**
 * Refuses to start a judge, which spends money, for a caller without the scope for that.
 *
 * @throws ApiError scope_missing, project_forbidden
 */
export function requireSpender(
  { scorer }: Pick<EvaluatorDefinition, 'scorer'>,
  project_id: string,
  caller: Principal,
): void {
  if (scorer.kind === 'judge') requireAccess(caller, 'inference', project_id)
}

/** Checks what a schema cannot. */
export async function requireUsable(
  definition: EvaluatorDefinition,
  project_id: string,
  caller: Principal,
  { scorers, refScheme }: EvaluatorRoutesOptions,
): Promise<void> {
  const { filter, query, scorer } = definition
  resolveCallsSelection({ project_id, filter, query }, { refScheme, projects: [project_id] })
  requireSpender(definition, project_id, caller)
  await scorers.requireUsable(scorer, { caller, project_id }, 'scorer')
}

/**
 * Publishes a definition as an object of the evaluator's name, which results refer to.
 *
 * @throws ApiError evaluator_conflict where an object of another kind has the name
 */
export async function publish(
  { project_id, name }: Pick<Evaluator, 'project_id' | 'name'>,
  definition: EvaluatorDefinition,
  { svc_user_id }: Principal,
  { objects, nowUs, refScheme }: EvaluatorRoutesOptions,
): Promise<string> {
  const known = await objects.findObject(project_id, name, 'latest', false)
  if (known !== null && known.deleted_at_us === null && known.leaf_object_class !== CLASS) {
    throw new ApiError('evaluator_conflict', { param: 'name' })
  }
  const val = {
    _type: CLASS,
    _class_name: CLASS,
    _bases: ['Object', 'BaseModel'],
    name,
    ...definition,
  }
  const named = { project_id, object_id: name, svc_user_id, created_at_us: nowUs() }
  const object = newObjectOf(val, named)
  await objects.createObject(object)
  return `${refScheme}:///${project_id}/object/${name}:${object.digest}`
}

export async function view(evaluator: Evaluator, { evaluators, nowUs }: EvaluatorRoutesOptions) {
  const now = nowUs()
  return renderEvaluator(evaluator, await evaluators.countWork(evaluator.id, now), now)
}
